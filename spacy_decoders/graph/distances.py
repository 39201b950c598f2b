"""Distances in a concept graph: by hubs or by search, and along edges that have lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import read_only
from .adjacency import GraphArrays
from .hubs import HubIndex, search_distances

__all__ = ["distances_among", "hitting_distances_of", "nearest_of_sets", "shortest_paths"]

#: Sources searched from at a time: of each, distances to all vertices are in memory.
_AT_A_TIME = 8


def distances_among(
    arrays: GraphArrays, hubs: HubIndex | None, vertices: NDArray[np.int32]
) -> NDArray[np.int32]:
    """**Shape:** (v, v): the distances among inner numbers, with or without repeats."""
    unique, back = np.unique(vertices, return_inverse=True)
    unique, back = read_only(unique), back.reshape(-1)
    if not len(unique):
        return np.empty((0, 0), np.int32)
    if hubs is not None and hubs.complete:
        return hubs.distances(unique, back)
    each = np.arange(len(unique))
    found = search_distances(arrays.indptr, arrays.indices, unique, list(each[:, None]), each)
    return found[np.ix_(back, back)]


def hitting_distances_of(
    arrays: GraphArrays, hubs: HubIndex | None, sets: list[NDArray[np.int32]]
) -> list[NDArray[np.int32]]:
    """Return the distance of each vertex of each set to each set, **shapes** (size, k).

    Sets are arrays of inner numbers, at least one, none of them empty.
    """
    unique, back = np.unique(np.concatenate(sets), return_inverse=True)
    unique = read_only(unique)
    bounds = np.cumsum([len(members) for members in sets])[:-1]
    columns = np.split(back.reshape(-1), bounds)
    if hubs is not None and hubs.complete:
        order = np.concatenate(columns)
        flat = hubs.hitting(unique, [np.unique(column) for column in columns], order)
        return np.split(flat, bounds)
    each = np.arange(len(unique))
    found = search_distances(arrays.indptr, arrays.indices, unique, columns, each)
    return [found[column] for column in columns]


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
