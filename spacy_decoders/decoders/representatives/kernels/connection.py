"""Shortest paths through the centres of connected sets."""

from __future__ import annotations

import numpy as np

from ....jit import jit

__all__ = ["closest_through"]


@jit()
def closest_through(distances, to_centre, between):
    """Return min over i, j of to_centre[u, i] + between[i, j] + to_centre[v, j], or less.

    **Shapes:** (v, v), (v, k), (k, k), all int32; returns (v, v).
    """
    size, k = to_centre.shape
    from_centre = np.ascontiguousarray(to_centre.T)
    out = distances.copy()
    for u in range(size):
        row = out[u]
        for j in range(k):
            nearest = to_centre[u, 0] + between[0, j]
            for i in range(1, k):
                nearest = min(nearest, to_centre[u, i] + between[i, j])
            reach = np.int32(nearest)
            column = from_centre[j]
            for v in range(size):
                through = np.int32(reach + column[v])
                row[v] = through if through < row[v] else row[v]
        row[u] = 0
    return out
