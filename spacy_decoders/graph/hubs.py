"""Distances in a concept graph: by the hub index, or by search.

The hub index has the distances of all vertices from the hubs, which are those of highest degree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..arrays import Integers, Integers32, read_only
from .adjacency import GraphArrays
from .kernels.searching import between, multi_source
from .kernels.short_paths import (
    four_edges,
    hub_bounds,
    near_pairs,
    short_paths,
    touched_edges,
    touched_vertices,
)

__all__ = ["HubIndex", "distances_among"]


#: The largest distance in the table, and its entry for no path: any sum with that exceeds every
#: sum of two distances, and fits a byte.
LIMIT, UNREACHED = 63, 127
#: Sources from which paths of four edges are searched for together; this limits the memory.
BLOCK = 256
#: Beyond so many pairs, searching from many sources at once is faster than pair by pair.
MANY = 2000


@dataclass(frozen=True, eq=False)
class HubIndex:
    """The distances of all vertices from the hubs, whose inner numbers are the first."""

    table: NDArray[np.uint8]  # (n, hubs), uint8, :data:`UNREACHED` where there is no path
    arrays: GraphArrays
    complete: bool  # whether the table holds every finite distance

    @property
    def count(self) -> int:
        """The number of hubs."""
        return int(self.table.shape[1])

    @classmethod
    def build(cls, arrays: GraphArrays, count: int) -> HubIndex:
        """Search from `count` hubs, 64 at a time."""
        size = len(arrays.ids)
        table = np.full((size, count), UNREACHED, dtype=np.uint8)
        complete = True
        every = read_only(np.arange(size, dtype=np.int32))
        for begin in tqdm(range(0, count, 64), "hub index", disable=None, delay=1):
            hubs = every[begin : min(begin + 64, count)]
            part = np.full((size, 64), UNREACHED, dtype=np.uint8)
            multi_source(*arrays.adjacency, hubs, every, LIMIT, part)
            table[:, begin : begin + len(hubs)] = part[:, : len(hubs)]
            complete = complete and not (part == LIMIT).any()
        return cls(read_only(table), arrays, complete)

    def distances(self, vertices: Integers32) -> Integers32:
        """**Shape:** (v, v), int32: the distances among distinct inner numbers, -1 for no path."""
        near = self.table[vertices]
        best = self._shortest(vertices, near)
        distances: Integers32 = best.astype(np.int32)
        distances[best >= UNREACHED] = -1
        # in components without a hub the table bounds no distance
        lonely = np.flatnonzero((near == UNREACHED).all(axis=1))
        if len(lonely):
            distances[lonely] = search_distances(self.arrays, vertices, lonely)
        return distances

    def _shortest(self, rows: Integers32, near: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return distances, `UNREACHED` or more for no path; not for components without a hub."""
        graph, best = self.arrays.adjacency, np.empty((len(rows), len(rows)), dtype=np.uint8)
        hub_bounds(near, best)
        # paths that meet no hub lower these upper bounds to the distances
        touched = touched_vertices(*graph, rows, self.count)
        edges = touched_edges(*graph, touched, self.count)
        words = -(-len(rows) // 64)
        two = np.zeros((len(rows), words), dtype=np.uint64)
        three = np.zeros((len(rows), words), dtype=np.uint64)
        short_paths(touched, edges, two, three)
        if not near_pairs(rows, touched, two, three, best):
            return best
        far_rows, far_columns = self._far(rows, best, 4)
        # search from the end that is in more of the pairs: it is remote, its neighbourhood small
        counts = np.bincount(np.concatenate([far_rows, far_columns]))
        remote = np.where(counts[far_rows] >= counts[far_columns], far_rows, far_columns)
        sources = np.unique(remote)
        for first in range(0, len(sources), BLOCK):
            batch = sources[first : first + BLOCK]
            four = four_edges(*graph, rows, batch, self.count, touched)
            found = np.unpackbits(four.view(np.uint8), axis=1, count=len(batch), bitorder="little")
            best[batch] = np.where(found.T, np.minimum(best[batch], 4), best[batch])
        np.minimum(best, best.T.copy(), out=best)
        self._search_far(rows, best)
        return best

    def _far(
        self, rows: Integers32, best: NDArray[np.uint8], beyond: int
    ) -> tuple[Integers, Integers]:
        """Return the pairs whose bound is above `beyond` and may be too high."""
        far_rows, far_columns = np.nonzero(np.triu((best > beyond) & (best < UNREACHED)))
        # a hub's own distances are in the table
        wanted = (rows[far_rows] >= self.count) & (rows[far_columns] >= self.count)
        return far_rows[wanted], far_columns[wanted]

    def _search_far(self, rows: Integers32, best: NDArray[np.uint8]) -> None:
        """Search for hub-free paths of five edges and more, for the few remaining pairs."""
        far_rows, far_columns = self._far(rows, best, 5)
        if not len(far_rows):
            return
        limits = best[far_rows, far_columns].astype(np.int32) - 1
        if len(far_rows) > MANY:
            sources, source = np.unique(far_rows, return_inverse=True)
            searched = search_distances(self.arrays, rows, sources)
            found = searched[source.reshape(-1), far_columns]
        else:
            marks = np.zeros(len(self.arrays.ids), dtype=np.int32)
            graph, found = self.arrays.adjacency, limits.copy()
            pairs = zip(rows[far_rows], rows[far_columns], limits, strict=True)
            for at, (row, column, limit) in enumerate(pairs):
                found[at] = between(*graph, row, column, self.count, limit, 2 * at + 1, marks)
        lower = np.minimum(found, limits + 1)
        best[far_rows, far_columns] = best[far_columns, far_rows] = lower


def search_distances(arrays: GraphArrays, rows: Integers32, sources: Integers) -> Integers32:
    """**Shape:** (a, v), int32: the distance from each source to each vertex, -1 for no path.

    `rows` are vertices, (v,), and `sources` positions in them, (a,).
    """
    out = np.empty((len(sources), len(rows)), dtype=np.int32)
    for begin in range(0, len(sources), 64):
        batch = read_only(rows[sources[begin : begin + 64]])
        found = np.full((len(rows), 64), -1, dtype=np.int32)
        multi_source(*arrays.adjacency, batch, rows, len(arrays.ids), found)
        out[begin : begin + 64] = found[:, : len(batch)].T
    return out


def distances_among(
    arrays: GraphArrays, hubs: HubIndex | None, vertices: Integers32
) -> Integers32:
    """**Shape:** (v, v): the distances among inner numbers, with or without repeats."""
    unique, back = np.unique(vertices, return_inverse=True)
    unique, back = read_only(unique), back.reshape(-1)
    if not len(unique):
        return np.empty((0, 0), np.int32)
    if hubs is not None and hubs.complete:
        found = hubs.distances(unique)
    else:
        each = np.arange(len(unique))
        found = search_distances(arrays, unique, each)
    return found[back[:, None], back]
