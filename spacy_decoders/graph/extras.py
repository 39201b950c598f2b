"""Lengths and directions of edges: what a concept graph may know beside its adjacency."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import read_only
from ..errors import ProblemError
from .adjacency import GraphArrays
from .storage import StoredArrays

__all__ = [
    "InLists",
    "edge_lengths",
    "in_lists",
    "nearest_of_sets",
    "shortest_paths",
    "stored_in_lists",
]

#: Sources searched from at a time: of each, distances to all vertices are in memory.
_AT_A_TIME = 8


class InLists(NamedTuple):
    """The vertices from which edges lead to each: inner numbers.

    **Shapes:** ``(n + 1,)``, ``(edges,)``
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def in_degree(self) -> NDArray[np.int64]:
        """**Shape:** (n,)"""
        return np.diff(self.indptr)

    @property
    def out_degree(self) -> NDArray[np.int64]:
        """**Shape:** (n,)"""
        return np.bincount(self.indices, minlength=len(self.indptr) - 1)


def _inner_pairs(
    edges: ArrayLike, arrays: GraphArrays
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The inner numbers of edges, and which edges belong to the graph; loops do not."""
    # unsigned numbers, compared with ids, would become floats
    given = np.asarray(edges).reshape(-1, 2).astype(np.int64)
    if not len(given) or not len(arrays.ids):
        return np.empty((0, 2), np.int64), np.zeros(len(given), bool)
    places = arrays.places(given.ravel())
    known = (arrays.ids[places] == given.ravel()).reshape(-1, 2).all(axis=1)
    known &= given[:, 0] != given[:, 1]
    return arrays.inner[places].reshape(-1, 2)[known].astype(np.int64), known


def edge_lengths(edges: ArrayLike, lengths: ArrayLike, arrays: GraphArrays) -> NDArray[np.float64]:
    """**Shape:** (2m,): the length of each entry of the adjacency, the least of repeated edges.

    Raises
    ------
    ProblemError
        If there is not one for each edge, one is not finite and greater than 0, or their sum is
        not finite.
    """
    given = np.asarray(lengths, dtype=np.float64)
    count = len(np.asarray(edges).reshape(-1, 2))
    if given.shape != (count,):
        raise ProblemError(f"weights: expected shape ({count},), one an edge; got {given.shape}.")
    bad = np.flatnonzero(~(np.isfinite(given) & (given > 0)))
    if len(bad):
        raise ProblemError(
            f"weights: lengths must be finite and greater than 0; got {given[bad[0]]} at {bad[0]}."
        )
    with np.errstate(over="ignore"):
        whole = given.sum()
    if not np.isfinite(whole):  # a path would be too long to be told from none
        raise ProblemError("weights: their sum is beyond all floats; divide them by a constant.")
    pairs, known = _inner_pairs(edges, arrays)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    found = np.full(len(arrays.indices), np.inf)
    own = np.repeat(np.arange(len(arrays.indptr) - 1), np.diff(arrays.indptr))
    size = max(1, len(arrays.ids))
    entries = own * size + arrays.indices
    at = np.searchsorted(entries, both[:, 0] * size + both[:, 1])
    np.minimum.at(found, at, np.tile(given[known], 2))
    return read_only(found)


def in_lists(edges: ArrayLike, arrays: GraphArrays) -> InLists:
    """Return the directed edges without repeats, by where they lead."""
    pairs, _ = _inner_pairs(edges, arrays)
    size = max(1, len(arrays.ids))
    codes = np.unique(pairs[:, 1] * size + pairs[:, 0])
    counts = np.bincount(codes // size, minlength=len(arrays.ids))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return InLists(read_only(indptr), read_only((codes % size).astype(np.int32)))


def stored_in_lists(stored: StoredArrays, size: int) -> InLists:
    """Take the directed edges of a folder, and check that they are within the graph."""
    stored.check_offsets("in_indptr", size, len(stored["in_indices"]))
    stored.check_range("in_indices", size)
    return InLists(stored["in_indptr"], stored["in_indices"])


def shortest_paths(
    arrays: GraphArrays, lengths: NDArray[np.float64], vertices: NDArray[Any]
) -> NDArray[np.float64]:
    """**Shape:** (v, v): the lengths of shortest paths among inner numbers, -1 without one.

    One search by Dijkstra's algorithm through the whole graph for each vertex.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    size = len(arrays.ids)
    graph = csr_matrix((lengths, arrays.indices, arrays.indptr), (size, size))
    unique, back = np.unique(vertices, return_inverse=True)
    found = np.empty((len(unique), len(unique)))
    for start in range(0, len(unique), _AT_A_TIME):
        sources = unique[start : start + _AT_A_TIME]
        found[start : start + _AT_A_TIME] = dijkstra(graph, indices=sources)[:, unique]
    found[np.isinf(found)] = -1.0
    # a path and the same backwards are summed in another order
    found = np.minimum(found, found.T)
    back = back.reshape(-1)
    return np.asarray(found[np.ix_(back, back)])


def nearest_of_sets(
    arrays: GraphArrays, lengths: NDArray[np.float64], sets: list[NDArray[Any]]
) -> list[NDArray[np.float64]]:
    """Return how far each vertex of each set is from each set, **shapes** (size, k)."""
    found = shortest_paths(arrays, lengths, np.concatenate(sets))
    found[found < 0] = np.inf
    starts = np.cumsum([0, *map(len, sets)])
    near = np.minimum.reduceat(found, starts[:-1], axis=1)
    near[np.isinf(near)] = -1.0
    return np.split(near, starts[1:-1])
