"""Maxima and sums along rows of float64, eight at a time.

Rows are given by an offset into a flat array; arrays may have any number of axes. A *padded*
length is a multiple of `LANES`. Nothing is checked: offsets must lie within the arrays.
"""

import numpy as np

from ....jit import internal
from ....simd import add, fill8, largest, load8, maximum, peek, poke, store

#: Numbers of a vector.
LANES = 8


# slice assignment in numba has an error message with the shapes, which takes seconds to compile


@internal()
def copy_all(out, x):
    """Copy all of one array to another, which must not be smaller."""
    for at in range(x.size):
        poke(out, at, peek(x, at))


@internal()
def fill_all(out, value):
    """Set all elements of an array."""
    for at in range(out.size):
        poke(out, at, value)


@internal(forceinline=True)
def raise_row(out, o, x, x0, shift, padded):
    """out[o + l] = max(out[o + l], x[x0 + l] + shift)."""
    for at in range(0, padded, LANES):
        raised = add(load8(x, x0 + at), fill8(shift))
        store(out, o + at, maximum(raised, load8(out, o + at)))


@internal(forceinline=True)
def highest_row_sum(x, x0, y, y0, padded):
    """Return the maximum over l of x[x0 + l] + y[y0 + l]."""
    best = fill8(-np.inf)
    for at in range(0, padded, LANES):
        best = maximum(add(load8(x, x0 + at), load8(y, y0 + at)), best)
    return largest(best)


@internal(forceinline=True)
def raise_row_to_sum(out, o, x, x0, y, y0, padded):
    """out[o + l] = max(out[o + l], x[x0 + l] + y[y0 + l])."""
    for at in range(0, padded, LANES):
        total = add(load8(x, x0 + at), load8(y, y0 + at))
        store(out, o + at, maximum(total, load8(out, o + at)))


@internal(forceinline=True)
def add_row(out, o, x, x0, padded):
    """out[o + l] += x[x0 + l]."""
    for at in range(0, padded, LANES):
        store(out, o + at, add(load8(out, o + at), load8(x, x0 + at)))


@internal(forceinline=True)
def highest_sums(out, o, x, x0, y, y0, stride, count):
    """out[o + l] = max over r < count of x[x0 + r stride + l] + y[y0 + r stride + l], l < stride.

    The stride is padded.
    """
    for at in range(0, stride, LANES):
        best = fill8(-np.inf)
        for r in range(count):
            place = at + r * stride
            best = maximum(add(load8(x, x0 + place), load8(y, y0 + place)), best)
        store(out, o + at, best)


@internal(forceinline=True)
def highest_of_rows(out, o, x, rows, shifts, count, least, padded):
    """out[o + l] = max(least, max over r < count of x[rows[r] + l] + shifts[r])."""
    lowest = fill8(least)
    for at in range(0, padded, LANES):
        best = lowest
        for r in range(count):
            shift = fill8(peek(shifts, r))
            best = maximum(add(load8(x, peek(rows, r) + at), shift), best)
        store(out, o + at, best)
