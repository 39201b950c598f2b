"""Dynamic programming in float32 over the best few labels of each token."""

import numpy as np

from .....jit import jit, uncounted
from .....simd import add, at_least, fill16, first_lane, largest, load16, maximum, store
from ...kernels.layout import FORBIDDEN, LANES, emissions16, longest_of

__all__ = ["decode"]


@jit()
def decode(transitions, end, emissions, offsets, size, width):
    """Decode a batch, keeping the best `width` labels that are not forbidden.

    Returns the labels, int32 **(total,)**, and whether a sentence has no legal labelling, at which
    decoding stops.
    """
    stride, places = len(end), longest_of(offsets) + 1
    labels = np.zeros(offsets[-1], np.int32)
    # the labels kept at each token, and their scores less the best; initially the label `size`
    # alone, whose transitions are the start scores
    names = np.full((places, width), size, np.int32)
    scores = np.zeros((places, width), np.float32)
    counts = np.ones(places, np.int64)
    reached = np.empty(stride, np.float32)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        for i in range(n):
            row, last = (begin + i) * size, i == n - 1
            top = reach_all(
                transitions, end, names, scores, counts[i], i, emissions, row, size, last, reached
            )
            if not (FORBIDDEN < top < np.inf):
                return labels, True
            best, count = top, 0
            for y in range(stride if width == size else 0):
                if reached[y] > FORBIDDEN:
                    names[i + 1, count], scores[i + 1, count] = y, reached[y] - top
                    count += 1
            while count < width < size and best > FORBIDDEN:  # best first
                y = first_of(reached, best)
                names[i + 1, count], scores[i + 1, count] = y, best - top
                count += 1
                reached[y] = FORBIDDEN
                best = best_of(reached)
            counts[i + 1] = count
        after = -1
        for i in range(n, 0, -1):
            best, origin = FORBIDDEN, np.int32(0)
            for k in range(counts[i]):
                score = scores[i, k]
                if after >= 0:
                    score += transitions[names[i, k] * stride + after]
                if score > best:
                    best, origin = score, names[i, k]
            after = origin
            labels[begin + i - 1] = after
    return labels, False


@uncounted(forceinline=True)
def reach_all(transitions, end, names, scores, count, i, emissions, row, size, last, reached):
    """Write the scores of all labels of token i to `reached`; return the best."""
    stride = len(end)
    peak = fill16(FORBIDDEN)
    for block in range(0, stride, LANES):
        best = fill16(FORBIDDEN)
        for k in range(count):
            step = load16(transitions, names[i, k] * stride + block)
            best = maximum(add(fill16(scores[i, k]), step), best)
        best = add(best, emissions16(emissions, row, block, size))
        if last:
            best = add(best, load16(end, block))
        store(reached, block, best)
        peak = maximum(best, peak)
    return largest(peak)


@uncounted()
def best_of(values):
    peak = fill16(FORBIDDEN)
    for block in range(0, len(values), LANES):
        peak = maximum(load16(values, block), peak)
    return largest(peak)


@uncounted()
def first_of(values, value):
    """Return the first label with this score."""
    for block in range(0, len(values), LANES):
        bits = at_least(load16(values, block), fill16(value))
        if bits:
            return block + first_lane(bits)
    return np.int64(0)
