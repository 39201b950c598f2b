"""What potentials prove of the choices of a box, looked up in the costs themselves.

Nothing is taken from the loops that found the potentials: every cost is summed anew.
``potentials[j, x]``, int64 of shape (k, n), of the pair costs between set j and the set of
candidate x are paid by x alone. Any potentials are valid.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit
from .layout import CEILING, LARGEST

__all__ = ["ReducedCosts", "reduced"]


class ReducedCosts(NamedTuple):
    """The costs of a box after what the potentials move."""

    paid: NDArray[np.int64]  # (m,), int64: what each candidate pays alone
    # what pairs of them then still cost, not negative, as of :class:`CostArrays`
    pairs: NDArray[Any]
    starts: NDArray[np.int64]
    constant: int  # what was taken off every block to give it a least cost of 0
    ends: NDArray[np.int64]  # as of the box


@jit()
def reduced(costs, box, potentials):
    """Return the :class:`ReducedCosts` of a box.

    A set with one candidate leaves nothing over: the others pay all of their pairs with it. What
    is too large is lowered, which is valid in a bound.

    **Shapes:** costs :class:`CostArrays` of integers, box :class:`Box`.
    """
    blocks, starts, offsets = costs.blocks, costs.starts, costs.offsets
    kept, ends = box.kept, box.ends
    k, size = len(offsets) - 1, len(kept)
    paid = np.empty(size, np.int64)
    new_starts = np.zeros((k, k), np.int64)
    total = largest = 0
    for i in range(k):
        for j in range(i + 1, k):
            new_starts[i, j] = total
            area = (ends[i + 1] - ends[i]) * (ends[j + 1] - ends[j])
            total += area
            largest = max(largest, area)
    pairs = np.empty(total, np.int64)
    block = np.empty(largest, np.int64)
    constant = np.int64(0)
    _add_potentials(costs.unary, box, potentials, paid)
    for i in range(k):
        for j in range(i + 1, k):
            width = offsets[j + 1] - offsets[j]
            rows, columns = ends[i + 1] - ends[i], ends[j + 1] - ends[j]
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
                pairs[new_starts[i, j] + p] = 0 if alone else left
                if alone:
                    paid[ends[j] + p if rows == 1 else ends[i] + p] += left
    return ReducedCosts(paid, pairs, new_starts, constant, ends)


@jit()
def _add_potentials(unary, box, potentials, paid):
    """Say in `paid`, int64 (m,), what each candidate pays alone; nothing within its own set."""
    kept, ends = box.kept, box.ends
    for i in range(len(ends) - 1):
        for p in range(ends[i], ends[i + 1]):
            x = kept[p]
            paid[p] = unary[x] - potentials[i, x]
            for j in range(len(ends) - 1):
                paid[p] += potentials[j, x]
