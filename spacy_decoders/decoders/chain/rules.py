"""The tables of forward dominance where transitions are forbidden."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels.layout import BLOCK, UP32, aligned
from .kernels.reference_path import ConstrainedTables
from .padded import Padded

__all__ = ["rules_of"]

#: The most groups of labels, and the least average size of a group.
GROUPS, MEMBERS = 64, 8

#: The floor and the margin, as shares of how much the best transition from a label exceeds the
#: usual one.
FLOOR, MARGIN = 1.5, 1.1


def rules_of(padded: Padded) -> ConstrainedTables:
    """Return the tables of forward dominance where transitions are forbidden."""
    size, stride = padded.size, len(padded.end)
    transitions = padded.transitions.reshape(-1, stride)[:size, :size]
    legal = transitions > -np.inf
    groups = _alike(legal.T)
    most = max(4, min(GROUPS, size // MEMBERS))
    count = int(groups.max()) + 1
    if count > most:
        groups = groups * most // count
        count = most
    kinds = _alike(legal)
    sets = legal[np.unique(kinds, return_index=True)[1]].astype(np.float32)
    best = transitions.max(axis=1, initial=-np.inf)
    lead = 0.0
    if legal.any():
        usual = np.median(transitions[legal])
        lead = max(0.0, float(best[best > -np.inf].mean(dtype=np.float64) - usual))
    return ConstrainedTables(
        padded.transitions,
        padded.end,
        aligned(size * stride),
        np.zeros(size, dtype=np.uint8),
        _rows(transitions, groups, count, best, stride),
        groups,
        _bits(legal),
        kinds,
        sets @ (1.0 - sets.T) == 0.0,
        -FLOOR * lead,
        np.float32(MARGIN * lead),
    )


def _rows(
    transitions: NDArray[np.float32],
    groups: NDArray[np.int64],
    count: int,
    best: NDArray[np.float32],
    stride: int,
) -> NDArray[np.float32]:
    size = len(transitions)
    flat: NDArray[np.float32] = aligned((size + count + 1) * stride)
    rows = flat.reshape(-1, stride)
    rows[:, size:] = -np.inf
    rows[:size, :size] = transitions.T
    order = np.argsort(groups, kind="stable")
    begins = np.searchsorted(groups[order], np.arange(count))
    rows[size:-1, :size] = np.maximum.reduceat(transitions[:, order], begins, axis=1).T
    rows[-1, :size] = best
    np.add(rows, np.abs(rows) * np.float32(UP32), out=rows, where=rows > -np.inf)
    return flat


def _bits(legal: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return rows of bits, 64 to an integer, filled up with ones."""
    size = len(legal)
    padded = np.ones((size, -(-size // BLOCK) * BLOCK), dtype=np.bool_)
    padded[:, :size] = legal
    return np.packbits(padded, axis=1, bitorder="little").reshape(-1).view(np.int64)


def _alike(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number rows so that equal ones have the same number, and similar ones similar numbers."""
    packed = np.packbits(rows, axis=1)
    return np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
