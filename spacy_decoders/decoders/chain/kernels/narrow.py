"""Up to 16 labels: messages over all of them in float64, one vector per token.

So few labels fit registers, and pruning would take longer than computing all of them. The
labelling comes from messages from the left, the bound from messages from the right, by functions
that share no code, so that neither can hide an error of the other. Arrays are laid out as
:mod:`.layout` says, in rows of 16.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    fill16,
    first_lane,
    load16,
    maximum,
    multiply,
    peek,
    poke,
    store,
    widen,
)
from .layout import LANES, UP64, all_valid, emissions16, longest_of

__all__ = ["bounds", "decode"]


@jit(inline="always")
def passed_on(table, value, at, size):
    """Return the best of ``value[at + x] + table[x, y]`` over all x, for 16 labels y."""
    even, odd = fill16(-np.inf), fill16(-np.inf)
    x = np.int64(0)
    while x + 1 < size:  # two independent chains of maxima, for instruction-level parallelism
        even = maximum(add(fill16(peek(value, at + x)), widen(load16(table, x * LANES))), even)
        odd = maximum(
            add(fill16(peek(value, at + x + 1)), widen(load16(table, (x + 1) * LANES))), odd
        )
        x += 2
    if x < size:
        even = maximum(add(fill16(peek(value, at + x)), widen(load16(table, x * LANES))), even)
    return maximum(even, odd)


@jit(inline="always")
def best_of(value, at, size):
    """Return the maximum of the first entries of a row, and its label."""
    best, label = peek(value, at), np.int64(0)
    for y in range(1, size):
        if peek(value, at + y) > best:
            best, label = peek(value, at + y), np.int64(y)
    return best, label


@uncounted()
def decode_all(
    transitions, transposed, end, emissions, offsets, size, labels, left, reached, value
):
    """Decode all sentences; return the number of those left, or -1 if one is not valid."""
    lefts = np.int64(0)
    for s in range(len(offsets) - 1):
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        if n == 0:
            continue
        if not all_valid(emissions, begin * size, (begin + n) * size):
            return np.int64(-1)
        for i in range(n):
            at = i * LANES
            if i == 0:
                entry = widen(load16(transitions, size * LANES))
            else:
                entry = passed_on(transitions, value, at - LANES, size)
            here = add(entry, widen(emissions16(emissions, (begin + i) * size, 0, size)))
            if i == n - 1:
                here = add(here, widen(load16(end, 0)))
            store(reached, at, entry)
            store(value, at, here)
        best, y = best_of(value, (n - 1) * LANES, size)
        if not best > -np.inf:
            poke(left, lefts, s)
            lefts += 1
            continue
        for i in range(n - 1, -1, -1):
            poke(labels, begin + i, np.int32(y))
            if i:
                entries = add(load16(value, (i - 1) * LANES), widen(load16(transposed, y * LANES)))
                # summed in the same order as before, so that one of them is equal
                y = first_lane(at_least(entries, fill16(peek(reached, i * LANES + y))))
    return lefts


@jit()
def decode(transitions, transposed, end, emissions, offsets, size):
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    left
        Sentences in which no legal labelling was found.
    valid
        Whether no emission is NaN, ``+inf``, or too large.
    """
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    left = np.zeros(count, np.int64)
    longest = max(longest_of(offsets), 1)
    reached, value = np.empty(longest * LANES), np.empty(longest * LANES)
    lefts = decode_all(
        transitions, transposed, end, emissions, offsets, size, labels, left, reached, value
    )
    return labels, left[: max(lefts, 0)], lefts >= 0


@jit(inline="always")
def rounded_up(value):
    """Return 16 sums, rounded up by more than the error of the last addition."""
    return maximum(multiply(value, fill16(1.0 + UP64)), multiply(value, fill16(1.0 - UP64)))


@uncounted()
def bound_all(transitions, transposed, emissions, offsets, size, value, found):
    """Bound all sentences."""
    for s in range(len(offsets) - 1):
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        if n == 0:
            continue
        rest = widen(load16(transposed, size * LANES))
        for i in range(n - 1, -1, -1):
            own = widen(emissions16(emissions, (begin + i) * size, 0, size))
            if i == 0:
                own = rounded_up(add(own, widen(load16(transitions, size * LANES))))
            store(value, 0, rounded_up(add(rest, own)))
            if i:
                rest = rounded_up(passed_on(transposed, value, 0, size))
        best, _ = best_of(value, 0, size)
        poke(found, s, best if best > -np.inf else np.inf)


@jit()
def bounds(transitions, transposed, emissions, offsets, size):
    """Return upper bounds on the labellings of each sentence: **shape (sentences,)**, float64.

    Infinite where no labelling is legal.
    """
    found = np.zeros(len(offsets) - 1)
    bound_all(transitions, transposed, emissions, offsets, size, np.empty(LANES), found)
    return found
