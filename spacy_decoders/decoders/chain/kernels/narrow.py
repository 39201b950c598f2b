"""Up to 16 labels: messages over all of them in float64, a vector a token, from both ends.

So few labels fit registers, and to find out which of them matter would take longer than to take
them all. The labelling comes from messages from the left, the bound from messages from the right,
by functions that share nothing, so that one judges the other. Rows are 16 wide, padded with
``-inf``; row `size` of the transitions holds the start scores, that of their transpose the end
scores.
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
from .layout import LANES, UP64, all_valid, emissions16

__all__ = ["bounds", "decode"]


@jit(inline="always")
def passed_on(table, worth, at, size):
    """Return the best of ``worth[at + x] + table[x, y]`` over all x, for 16 labels y."""
    even, odd = fill16(-np.inf), fill16(-np.inf)
    x = np.int64(0)
    while x + 1 < size:  # two chains of maxima, so that neither waits for the other
        even = maximum(add(fill16(peek(worth, at + x)), widen(load16(table, x * LANES))), even)
        odd = maximum(
            add(fill16(peek(worth, at + x + 1)), widen(load16(table, (x + 1) * LANES))), odd
        )
        x += 2
    if x < size:
        even = maximum(add(fill16(peek(worth, at + x)), widen(load16(table, x * LANES))), even)
    return maximum(even, odd)


@jit(inline="always")
def best_of(worth, at, size):
    """Return the best of the first entries of a row, and the label it belongs to."""
    best, label = peek(worth, at), np.int64(0)
    for y in range(1, size):
        if peek(worth, at + y) > best:
            best, label = peek(worth, at + y), np.int64(y)
    return best, label


@uncounted()
def decode_all(
    transitions, transposed, end, emissions, offsets, size, labels, left, reached, worth
):
    """Do what `decode` says; return the number of sentences left, or -1 where one is not valid."""
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
                entry = passed_on(transitions, worth, at - LANES, size)
            here = add(entry, widen(emissions16(emissions, (begin + i) * size, 0, size)))
            if i == n - 1:
                here = add(here, widen(load16(end, 0)))
            store(reached, at, entry)
            store(worth, at, here)
        best, y = best_of(worth, (n - 1) * LANES, size)
        if not best > -np.inf:
            poke(left, lefts, s)
            lefts += 1
            continue
        for i in range(n - 1, -1, -1):
            poke(labels, begin + i, np.int32(y))
            if i:
                entries = add(load16(worth, (i - 1) * LANES), widen(load16(transposed, y * LANES)))
                # summed in the same order as then, so one of them is equal
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
    longest = 1
    for s in range(count):
        longest = max(longest, offsets[s + 1] - offsets[s])
    reached, worth = np.empty(longest * LANES), np.empty(longest * LANES)
    lefts = decode_all(
        transitions, transposed, end, emissions, offsets, size, labels, left, reached, worth
    )
    return labels, left[: max(lefts, 0)], lefts >= 0


@jit(inline="always")
def rounded_up(worth):
    """Return 16 sums, rounded up by more than the error of the last addition."""
    return maximum(multiply(worth, fill16(1.0 + UP64)), multiply(worth, fill16(1.0 - UP64)))


@uncounted()
def bound_all(transitions, transposed, emissions, offsets, size, worth, found):
    """Do what `bounds` says."""
    for s in range(len(offsets) - 1):
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        if n == 0:
            continue
        rest = widen(load16(transposed, size * LANES))
        for i in range(n - 1, -1, -1):
            own = widen(emissions16(emissions, (begin + i) * size, 0, size))
            if i == 0:
                own = rounded_up(add(own, widen(load16(transitions, size * LANES))))
            store(worth, 0, rounded_up(add(rest, own)))
            if i:
                rest = rounded_up(passed_on(transposed, worth, 0, size))
        best, _ = best_of(worth, 0, size)
        poke(found, s, best if best > -np.inf else np.inf)


@jit()
def bounds(transitions, transposed, emissions, offsets, size):
    """Return what no labelling of each sentence exceeds: **shape (sentences,)**, float64.

    Infinite where no labelling is legal.
    """
    found = np.zeros(len(offsets) - 1)
    bound_all(transitions, transposed, emissions, offsets, size, np.empty(LANES), found)
    return found
