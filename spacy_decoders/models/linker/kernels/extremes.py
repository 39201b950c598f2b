"""The most and the least that candidates gain by those of each group."""

from __future__ import annotations

from ....jit import jit

__all__ = ["extremes_by_group", "most_beside_rivals"]


@jit()
def extremes_by_group(near, offsets, most, least):
    """Fill **shapes** ``(n, groups)`` with the extremes of each row of `near` in each group."""
    for i in range(near.shape[0]):
        for g in range(offsets.size - 1):
            high = low = near[i, offsets[g]]
            for j in range(offsets[g] + 1, offsets[g + 1]):
                value = near[i, j]
                high = value if value > high else high
                low = value if value < low else low
            most[i, g] = high
            least[i, g] = low


@jit()
def most_beside_rivals(near, rows, rivals, offsets, most):
    """Fill **shape** ``(rows, groups)`` with the most a row of `near` is above its rival's."""
    for k in range(rows.size):
        i, rival = rows[k], rivals[k]
        for g in range(offsets.size - 1):
            high = near[i, offsets[g]] - near[rival, offsets[g]]
            for j in range(offsets[g] + 1, offsets[g + 1]):
                value = near[i, j] - near[rival, j]
                high = value if value > high else high
            most[k, g] = high
