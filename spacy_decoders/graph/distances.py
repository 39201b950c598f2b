"""Choosing how distances in a concept graph are computed: by hubs, or by search alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import read_only
from ..errors import ProblemError
from .adjacency import GraphArrays
from .hubs import HubIndex
from .searching import early_stop_hitting, plain_distances, search_distances

__all__ = ["Method", "distances_among", "hitting_distances_of"]

Method = Literal["auto", "hubs", "multi_source", "bfs"]


def distances_among(
    arrays: GraphArrays, hubs: HubIndex | None, vertices: NDArray[np.int32], method: Method
) -> NDArray[np.int32]:
    """**Shape:** (v, v): the distances among inner numbers, with or without repeats."""
    unique, back = np.unique(vertices, return_inverse=True)
    unique, back = read_only(unique), back.reshape(-1)
    index = _index(hubs, method)
    if not len(unique):
        return np.empty((0, 0), np.int32)
    if index is not None:
        return index.distances(unique, back)
    if method == "bfs":
        found = plain_distances(arrays.indptr, arrays.indices, unique)
    else:
        each = np.arange(len(unique))
        columns = list(each[:, None])
        found = search_distances(arrays.indptr, arrays.indices, unique, columns, each)
    if np.array_equal(back, np.arange(len(unique))):
        return found
    return found[np.ix_(back, back)]


def hitting_distances_of(
    arrays: GraphArrays, hubs: HubIndex | None, sets: list[NDArray[np.int32]], method: Method
) -> list[NDArray[np.int32]]:
    """Return the distance of each vertex of each set to each set, **shapes** (size, k).

    Sets are arrays of inner numbers, at least one, none of them empty.
    """
    unique, back = np.unique(np.concatenate(sets), return_inverse=True)
    unique = read_only(unique)
    bounds = np.cumsum([len(members) for members in sets])[:-1]
    columns = np.split(back.reshape(-1), bounds)
    index = _index(hubs, method)
    if index is not None:
        order = np.concatenate(columns)
        flat = index.hitting(unique, [np.unique(column) for column in columns], order)
        return np.split(flat, bounds)
    indptr, indices = arrays.indptr, arrays.indices
    if method == "bfs":
        found = early_stop_hitting(indptr, indices, unique, columns, unique)
    else:
        found = search_distances(indptr, indices, unique, columns, np.arange(len(unique)))
    return [found[column] for column in columns]


def _index(hubs: HubIndex | None, method: Method) -> HubIndex | None:
    """Return the hub index if `method` uses it."""
    if method not in ("auto", "hubs", "multi_source", "bfs"):
        raise ProblemError(
            f"method: expected 'auto', 'hubs', 'multi_source' or 'bfs'; got {method!r}."
        )
    usable = hubs is not None and hubs.complete
    if method == "hubs" and not usable:
        raise ProblemError(
            "method: there is no usable hub index; call index_hubs() first, or take 'auto'."
        )
    return hubs if usable and method in ("auto", "hubs") else None
