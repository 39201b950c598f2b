"""Dynamic programming over the labels that survive at each token, over flat arrays.

Which labels do, one of two rules says: those that the bounds of equation 14 leave over, or
the best few. Rows are `stride` wide, padded with ``-inf``; row `size` of the transitions
holds the start scores, so that the first token is entered from the one survivor `size`.
"""

import numpy as np

from ....jit import jit
from ....simd import (
    add,
    at_least,
    fill16,
    first_lane,
    largest,
    load16,
    maximum,
    store,
)
from .layout import FORBIDDEN, LANES, emissions16

__all__ = ["decode"]

UNIT32 = 2.0**-24


@jit()
def decode(
    transitions, end, most_in, least_in, most_out, least_out, magnitude, emissions,
    offsets, size, width,
):  # fmt: skip
    """Decode a batch, keeping the best `width` labels, or by equation 14 if it is 0.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    dead
        Whether a sentence has a dead end; those after it are not decoded.
    """
    stride = len(end)
    labels = np.zeros(offsets[-1], np.int32)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    # the survivors of token i are marks[i + 1]:marks[i + 2] of the two lists
    most = min(width, size) if width else size
    marks = np.zeros(longest + 2, np.int64)
    kept = np.empty(min(longest, 64) * most + most + 1, np.int32)
    scores = np.empty(len(kept), np.float32)
    running = np.empty(stride, np.float32)
    local = np.empty(stride, np.float32)
    kept[0] = size
    scores[0] = 0.0
    marks[1] = 1
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        used = 1
        for i in range(n):
            row = (begin + i) * size
            peak = fill16(FORBIDDEN)
            floor = fill16(FORBIDDEN)
            for block in range(0, stride, LANES):
                worth = emissions16(emissions, row, block, size)
                best = fill16(FORBIDDEN)
                for k in range(marks[i], marks[i + 1]):
                    step = load16(transitions, np.int64(kept[k]) * stride + block)
                    best = maximum(add(fill16(scores[k]), step), best)
                best = add(best, worth)
                if i == n - 1:
                    best = add(best, load16(end, block))
                store(running, block, best)
                peak = maximum(best, peak)
                if not width:
                    # equation 14: what a label is worth at least and at most, whatever
                    # stands beside it
                    before = fill16(np.float32(0))
                    after = fill16(np.float32(0))
                    if i == 0:
                        before = load16(transitions, size * stride + block)
                    if i == n - 1:
                        after = load16(end, block)
                    least = add(worth, before if i == 0 else load16(least_in, block))
                    least = add(least, after if i == n - 1 else load16(least_out, block))
                    floor = maximum(least, floor)
                    hope = add(worth, before if i == 0 else load16(most_in, block))
                    hope = add(hope, after if i == n - 1 else load16(most_out, block))
                    store(local, block, hope)
            top = largest(peak)
            if not (FORBIDDEN < top < np.inf):
                return labels, True
            if used + most > len(kept):
                kept = grown(kept, used)
                scores = grown(scores, used)
            if width:
                stop = keep_best(running, top, kept, scores, used, most, stride)
            else:
                stop = keep_hopeful(
                    local, largest(floor), running, top, kept, scores, used, magnitude, stride
                )
            used = stop
            marks[i + 2] = used
        trace(transitions, stride, marks, kept, scores, labels, begin, n)
    return labels, False


@jit()
def grown(array, used):
    bigger = np.empty(2 * len(array), array.dtype)
    bigger[:used] = array[:used]
    return bigger


@jit()
def keep_best(running, top, kept, scores, used, most, stride):
    """Append the best labels, best first; return where the list then ends."""
    best = top
    for _ in range(most):
        x = np.int64(0)
        for block in range(0, stride, LANES):
            bits = at_least(load16(running, block), fill16(best))
            if bits:
                x = block + first_lane(bits)
                break
        kept[used] = x
        scores[used] = best - top
        used += 1
        running[x] = FORBIDDEN
        peak = fill16(FORBIDDEN)
        for block in range(0, stride, LANES):
            peak = maximum(load16(running, block), peak)
        best = largest(peak)
        if best == FORBIDDEN:
            break
    return used


@jit()
def keep_hopeful(local, floor, running, top, kept, scores, used, magnitude, stride):
    """Append the labels whose bound is not below that of the surest label."""
    bar = fill16(FORBIDDEN)
    if floor > FORBIDDEN:
        doubt = 16.0 * UNIT32 * (abs(np.float64(floor)) + 4.0 * magnitude)
        bar = fill16(np.float32(np.float64(floor) - doubt))
    for block in range(0, stride, LANES):
        bits = at_least(load16(local, block), bar)
        while bits:
            x = block + first_lane(bits)
            bits &= bits - 1
            if running[x] > FORBIDDEN:
                kept[used] = x
                scores[used] = running[x] - top
                used += 1
    return used


@jit()
def trace(transitions, stride, marks, kept, scores, labels, begin, n):
    """Write the best path through the survivors."""
    best = FORBIDDEN
    y = np.int64(0)
    for k in range(marks[n], marks[n + 1]):
        if scores[k] > best:
            best, y = scores[k], np.int64(kept[k])
    labels[begin + n - 1] = y
    for i in range(n - 1, 0, -1):
        best = FORBIDDEN
        origin = np.int64(0)
        for k in range(marks[i], marks[i + 1]):
            x = np.int64(kept[k])
            reached = scores[k] + transitions[x * stride + y]
            if reached > best:
                best, origin = reached, x
        y = origin
        labels[begin + i - 1] = y
