"""The arrays of a concept graph, and how they are built of edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats, Integers, Integers32, checked_indices, checked_numbers, read_only
from ..errors import ProblemError
from .storage import StoredArrays

__all__ = ["GraphArrays"]

#: PageRank's damping factor, and the summed change of all ranks at which it has converged.
DAMPING, CONVERGED = 0.85, 1e-10


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """The adjacency lists of a graph, and the ids of its vertices."""

    # int64 (n + 1,) and int32 (2m,): sorted lists, in compressed sparse rows, of inner numbers,
    # which go by descending degree
    indptr: Integers
    indices: Integers32
    ids: Integers  # int64 (n,): the caller's ids, ascending
    inner: Integers32  # int32 (n,): the inner number of each of `ids`

    @classmethod
    def of_edges(
        cls, edges: ArrayLike, vertices: ArrayLike | None, largest_component: bool
    ) -> GraphArrays:
        """Make edges symmetric, without loops and repeats; number vertices by degree, then id."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        given = checked_numbers("edges", edges)
        if given.dtype != np.int32 or not given.size:
            given = checked_indices("edges", given, (None, 2), dtype=np.int64)
        elif given.ndim != 2 or given.shape[1] != 2:
            raise ProblemError(f"edges: expected shape (any, 2), got {given.shape}.")
        ids, numbered = _numbered(given, vertices)
        if len(ids) >= 2**31 - 1:
            raise ProblemError(f"edges: at most 2**31 - 2 vertices fit; got {len(ids)}.")
        joined = _symmetric(numbered, len(ids))
        del given, numbered
        degrees = np.diff(joined.indptr)
        kept = np.arange(len(ids))
        if largest_component and len(ids):
            _, component = connected_components(joined, directed=False)
            kept = np.flatnonzero(component == np.argmax(np.bincount(component)))
        order = kept[np.argsort(-degrees[kept], kind="stable")]
        rank = np.empty(len(ids), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        # the transpose of a symmetric matrix is the matrix, with its rows sorted
        rows = joined[order]
        joined = csr_array(
            (rows.data, rank[rows.indices], rows.indptr), 2 * (len(order),)
        ).T.tocsr()
        return cls(
            read_only(joined.indptr.astype(np.int64)),
            read_only(joined.indices.astype(np.int32, copy=False)),
            read_only(ids[kept]),
            read_only(rank[kept]),
        )

    @classmethod
    def of_stored(cls, stored: StoredArrays) -> GraphArrays:
        """Take the arrays of a folder after checking that all indices are in range."""
        names = ("indptr", "indices", "ids", "inner")
        indptr, indices, ids, inner = map(stored.arrays.__getitem__, names)
        size = len(ids)
        # viewed as unsigned, negative numbers are the largest: one maximum checks both ends
        within = [not len(of) or of.view(np.uint32).max() < size for of in (indices, inner)]
        present = np.zeros(size, dtype=bool)
        present[inner if within[1] else []] = True
        ends = len(indptr) == size + 1 and (indptr[0], indptr[-1]) == (0, len(indices))
        sound = (
            ends and (indptr[1:] >= indptr[:-1]).all(),
            within[0],
            (ids[1:] > ids[:-1]).all(),
            len(inner) == size and present.all(),
        )
        for name, is_sound in zip(names, sound, strict=True):
            if not is_sound:
                stored.refuse(name, f"its entries do not fit a graph of {size} vertices")
        return cls(indptr, indices, ids, inner)

    @cached_property
    def adjacency(self) -> tuple[Integers, Integers32]:
        """`indptr` and `indices`, which all kernels take first."""
        return self.indptr, self.indices

    @cached_property
    def outer(self) -> Integers:
        """**Shape:** (n,): the caller's id of each inner number."""
        outer = np.empty(len(self.ids), dtype=np.int64)
        outer[self.inner] = self.ids
        return outer

    @cached_property
    def page_rank(self) -> Floats:
        """**Shape:** (n,): the PageRank of each of `ids`, by power iteration.

        Vertices without edges pass their rank on to all vertices.
        """
        from scipy.sparse import csr_array

        size = len(self.ids)
        degree = np.diff(self.indptr)
        follow = np.divide(DAMPING, degree, out=np.zeros(size), where=degree > 0)
        links = csr_array((np.ones(len(self.indices)), self.indices, self.indptr), (size, size))
        ranks = np.full(size, 1.0 / max(1, size))
        for _ in range(1000):
            restarts = 1.0 - DAMPING + DAMPING * ranks[degree == 0].sum()
            before, ranks = ranks, links @ (follow * ranks) + restarts / max(1, size)
            if np.abs(ranks - before).sum() < CONVERGED:
                break
        return read_only(ranks[self.inner])


def _symmetric(edges: NDArray[np.integer[Any]], size: int) -> Any:
    """Return the sparse, boolean and symmetric adjacency matrix of edges, without loops."""
    from scipy.sparse import coo_array

    first, second = edges[:, 0], edges[:, 1]
    apart = first != second
    ends = first[apart], second[apart]
    forward = coo_array((np.ones(len(ends[0]), dtype=bool), ends), (size, size)).tocsr()
    return forward + forward.T.tocsr()


def _numbered(edges: NDArray[Any], vertices: ArrayLike | None) -> tuple[Integers, NDArray[Any]]:
    """Return the sorted ids, and the edges with each id replaced by its rank."""
    extra = np.empty(0, dtype=np.int64)
    if vertices is not None:
        extra = checked_indices("vertices", vertices, (None,), dtype=np.int64)
    low = min(int(edges.min(initial=0)), int(extra.min(initial=0)))
    high = max(int(edges.max(initial=-1)), int(extra.max(initial=-1)))
    if low >= 0 and high < 4 * (edges.size + extra.size) + 64:
        # the ids are dense: a table is faster than sorting
        present = np.zeros(high + 1, dtype=bool)
        present[edges.ravel()] = True
        present[extra] = True
        ids = np.flatnonzero(present).astype(np.int64)
        if len(ids) == high + 1:
            return ids, edges
        rank = np.cumsum(present, dtype=np.int64) - 1
        return ids, rank.astype(np.int32)[edges]
    ids = np.unique(np.concatenate([edges.ravel(), extra])).astype(np.int64)
    return ids, np.searchsorted(ids, edges).astype(np.int32)
