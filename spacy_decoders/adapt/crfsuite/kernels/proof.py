"""What no labelling exceeds: apart from the search, from right to left."""

import numpy as np

from ....jit import jit, uncounted
from ....simd import add, fill16, load16, maximum, peek, store

__all__ = ["bounds"]


@uncounted()
def _step_back(transposed, worth, before):
    """Bound what follows each label, by the worth of the labels after it and all that follows."""
    count, size = transposed.shape
    for x in range(0, size, 16):
        most = fill16(-np.inf)
        for y in range(count):
            joined = add(load16(transposed, y * size + x), fill16(peek(worth, y)))
            most = maximum(joined, most)
        store(before, x, most)


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
