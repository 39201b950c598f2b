"""Forward dominance over flat arrays.

All rows are `stride` wide, a multiple of 16, padded with ``-inf``. The transitions have one
row more than there are labels: row `size` holds the start scores, so that the first token is
like any other, entered from the one survivor `size`.
"""

import numpy as np

from ....jit import jit
from .vectors import (
    LANES,
    add,
    any_lane,
    at_least,
    either,
    fill,
    first_lane,
    largest,
    load,
    load_part,
    maximum,
    nowhere,
    publish,
    published,
    store,
    subtract,
    unsound,
)

__all__ = ["decode"]

UNIT32 = 2.0**-24
FORBIDDEN = np.float32(-np.inf)
WORD = 4 * LANES  # labels whose comparisons fit one 64-bit word


@jit(inline="always")
def emission(emissions, row, block, size):
    if block + LANES <= size:
        return load(emissions, row + block)
    return load_part(emissions, row + block, size - block)


@jit()
def fill_row(transitions, table, g, size, stride):
    """Fill in D[g, x] = max over y of (T[x, y] - T[g, y]), rounded upwards.

    Where g forbids y and x does not, the difference is inf; where both do, it is NaN, which
    `maximum` passes over.
    """
    for x in range(size):
        best = fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            gain = subtract(
                load(transitions, x * stride + block), load(transitions, g * stride + block)
            )
            best = maximum(gain, best)
        bound = np.float64(largest(best))
        if abs(bound) < np.inf:
            bound += abs(bound) * 2.0**-22
        table[g * stride + x] = bound
    for x in range(size, stride):
        table[g * stride + x] = -np.inf


@jit()
def grown(array, used):
    bigger = np.empty(2 * len(array), array.dtype)
    bigger[:used] = array[:used]
    return bigger


@jit()
def decode(transitions, end, table, ready, magnitude, emissions, offsets, size):
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    slacks
        **Shape (sentences,)**: what rounding may have cost.
    sound
        Whether all emissions met are neither NaN nor ``+inf``.
    sentence, token
        Where the first dead end is; -1 without one.
    """
    stride = len(end)
    labels = np.zeros(offsets[-1], np.int32)
    slacks = np.zeros(len(offsets) - 1)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    # the survivors of token i are marks[i + 1]:marks[i + 2] of the two lists
    marks = np.zeros(longest + 2, np.int64)
    kept = np.empty(4 * longest + 2 * size + 2, np.int32)
    scores = np.empty(4 * longest + 2 * size + 2, np.float32)
    running = np.empty(stride, np.float32)
    kept[0] = size
    scores[0] = 0.0
    marks[1] = 1
    bad = nowhere()
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        used = 1
        total = 0.0
        low = np.float32(0)
        for i in range(n):
            row = (begin + i) * size
            first, past = marks[i], marks[i + 1]
            peak = fill(FORBIDDEN)
            for block in range(0, stride, LANES):
                best = fill(FORBIDDEN)
                for k in range(first, past):
                    reached = add(
                        fill(scores[k]), load(transitions, np.int64(kept[k]) * stride + block)
                    )
                    best = maximum(reached, best)
                worth = emission(emissions, row, block, size)
                bad = either(bad, unsound(worth))
                best = add(best, worth)
                if i == n - 1:
                    best = add(best, load(end, block))
                store(running, block, best)
                peak = maximum(best, peak)
            top = largest(peak)
            if not (FORBIDDEN < top < np.inf):
                return labels, slacks, not any_lane(bad), s, i
            g = pivot(running, top, stride)
            # every running score that counts lies between top + low and top
            total += abs(np.float64(top)) - np.float64(low) + magnitude
            if i == n - 1:
                labels[begin + i] = g
                total += magnitude
                break
            if not published(ready, g):
                fill_row(transitions, table, g, size, stride)
                publish(ready, g)
            if used + size > len(kept):
                kept = grown(kept, used)
                scores = grown(scores, used)
            low = np.float32(0)
            for word in range(0, stride, WORD):
                bits = np.int64(0)
                for block in range(word, min(word + WORD, stride), LANES):
                    hope = add(load(running, block), load(table, g * stride + block))
                    bits |= at_least(hope, fill(top)) << (block - word)
                while bits:
                    x = word + first_lane(bits)
                    bits &= bits - 1
                    kept[used] = x
                    scores[used] = running[x] - top
                    low = min(low, scores[used])
                    used += 1
            marks[i + 2] = used
            total -= 2.0 * np.float64(low)
        slacks[s] = 2.0 * UNIT32 * total * (1.0 + 1e-5)
        y = np.int64(labels[begin + n - 1])
        for i in range(n - 1, 0, -1):
            most = FORBIDDEN
            origin = np.int64(0)
            for k in range(marks[i], marks[i + 1]):
                x = np.int64(kept[k])
                reached = scores[k] + transitions[x * stride + y]
                if reached > most:
                    most = reached
                    origin = x
            y = origin
            labels[begin + i - 1] = y
    return labels, slacks, not any_lane(bad), -1, -1


@jit(inline="always")
def pivot(running, top, stride):
    """Return the first label with the score `top`."""
    for word in range(0, stride, WORD):
        bits = np.int64(0)
        for block in range(word, min(word + WORD, stride), LANES):
            bits |= at_least(load(running, block), fill(top)) << (block - word)
        if bits:
            return word + first_lane(bits)
    return np.int64(-1)
