"""Distances through a hub: sums of two entries of the hub table."""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = ["far_pairs", "hub_bounds", "made_symmetric", "widened"]


@jit()
def hub_bounds(rows, columns, symmetric, out):
    """out[u, v] = least rows[u, h] + columns[v, h] over the hubs h.

    **Shapes:** (a, hubs), (b, hubs), (a, b), all uint8; entries of at most 127 keep the
    sums in range. If `symmetric`, rows and columns are the same.
    """
    hubs = rows.shape[1]
    for u in range(len(rows)):
        of_row = rows[u]
        for v in range(u if symmetric else 0, len(columns)):
            of_column = columns[v]
            least = np.uint8(255)
            for h in range(hubs):
                through = np.uint8(of_row[h] + of_column[h])
                least = through if through < least else least
            out[u, v] = least
    if symmetric:
        for u in range(len(rows)):
            for v in range(u):
                out[u, v] = out[v, u]


@jit()
def far_pairs(bounds, beyond, below, symmetric):
    """Return the rows and columns of all entries between two limits, exclusively.

    If `symmetric`, of each pair the one above the diagonal.
    """
    count = 0
    for step in range(2):
        if step == 1:
            rows = np.empty(count, np.int64)
            columns = np.empty(count, np.int64)
            count = 0
        for u in range(bounds.shape[0]):
            for v in range(u + 1 if symmetric else 0, bounds.shape[1]):
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


@jit()
def widened(values, rows, columns, limit):
    """Return the entries at some rows and columns as int32, those from `limit` on as -1."""
    out = np.empty((len(rows), len(columns)), np.int32)
    for u in range(len(rows)):
        row = values[rows[u]]
        for v in range(len(columns)):
            value = row[columns[v]]
            out[u, v] = value if value < limit else -1
    return out
