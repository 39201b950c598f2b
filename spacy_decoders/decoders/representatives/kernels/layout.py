"""How the compiled loops see the costs of a problem, and a part of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "Box", "CostArrays", "pair_starts"]

#: More than any sum of integer costs.
LARGEST = 2**62


class CostArrays(NamedTuple):
    """Costs of candidates and of pairs of them; the candidates of all sets stand end to end.

    Attributes
    ----------
    unary
        What each candidate costs alone. **Shape:** (n,)
    blocks
        The pair costs: those of sets i < j are the row-major block of shape (n_i, n_j) that
        begins at ``starts[i, j]``. **Shape:** (pairs,), of the dtype of `unary`
    starts
        **Shape:** (k, k), int64, 0 where i >= j
    offsets
        Where the candidates of each set begin. **Shape:** (k + 1,), int64
    """

    unary: NDArray[Any]
    blocks: NDArray[Any]
    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]


class Box(NamedTuple):
    """Some candidates of each set.

    Attributes
    ----------
    kept
        Their positions, ascending. **Shape:** (m,), int64
    ends
        Those of set i are ``kept[ends[i]:ends[i + 1]]``. **Shape:** (k + 1,), int64
    """

    kept: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, keep: NDArray[np.bool_], offsets: NDArray[np.int64]) -> Box:
        """Return the box of the candidates marked in `keep`, **shape** (n,)."""
        kept = np.flatnonzero(keep)
        return cls(kept, np.searchsorted(kept, offsets))


def pair_starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """**Shape:** (k, k): where the blocks of sets i < j of these sizes begin, row by row."""
    numbers = np.arange(len(sizes))
    upper = numbers[:, None] < numbers
    areas = np.outer(sizes, sizes) * upper
    ends = np.cumsum(areas).reshape(areas.shape)
    starts: NDArray[np.int64] = (ends - areas) * upper
    return starts
