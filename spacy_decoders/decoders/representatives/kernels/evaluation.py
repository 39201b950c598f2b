"""What potentials prove of the choices of a box, looked up in the costs themselves.

Nothing is taken from the loops that found the potentials: every bound is summed anew.
``potentials[j, x]``, int64 of shape (k, n), of the pair costs between set j and the set of
candidate x are paid by x alone. Any potentials are valid.
"""

from __future__ import annotations

import numpy as np

from ....jit import jit
from .layout import LARGEST

__all__ = ["add_potentials", "evaluate"]


@jit()
def evaluate(costs, box, potentials):
    """Return what the choices of a box with each of its candidates cost at least.

    What the potentials leave of a pair of sets costs at least its least entry. A set with one
    candidate leaves nothing over: the others pay all of their pairs with it.

    **Shapes:** costs :class:`CostArrays` of integers, box :class:`Box`; returns int64 (m,).
    """
    blocks, starts, offsets = costs.blocks, costs.starts, costs.offsets
    kept, ends = box.kept, box.ends
    k = len(offsets) - 1
    paid = np.empty(len(kept), np.int64)
    bounds = np.empty(len(kept), np.int64)
    add_potentials(costs.unary, box, potentials, paid)
    total = np.int64(0)
    for i in range(k):
        alone = ends[i + 1] - ends[i] == 1
        for j in range(i + 1, k):
            width = offsets[j + 1] - offsets[j]
            both = alone or ends[j + 1] - ends[j] == 1
            whole = ends[j + 1] - ends[j] == width
            taken = potentials[i, offsets[j] : offsets[j + 1]]
            least = np.int64(LARGEST)
            for p in range(ends[i], ends[i + 1]):
                row = starts[i, j] + (kept[p] - offsets[i]) * width
                of_pair = blocks[row : row + width]
                given = potentials[j, kept[p]]
                of_row = np.int64(LARGEST)
                if both:
                    for q in range(ends[j], ends[j + 1]):
                        y = kept[q] - offsets[j]
                        paid[q if alone else p] += of_pair[y] - taken[y] - given
                elif whole:
                    for y in range(width):
                        left = np.int64(of_pair[y]) - taken[y]
                        of_row = left if left < of_row else of_row
                else:
                    for q in range(ends[j], ends[j + 1]):
                        y = kept[q] - offsets[j]
                        left = np.int64(of_pair[y]) - taken[y]
                        of_row = left if left < of_row else of_row
                least = min(least, of_row - given)
            if not both:
                total += least
    minima = np.empty(k, np.int64)
    for i in range(k):
        minima[i] = paid[ends[i] : ends[i + 1]].min()
        total += minima[i]
    for i in range(k):
        for p in range(ends[i], ends[i + 1]):
            bounds[p] = total - minima[i] + paid[p]
    return bounds


@jit()
def add_potentials(unary, box, potentials, paid):
    """Say in `paid`, int64 (m,), what each candidate pays alone; nothing within its own set."""
    kept, ends = box.kept, box.ends
    for i in range(len(ends) - 1):
        for p in range(ends[i], ends[i + 1]):
            x = kept[p]
            paid[p] = unary[x] - potentials[i, x]
            for j in range(len(ends) - 1):
                paid[p] += potentials[j, x]
