"""The best labels of trees, from the roots on."""

import numpy as np

from .....jit import jit

__all__ = ["best_from_roots"]


@jit()
def best_from_roots(transitions, inside, parents, order):
    """Return the best label of each node beside that of its parent; -1 where none is legal.

    **Shapes:** transitions (L, L); inside float64 (n, L), the scores of what is below each node
    and label; parents (n,), -1 for a root; order (n,), every node after its parent.
    """
    labels = np.full(len(order), -1, np.int32)
    for node in order:
        above = -1 if parents[node] < 0 else labels[parents[node]]
        best = -np.inf
        for y in range(len(transitions)):
            link = np.float64(transitions[above, y]) if parents[node] >= 0 else 0.0
            if link + inside[node, y] > best:
                best, labels[node] = link + inside[node, y], y
        if labels[node] < 0:
            break
    return labels
