"""Distances in a concept graph: by hubs, or by search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import read_only
from .adjacency import GraphArrays
from .hubs import HubIndex, search_distances

__all__ = ["distances_among", "hitting_distances_of"]


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
