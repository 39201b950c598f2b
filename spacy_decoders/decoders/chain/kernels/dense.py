"""Messages between all labels: for few labels, and if too many survive pruning.

The messages of up to 16 labels fit one vector, and pruning would take longer than computing them.
The labelling comes from messages from the left, the bound from messages from the right, by
functions that share only a single step, so that an error in one does not hide in the other. Sums
have the type of the array that they are written to: float32 takes half the time of float64. The
layout of arrays is that of :mod:`.layout`.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    as_of,
    at_least,
    fill16,
    first_lane,
    largest,
    load16,
    maximum,
    multiply,
    peek,
    poke,
    store,
    subtract,
)
from .layout import FORBIDDEN, LANES, UP64, emissions16, longest_of

__all__ = ["bounds", "decode", "pass_on"]


@jit(inline="always")
def passed_on(table, value, at, size, stride, vector):
    """Return the maximum over x of ``value[at + x] + table[x, y]``, for 16 labels y."""
    even = odd = as_of(value, fill16(FORBIDDEN))
    place = vector
    for x in range(0, size - 1, 2):  # two independent chains, for instruction-level parallelism
        first, second = load16(table, place), load16(table, place + stride)
        even = maximum(add(fill16(peek(value, at + x)), as_of(value, first)), even)
        odd = maximum(add(fill16(peek(value, at + x + 1)), as_of(value, second)), odd)
        place += 2 * stride
    if size % 2:
        last = as_of(value, load16(table, place))
        even = maximum(add(fill16(peek(value, at + size - 1)), last), even)
    return maximum(even, odd)


@uncounted()
def pass_on(table, value, size, stride, reached):
    """Set ``reached[y]`` to the maximum over x of ``value[x] + table[x, y]``."""
    for vector in range(0, stride, LANES):
        store(reached, vector, passed_on(table, value, 0, size, stride, vector))


@jit(inline="always")
def best_of(value, at, size):
    """Return the maximum of the `size` entries of a row, and its label."""
    best, label = peek(value, at), np.int64(0)
    for y in range(1, size):
        if peek(value, at + y) > best:
            best, label = peek(value, at + y), np.int64(y)
    return best, label


@uncounted()
def decode_one(transitions, transposed, end, emissions, begin, n, size, labels, reached, value):
    """Decode one sentence; return -1, or the token where all prefixes end if none is legal."""
    stride = len(end)
    for i in range(n):
        at = i * stride
        peak = as_of(value, fill16(FORBIDDEN))
        for vector in range(0, stride, LANES):
            if i == 0:
                entry = as_of(value, load16(transitions, size * stride + vector))
            else:
                entry = passed_on(transitions, value, at - stride, size, stride, vector)
            own = emissions16(emissions, (begin + i) * size, vector, size)
            here = add(entry, as_of(value, own))
            if i == n - 1:
                here = add(here, as_of(value, load16(end, vector)))
            store(reached, at + vector, entry)
            store(value, at + vector, here)
            peak = maximum(here, peak)
        if value.itemsize == 4:  # relative to the best of each token, so that sums do not grow
            top = largest(peak)
            if not (-np.inf < top < np.inf):
                return i
            for vector in range(at, at + stride, LANES):
                store(value, vector, subtract(load16(value, vector), fill16(top)))
    best, y = best_of(value, (n - 1) * stride, size)
    if not best > -np.inf:
        i = 0
        while best_of(value, i * stride, size)[0] > -np.inf:
            i += 1
        return i
    for i in range(n - 1, 0, -1):
        poke(labels, begin + i, np.int32(y))
        most, before = peek(reached, i * stride + y), (i - 1) * stride
        for vector in range(0, stride, LANES):
            entries = load16(value, before + vector)
            entries = add(entries, as_of(value, load16(transposed, y * stride + vector)))
            # summed in the same order as before, so that one of them is equal to `most`
            bits = at_least(entries, fill16(most))
            if bits:
                y = vector + first_lane(bits)
                break
    poke(labels, begin, np.int32(y))
    return -1


@jit()
def decode(transitions, transposed, end, emissions, offsets, size, chosen, precision, labels):
    """Write the best labelling of some sentences to `labels`: **shape (total,)**, int32.

    Sums have the type of the array `precision`; in float32, rounding errors may make a labelling
    second best. Returns the first sentence without a legal labelling, and the token where all its
    prefixes end; -1 for both if all have one.
    """
    room = longest_of(offsets) * len(end)
    reached, value = np.empty(room, precision.dtype), np.empty(room, precision.dtype)
    for s in chosen:
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n:
            token = decode_one(
                transitions, transposed, end, emissions, begin, n, size, labels, reached, value
            )
            if token >= 0:
                return s, token
    return -1, -1


@jit(inline="always")
def rounded_up(value):
    """Round 16 sums up by more than the error of the last addition."""
    return maximum(multiply(value, fill16(1.0 + UP64)), multiply(value, fill16(1.0 - UP64)))


@uncounted()
def bound_one(transitions, transposed, emissions, begin, n, size, stride, rest, value):
    """Return an upper bound on all labellings of one sentence."""
    for vector in range(0, stride, LANES):
        store(rest, vector, as_of(rest, load16(transposed, size * stride + vector)))
    for i in range(n - 1, -1, -1):
        for vector in range(0, stride, LANES):
            own = as_of(rest, emissions16(emissions, (begin + i) * size, vector, size))
            if i == 0:
                entry = as_of(rest, load16(transitions, size * stride + vector))
                own = rounded_up(add(own, entry))
            store(value, vector, rounded_up(add(load16(rest, vector), own)))
        if i:
            for vector in range(0, stride, LANES):
                message = passed_on(transposed, value, 0, size, stride, vector)
                store(rest, vector, rounded_up(message))
    return best_of(value, 0, size)[0]


@jit()
def bounds(transitions, transposed, emissions, offsets, size, stride, chosen, found):
    """Write upper bounds on all labellings of some sentences to `found`: **shape (sentences,)**.

    Infinite if no labelling is legal.
    """
    rest, value = np.empty(stride), np.empty(stride)
    for s in chosen:
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        best = 0.0
        if n:
            best = bound_one(
                transitions, transposed, emissions, begin, n, size, stride, rest, value
            )
        found[s] = best if best > -np.inf else np.inf
