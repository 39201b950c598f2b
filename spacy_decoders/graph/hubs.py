"""Distances in a concept graph: by the hub index, or by search.

The hub index has the distances of all vertices from those of highest degree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..arrays import read_only
from .adjacency import GraphArrays
from .kernels.four_edges import four_at_most, four_edges
from .kernels.hub_bounds import far_pairs, hub_bounds, made_symmetric, widened
from .kernels.searching import between, multi_source
from .kernels.short_paths import Columns, near_pairs, short_paths, touched_edges, touched_vertices

__all__ = ["HubIndex", "distances_among", "hitting_distances_of", "search_distances"]

Matrix = NDArray[np.int32]

#: The largest distance from a hub that the table holds, and the entry for no path: any sum with it
#: exceeds every sum of two distances, and fits a byte.
LIMIT, UNREACHED = 63, 127
#: Sources of a block in the search for four edges, which limits its memory.
BLOCK = 256
#: Pairs for which one search from many sources is faster than one search per pair.
MANY = 2000


@dataclass(frozen=True, eq=False)
class HubIndex:
    """Distances from all vertices to the first ones, which are those of highest degree."""

    table: NDArray[np.uint8]  # (n, hubs), uint8, :data:`UNREACHED` where there is no path
    # The graph, degree-ordered and sorted
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    complete: bool  # whether the table holds every finite distance

    @property
    def count(self) -> int:
        """The number of hubs."""
        return int(self.table.shape[1])

    @classmethod
    def build(
        cls, indptr: NDArray[Any], indices: NDArray[Any], count: int, progress: bool
    ) -> HubIndex:
        """Search from `count` hubs, 64 at a time."""
        size = len(indptr) - 1
        table = np.full((size, count), UNREACHED, dtype=np.uint8)
        complete = True
        none = read_only(np.empty(0, dtype=np.int32))
        for begin in tqdm(range(0, count, 64), "hub index", disable=not progress):
            hubs = read_only(np.arange(begin, min(begin + 64, count), dtype=np.int32))
            part = np.full((size, 64), UNREACHED, dtype=np.uint8)
            multi_source(indptr, indices, hubs, none, 0, LIMIT, True, part)
            table[:, begin : begin + len(hubs)] = part[:, : len(hubs)]
            complete = complete and not (part == LIMIT).any()
        return cls(read_only(table), indptr, indices, complete)

    def distances(self, vertices: NDArray[np.int32], order: NDArray[np.int64]) -> Matrix:
        """Return the distances among vertices.

        Parameters
        ----------
        vertices
            Inner numbers, each once.
        order
            **Shape:** (a,): positions in `vertices`.

        Returns
        -------
        **Shape:** (a, a), int32: among the vertices in that order, -1 where there is no path.
        """
        each = list(np.arange(len(vertices))[:, None])
        near = self.table[vertices]
        best = self._shortest(vertices, near, near, each, True)
        return self._whole(vertices, near, each, best, order, order)

    def hitting(
        self,
        vertices: NDArray[np.int32],
        columns: list[NDArray[np.int64]],
        order: NDArray[np.int64],
    ) -> Matrix:
        """Return the distances from vertices to the nearest of each column's.

        Parameters
        ----------
        vertices, order
            As above.
        columns
            `b` arrays of positions in `vertices`.

        Returns
        -------
        **Shape:** (a, b), int32, -1 where there is no path.
        """
        near = self.table[vertices]
        nearest = np.stack([near[column].min(axis=0) for column in columns])
        best = self._shortest(vertices, near, nearest, columns, False)
        return self._whole(vertices, near, columns, best, order, np.arange(len(columns)))

    def _whole(
        self,
        vertices: NDArray[np.int32],
        near: NDArray[np.uint8],
        columns: list[NDArray[np.int64]],
        best: NDArray[np.uint8],
        rows_order: NDArray[np.int64],
        columns_order: NDArray[np.int64],
    ) -> Matrix:
        """Widen the distances, and search where no hub is in a vertex' component."""
        distances: Matrix = widened(best, rows_order, columns_order, UNREACHED)
        lonely = np.flatnonzero((near == UNREACHED).all(axis=1))
        if len(lonely):
            # there is no bound on the lengths of paths there
            searched = search_distances(self.indptr, self.indices, vertices, columns, lonely)
            lonely_rows = np.flatnonzero(np.isin(rows_order, lonely))
            found = searched[np.searchsorted(lonely, rows_order[lonely_rows])]
            distances[lonely_rows] = found[:, columns_order]
        return distances

    def _shortest(
        self,
        rows: NDArray[np.int32],
        near: NDArray[np.uint8],
        nearest: NDArray[np.uint8],
        columns: list[NDArray[np.int64]],
        symmetric: bool,
    ) -> NDArray[np.uint8]:
        """Return all distances that a byte holds, `UNREACHED` or more where there is no path."""
        best = np.empty((len(near), len(nearest)), dtype=np.uint8)
        hub_bounds(near, nearest, symmetric, best)
        # by paths that meet no hub, these bounds are lowered to the distances
        touched = touched_vertices(self.indptr, self.indices, rows, self.count)
        # three edges improve a pair only if its hub bound is larger
        is_open = (best > 3).any(axis=1)
        edges = touched_edges(self.indptr, self.indices, touched, is_open, self.count)
        columns_of_rows = _columns_of_rows(columns, len(rows))
        words = -(-len(columns) // 64)
        two = np.zeros((len(rows), words), dtype=np.uint64)
        three = np.zeros((len(rows), words), dtype=np.uint64)
        short_paths(touched, edges, columns_of_rows, two, three)
        if not near_pairs(rows, touched, columns_of_rows, two, three, best):
            return best
        sources = _cover(*self._far(rows, best, symmetric, 4), symmetric)
        for first in range(0, len(sources), BLOCK):
            batch = sources[first : first + BLOCK]
            four = four_edges(self.indptr, self.indices, rows, batch, self.count, touched)
            four_at_most(four, batch, columns_of_rows, best)
        if symmetric:
            made_symmetric(best)
        self._search_far(rows, columns, best, symmetric)
        return best

    def _far(
        self, rows: NDArray[np.int32], best: NDArray[np.uint8], symmetric: bool, beyond: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs whose bound is above `beyond` and may be too high."""
        far_rows, far_columns = far_pairs(best, beyond, UNREACHED, symmetric)
        # a hub's own distances are in the table
        wanted = rows[far_rows] >= self.count
        if symmetric:
            wanted &= rows[far_columns] >= self.count
        return far_rows[wanted], far_columns[wanted]

    def _search_far(
        self,
        rows: NDArray[np.int32],
        columns: list[NDArray[np.int64]],
        best: NDArray[np.uint8],
        symmetric: bool,
    ) -> None:
        """Search for hub-free paths of five edges and more, for the few remaining pairs."""
        far_rows, far_columns = self._far(rows, best, symmetric, 5)
        if not len(far_rows):
            return
        if len(far_rows) > MANY:
            sources, source = np.unique(far_rows, return_inverse=True)
            depth = int(best[far_rows, far_columns].max()) - 1
            found = search_distances(
                self.indptr, self.indices, rows, columns, sources, self.count, depth
            )[source.reshape(-1), far_columns]
            shorter = found >= 0
            far_rows, far_columns = far_rows[shorter], far_columns[shorter]
            best[far_rows, far_columns] = np.minimum(best[far_rows, far_columns], found[shorter])
        else:
            marks = np.zeros(len(self.indptr) - 1, dtype=np.int32)
            for at, (row, column) in enumerate(zip(far_rows, far_columns, strict=True)):
                limit = int(best[row, column]) - 1
                targets = read_only(rows[columns[column]])
                found = between(
                    self.indptr,
                    self.indices,
                    rows[row],
                    targets,
                    self.count,
                    limit,
                    2 * at + 1,
                    marks,
                )
                best[row, column] = min(found, limit + 1)
        if symmetric:
            best[far_columns, far_rows] = best[far_rows, far_columns]


def _columns_of_rows(columns: list[NDArray[np.int64]], count: int) -> Columns:
    """Turn the rows of each column into the columns of each row."""
    row_of = np.concatenate(columns)
    order = np.argsort(row_of, kind="stable")
    column_of = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    starts = np.searchsorted(row_of[order], np.arange(count + 1))
    return Columns(starts, column_of[order].astype(np.int32))


def _cover(
    far_rows: NDArray[np.int64], far_columns: NDArray[np.int64], symmetric: bool
) -> NDArray[np.int64]:
    """Return rows that take part in all given pairs; if symmetric, preferably few.

    Of each symmetric pair the end in more of the pairs is taken: it is remote, and its
    neighbourhood small.
    """
    if not symmetric:
        return np.unique(far_rows)
    counts = np.bincount(np.concatenate([far_rows, far_columns]))
    return np.unique(np.where(counts[far_rows] >= counts[far_columns], far_rows, far_columns))


def search_distances(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    rows: NDArray[np.int32],
    columns: Sequence[NDArray[Any]],
    sources: NDArray[np.int64],
    first: int = 0,
    depth: int | None = None,
) -> NDArray[np.int32]:
    """Search from up to 64 vertices at once.

    Parameters
    ----------
    rows
        **Shape:** (v,): vertices.
    columns
        `b` arrays of positions in `rows`.
    sources
        **Shape:** (a,): positions in `rows`.
    first
        The first vertex that paths may go through.
    depth
        The length of the longest path of interest; None for any.

    Returns
    -------
    **Shape:** (a, b), int32: from each source to the nearest of each column, or -1.
    """
    far = np.iinfo(np.int32).max
    flat = np.concatenate([*columns, np.empty(0, dtype=np.int64)]).astype(np.int64)
    starts = np.cumsum([0, *(len(column) for column in columns)])[:-1]
    out = np.empty((len(sources), len(columns)), dtype=np.int32)
    for begin in range(0, len(sources), 64):
        batch = read_only(rows[sources[begin : begin + 64]])
        found = np.full((len(rows), 64), far, dtype=np.int32)
        limit = len(indptr) - 1 if depth is None else depth
        multi_source(indptr, indices, batch, rows, first, limit, False, found)
        if len(columns):
            nearest = np.minimum.reduceat(found[flat], starts)
            out[begin : begin + 64] = nearest[:, : len(batch)].T
    out[out == far] = -1
    return out


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
