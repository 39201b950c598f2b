"""What labellings are worth, and what none exceeds: apart from the search, from right to left."""

import numpy as np

from ....jit import jit, uncounted

__all__ = ["bounds", "worth_of"]


@jit()
def worth_of(transitions, start, end, emissions, offsets, labels):
    """Return (score, sum of absolute terms) of each labelling: **shape (sequences, 2)**."""
    worth = np.zeros((len(offsets) - 1, 2))
    for s in range(len(offsets) - 1):
        score = scale = 0.0
        for i in range(offsets[s], offsets[s + 1]):
            y = labels[i]
            link = start[y] if i == offsets[s] else transitions[labels[i - 1], y]
            score += link + emissions[i, y]
            scale += abs(link) + abs(emissions[i, y])
            if i == offsets[s + 1] - 1:
                score += end[y]
                scale += abs(end[y])
        worth[s, 0] = score
        worth[s, 1] = scale
    return worth


@uncounted()
def _step_back(transposed, worth, before):
    """Bound what follows each label, by the worth of the labels after it and all that follows."""
    count, size = transposed.shape
    for x in range(size):
        before[x] = transposed[0, x] + worth[0]
    y = 1
    while y + 3 < count:
        # four rows at a time, and selections instead of branches: LLVM makes vectors of them
        a, b, c, d = worth[y], worth[y + 1], worth[y + 2], worth[y + 3]
        for x in range(size):
            first, second = transposed[y, x] + a, transposed[y + 1, x] + b
            third, fourth = transposed[y + 2, x] + c, transposed[y + 3, x] + d
            first = second if second > first else first
            third = fourth if fourth > third else third
            first = third if third > first else first
            before[x] = first if first > before[x] else before[x]
        y += 4
    while y < count:
        a = worth[y]
        for x in range(size):
            first = transposed[y, x] + a
            before[x] = first if first > before[x] else before[x]
        y += 1


@jit()
def bounds(transposed, start, end, emissions, offsets):
    """Return what no labelling of each sequence exceeds, but for rounding.

    Parameters
    ----------
    transposed
        **Shape (L, size)**, float64: the transitions, column by column.
    start, end, emissions, offsets
        As in :func:`~.search.search`.
    """
    count, size = transposed.shape
    found = np.zeros(len(offsets) - 1)
    rest, worth = np.empty(size), np.empty(size)
    for s in range(len(offsets) - 1):
        begin, stop = offsets[s], offsets[s + 1]
        if begin == stop:
            continue
        rest[:] = end
        for i in range(stop - 1, begin, -1):
            for y in range(size):
                worth[y] = emissions[i, y] + rest[y]
            _step_back(transposed, worth, rest)
        most = -np.inf
        for y in range(count):
            most = max(most, start[y] + emissions[begin, y] + rest[y])
        found[s] = most
    return found
