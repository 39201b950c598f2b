"""Distances through a hub: sums of two entries of the hub table."""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = ["far_pairs", "hub_bounds", "made_symmetric"]


@jit()
def hub_bounds(rows, out):
    """out[u, v] = least rows[u, h] + rows[v, h] over the hubs h.

    **Shapes:** (a, hubs), (a, a), both uint8; entries of at most 127 keep the sums in range.
    """
    for u in range(len(rows)):
        of_row = rows[u]
        for v in range(u, len(rows)):
            of_column = rows[v]
            least = np.uint8(255)
            for h in range(rows.shape[1]):
                through = np.uint8(of_row[h] + of_column[h])
                least = through if through < least else least
            out[u, v] = least
    for u in range(len(rows)):
        for v in range(u):
            out[u, v] = out[v, u]


@jit()
def far_pairs(bounds, beyond, below):
    """Return the rows and columns of the entries between two limits, exclusively.

    Of each pair the one above the diagonal.
    """
    count = 0
    for step in range(2):
        if step == 1:
            rows = np.empty(count, np.int64)
            columns = np.empty(count, np.int64)
            count = 0
        for u in range(bounds.shape[0]):
            for v in range(u + 1, bounds.shape[1]):
                if beyond < bounds[u, v] < below:
                    if step == 1:
                        rows[count] = u
                        columns[count] = v
                    count += 1
    return rows, columns


@jit()
def made_symmetric(values):
    """Lower each of two opposite entries to the lesser, in place."""
    side = 64  # tiles of this side stay in the cache
    size = len(values)
    for top in range(0, size, side):
        for left in range(top, size, side):
            for u in range(top, min(top + side, size)):
                for v in range(max(left, u + 1), min(left + side, size)):
                    least = min(values[u, v], values[v, u])
                    values[u, v] = least
                    values[v, u] = least
