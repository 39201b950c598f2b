"""The costs of a problem, and a part of it, as the kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CEILING", "LARGEST", "Box", "CostArrays", "pair_starts"]

#: More than any sum of integer costs.
LARGEST = 2**62
#: Larger costs are lowered to this, to avoid overflow: it exceeds any cutoff.
CEILING = 2**60


class CostArrays(NamedTuple):
    """Costs of candidates and of pairs of them; the candidates of all sets are concatenated."""

    unary: NDArray[Any]  # (n,): the cost of each candidate by itself
    # (pairs,), of the dtype of `unary`: the pair costs of sets i < j are the row-major block of
    # shape (n_i, n_j) that begins at `starts[i, j]`; those of a set j follow each other, so that
    # they are one array of shape (offsets[j], n_j)
    blocks: NDArray[Any]
    starts: NDArray[np.int64]  # (k, k), int64, 0 where i >= j
    offsets: NDArray[np.int64]  # (k + 1,), int64: where the candidates of each set begin

    @property
    def size(self) -> int:
        """The number of sets."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """**Shape:** (k,): how many candidates each set has."""
        return np.diff(self.offsets)


class Box(NamedTuple):
    """A part of a problem: some candidates of each set."""

    kept: NDArray[np.int64]  # (m,), int64: their positions, ascending
    ends: NDArray[np.int64]  # (k + 1,), int64: those of set i are `kept[ends[i]:ends[i + 1]]`

    @classmethod
    def of(cls, keep: NDArray[np.bool_], offsets: NDArray[np.int64]) -> Box:
        """Return the box of the candidates marked in `keep`, **shape** (n,)."""
        kept = np.flatnonzero(keep)
        return cls(kept, np.searchsorted(kept, offsets))


def pair_starts(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """**Shape:** (k, k): where the block of sets i < j begins, for sets with these offsets."""
    sizes = np.diff(offsets)
    areas = offsets[:-1] * sizes
    return np.triu(np.cumsum(areas) - areas + np.outer(offsets[:-1], sizes), 1)
