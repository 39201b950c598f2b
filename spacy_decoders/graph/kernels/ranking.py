"""PageRank by power iteration."""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = ["page_rank"]


@jit()
def page_rank(indptr, indices, out_degree, damping, tolerance):
    """Return the stationary distribution of a random walk with restarts.

    The lists are of the vertices that lead to each. At vertices that lead nowhere the walk
    restarts.
    """
    size = len(indptr) - 1
    ranks = np.full(size, 1.0 / size)
    shares = np.empty(size)
    for _ in range(1000):
        stranded = 0.0
        for v in range(size):
            degree = out_degree[v]
            if degree:
                shares[v] = ranks[v] / degree
            else:
                shares[v] = 0.0
                stranded += ranks[v]
        base = (1.0 - damping + damping * stranded) / size
        change = 0.0
        for v in range(size):
            total = 0.0
            for e in range(indptr[v], indptr[v + 1]):
                total += shares[indices[e]]
            rank = base + damping * total
            change += abs(rank - ranks[v])
            ranks[v] = rank
        if change < tolerance:
            break
    return ranks
