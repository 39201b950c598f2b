"""The reduced costs of a box under given potentials, computed from the costs themselves.

Nothing is taken from the kernel that found the potentials, so they prove a bound whatever they
are. ``potentials[j, x]``, int64 of shape (k, n), is the part of the pair costs between set j and
the set of candidate x that x pays alone.
"""

import numpy as np

from ....jit import jit
from .layout import CEILING, LARGEST, CostArrays

__all__ = ["reduced"]


@jit()
def reduced(costs, box, potentials):
    """Return the reduced costs of a :class:`Box`, and the minima taken from its blocks, summed.

    Both costs are integer :class:`CostArrays`; the reduced pair costs are not negative.
    The pair costs with a set of one candidate move into the unary costs of the other set. Costs
    above `CEILING` are lowered to it, which keeps a lower bound valid.
    """
    blocks, starts, offsets = costs.blocks, costs.starts, costs.offsets
    kept, ends = box.kept, box.ends
    k, size = len(offsets) - 1, len(kept)
    paid = np.empty(size, np.int64)
    new_starts = np.zeros((k, k), np.int64)
    pairs = np.empty((ends[:-1] * (ends[1:] - ends[:-1])).sum(), np.int64)
    start = 0
    constant = np.int64(0)
    _add_potentials(costs.unary, box, potentials, paid)
    for j in range(1, k):  # the order in which the blocks lie
        for i in range(j):
            width = offsets[j + 1] - offsets[j]
            rows, columns = ends[i + 1] - ends[i], ends[j + 1] - ends[j]
            block = pairs[start : start + rows * columns]
            new_starts[i, j] = start
            start += len(block)
            least = np.int64(LARGEST)
            for p in range(rows):
                x = kept[ends[i] + p]
                row = starts[i, j] + (x - offsets[i]) * width - offsets[j]
                given = potentials[j, x]
                for q in range(columns):
                    y = kept[ends[j] + q]
                    left = blocks[row + y] - given - potentials[i, y]
                    block[p * columns + q] = left
                    least = left if left < least else least
            constant += least
            alone = rows == 1 or columns == 1
            for p in range(rows * columns):
                left = min(block[p] - least, CEILING)
                block[p] = 0 if alone else left
                if alone:
                    paid[ends[j] + p if rows == 1 else ends[i] + p] += left
    return CostArrays(paid, pairs, new_starts, ends), constant


@jit()
def _add_potentials(unary, box, potentials, paid):
    """Write to `paid`, int64 (m,), the unary costs plus the potentials towards other sets."""
    kept, ends = box.kept, box.ends
    for p in range(len(kept)):
        paid[p] = unary[kept[p]]
    for j in range(len(ends) - 1):
        for p in range(len(kept)):
            if p < ends[j] or p >= ends[j + 1]:
                paid[p] += potentials[j, kept[p]]
