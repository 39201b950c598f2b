"""Dynamic programming in float32 over the best few labels of each token.

The kept labels are in one growing list; those of token i are ``marks[i + 1]:marks[i + 2]``. The
first token is entered from the one label `size`, whose transitions are the start scores.
"""

from typing import Any, NamedTuple

import numpy as np

from .....jit import jit, uncounted
from .....simd import add, at_least, fill16, first_lane, largest, load16, maximum, store
from ...kernels.layout import FORBIDDEN, LANES, emissions16, longest_of

__all__ = ["decode"]


class Kept(NamedTuple):
    """The kept labels, their scores less the best, and the offsets of each token."""

    labels: Any
    scores: Any
    marks: Any


@jit()
def decode(transitions, end, emissions, offsets, size, width):
    """Decode a batch, keeping the best `width` labels that are not forbidden.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    dead
        Whether a sentence has no legal labelling; later ones are not decoded.
    """
    stride = len(end)
    labels = np.zeros(offsets[-1], np.int32)
    longest = longest_of(offsets)
    most = min(width, size)
    capacity = min(longest, 64) * most + most + 1
    kept = Kept(
        np.empty(capacity, np.int64),
        np.empty(capacity, np.float32),
        np.zeros(longest + 2, np.int64),
    )
    kept.labels[0], kept.scores[0], kept.marks[1] = size, 0.0, 1
    running = np.empty(stride, np.float32)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        for i in range(n):
            row, last = (begin + i) * size, i == n - 1
            top = reach_all(transitions, end, kept, emissions, row, size, i, last, running)
            if not (FORBIDDEN < top < np.inf):
                return labels, True
            if kept.marks[i + 1] + most > len(kept.labels):
                kept = with_more_room(kept, kept.marks[i + 1])
            if most < size:
                keep_best(running, top, kept, i, most)
            else:
                keep_all(running, top, kept, i)
        if n:
            trace(transitions, stride, kept, labels, begin, n)
    return labels, False


@jit()
def with_more_room(kept, used):
    labels = np.empty(2 * len(kept.labels), np.int64)
    scores = np.empty(2 * len(kept.labels), np.float32)
    labels[:used], scores[:used] = kept.labels[:used], kept.scores[:used]
    return Kept(labels, scores, kept.marks)


@uncounted(forceinline=True)
def reach_all(transitions, end, kept, emissions, row, size, i, last, running):
    """Write the scores of all labels of token i to `running`; return the best."""
    stride = len(end)
    peak = fill16(FORBIDDEN)
    for block in range(0, stride, LANES):
        best = fill16(FORBIDDEN)
        for k in range(kept.marks[i], kept.marks[i + 1]):
            step = load16(transitions, kept.labels[k] * stride + block)
            best = maximum(add(fill16(kept.scores[k]), step), best)
        best = add(best, emissions16(emissions, row, block, size))
        if last:
            best = add(best, load16(end, block))
        store(running, block, best)
        peak = maximum(best, peak)
    return largest(peak)


@uncounted()
def keep_all(running, top, kept, i):
    """Keep the labels of token i that are not forbidden."""
    used = kept.marks[i + 1]
    for x in range(len(running)):
        if running[x] > FORBIDDEN:
            kept.labels[used], kept.scores[used] = x, running[x] - top
            used += 1
    kept.marks[i + 2] = used


@uncounted()
def keep_best(running, top, kept, i, most):
    """Keep the best labels of token i, best first."""
    used, best = kept.marks[i + 1], top
    while best > FORBIDDEN and used < kept.marks[i + 1] + most:
        x = first_of(running, best)
        kept.labels[used], kept.scores[used] = x, best - top
        used += 1
        running[x] = FORBIDDEN
        peak = fill16(FORBIDDEN)
        for block in range(0, len(running), LANES):
            peak = maximum(load16(running, block), peak)
        best = largest(peak)
    kept.marks[i + 2] = used


@uncounted()
def first_of(running, value):
    """Return the first label with this score."""
    for block in range(0, len(running), LANES):
        bits = at_least(load16(running, block), fill16(value))
        if bits:
            return block + first_lane(bits)
    return np.int64(0)


@uncounted()
def trace(transitions, stride, kept, labels, begin, n):
    """Write the best path through the labels that are kept."""
    y = np.int64(-1)
    for i in range(n - 1, -1, -1):
        best, origin = FORBIDDEN, np.int64(0)
        for k in range(kept.marks[i + 1], kept.marks[i + 2]):
            x = kept.labels[k]
            reached = kept.scores[k]
            if y >= 0:
                reached += transitions[x * stride + y]
            if reached > best:
                best, origin = reached, x
        y = origin
        labels[begin + i] = y
