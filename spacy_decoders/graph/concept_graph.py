"""The concept graph: links between concepts, and their distances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_each, checked_indices, checked_whole, read_only, refuse_beyond_memory
from ..errors import ProblemError
from ..extras import needed
from .adjacency import GraphArrays
from .hubs import HubIndex, distances_among
from .storage import FolderFormat

__all__ = ["ConceptGraph"]

_FOLDER = FolderFormat(
    kind="concept graph",
    header_name="graph.json",
    arrays={
        "indptr": ("<i8", 1),
        "indices": ("<i4", 1),
        "ids": ("<i8", 1),
        "inner": ("<i4", 1),
        "hubs": ("|u1", 2),
    },
    optional=frozenset({"hubs"}),
)


class ConceptGraph:
    """A graph of concepts, optimised for distances among a few of many vertices.

    Vertices are numbered inside by descending degree; every call takes and returns the caller's
    own ids. Make one by :meth:`from_edges`, :meth:`from_networkx`, :meth:`from_parquet` or
    :meth:`open`.

    Examples
    --------
    >>> graph = ConceptGraph.from_edges([[10, 20], [20, 30], [40, 50]])
    >>> graph.vertices.tolist(), graph.degree.tolist()
    ([10, 20, 30, 40, 50], [1, 2, 1, 1, 1])
    >>> graph.distances([30, 10, 40])
    array([[ 0,  2, -1],
           [ 2,  0, -1],
           [-1, -1,  0]], dtype=int32)
    """

    def __init__(self, arrays: GraphArrays, hubs: HubIndex | None = None) -> None:
        self.arrays = arrays
        self._hubs = hubs

    # --- construction -----------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        *,
        vertices: ArrayLike | None = None,
        largest_component: bool = False,
    ) -> ConceptGraph:
        """Build a graph from pairs of vertices, in any order and direction.

        Parameters
        ----------
        edges
            **Shape:** (m, 2), whole numbers: the caller's ids. Loops and repeats are
            dropped.
        vertices
            Ids that belong to the graph even without an edge.
        largest_component
            Whether to keep only the largest connected component, as the paper does.

        Raises
        ------
        ProblemError
            If `edges` is no array of pairs of whole numbers.
        """
        return cls(GraphArrays.of_edges(edges, vertices, largest_component))

    @classmethod
    def from_networkx(cls, graph: Any) -> ConceptGraph:
        """Build from a networkx graph.

        If all nodes are whole numbers, these are the ids; otherwise nodes are numbered in the
        order of the graph. Raises `ProblemError` if `graph` is no networkx graph.
        """
        if not (hasattr(graph, "nodes") and hasattr(graph, "edges")):
            raise ProblemError(f"graph: expected a networkx graph; got {type(graph).__name__}.")
        vertices = list(graph.nodes)
        edges = list(graph.edges())
        if not all(isinstance(node, int | np.integer) for node in vertices):
            number = {node: i for i, node in enumerate(vertices)}
            edges = [(number[u], number[v]) for u, v in edges]
            vertices = list(range(len(number)))
        return cls.from_edges(np.array(edges).reshape(-1, 2), vertices=vertices)

    @classmethod
    def from_parquet(
        cls, path: str | Path, *, columns: tuple[str, str] | None = None, **options: Any
    ) -> ConceptGraph:
        """Build from two columns of a parquet file, by default its first two.

        Needs pyarrow (the extra ``parquet``). `options` are those of :meth:`from_edges`.
        """
        parquet = needed("pyarrow.parquet", "parquet")
        try:
            file = parquet.ParquetFile(path)
        except ValueError as error:
            raise ProblemError(f"path: {path} can't be read as parquet: {error}") from None
        there = file.schema_arrow.names
        names = columns or tuple(there[:2])
        if len(names) != 2 or not set(names) <= set(there):
            raise ProblemError(f"columns: expected two of {there}, those of {path}; got {names}.")
        table = file.read(list(names))
        pairs = np.stack([table.column(name).to_numpy() for name in names], axis=1)
        return cls.from_edges(pairs, **options)

    # --- storage ----------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write the graph and its hub index to a folder."""
        arrays: dict[str, NDArray[Any]] = {
            name: getattr(self.arrays, name) for name in ("indptr", "indices", "ids", "inner")
        }
        if self._hubs is not None:
            arrays["hubs"] = self._hubs.table
        complete = self._hubs is not None and self._hubs.complete
        _FOLDER.write(folder, arrays, {"hubs_complete": complete})

    @classmethod
    def open(cls, folder: str | Path, *, verify: bool = False) -> ConceptGraph:
        """Map a saved graph into memory.

        The adjacency lists are read once to check that all indices are in range, which takes a
        tenth of a second for a hundred million edges, or as long as the disk needs.

        Parameters
        ----------
        folder
            As given to :meth:`save`.
        verify
            Whether to compare the checksums of all files, too.

        Raises
        ------
        StorageError
            If a file is missing, truncated, foreign, inconsistent or, with `verify`, changed.
        """
        stored = _FOLDER.read(folder, verify=verify)
        arrays = GraphArrays.of_stored(stored)
        size = len(arrays.ids)
        hubs = None
        if "hubs" in stored:
            table = stored["hubs"]
            if len(table) != size or not 0 < table.shape[1] <= size:
                stored.refuse("hubs", f"its shape {table.shape} does not fit {size} vertices")
            complete = stored.header.get("hubs_complete") is True
            hubs = HubIndex(table, arrays, complete)
        return cls(arrays, hubs)

    def index_hubs(self, count: int = 256) -> None:
        """Index the distances of all vertices from the hubs, those of highest degree.

        The index makes distances fast in graphs with hubs, takes a byte per hub and vertex, and is
        saved with the graph. If a vertex is 63 or more edges from a hub, it is not used.

        Parameters
        ----------
        count
            The number of hubs; at most that of the vertices.
        """
        count = min(checked_whole("count", count, low=1), len(self))
        self._hubs = HubIndex.build(self.arrays, count) if count else None

    # --- properties -------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of vertices."""
        return len(self.arrays.ids)

    def __repr__(self) -> str:
        hubs = f", {self._hubs.count} hubs" if self._hubs is not None else ""
        return f"ConceptGraph({len(self)} vertices, {self.n_edges} edges{hubs})"

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return len(self.arrays.indices) // 2

    @property
    def vertices(self) -> NDArray[np.int64]:
        """**Shape:** (n,): the ids of all vertices, ascending."""
        return self.arrays.ids

    @cached_property
    def degree(self) -> NDArray[np.int32]:
        """**Shape:** (n,), int32: the degrees of :attr:`vertices`."""
        degrees = np.diff(self.arrays.indptr).astype(np.int32)
        return read_only(degrees[self.arrays.inner])

    def rows(self, vertices: ArrayLike) -> NDArray[np.int64]:
        """Return the indices of some vertices in :attr:`vertices`.

        Raises `ProblemError` if one is not in the graph.
        """
        wanted = checked_indices("vertices", vertices, (None,), dtype=np.int64)
        places, found = self._located(wanted)
        if not found.all():
            i = int(np.argmin(found))
            raise ProblemError(f"vertices: {wanted[i]} at index {i} is not in the graph.")
        return places

    def contains(self, vertices: ArrayLike) -> NDArray[np.bool_]:
        """Return for each vertex whether it is in the graph."""
        return self._located(checked_indices("vertices", vertices, (None,), dtype=np.int64))[1]

    def _located(self, wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows of vertices, and whether they are in the graph; else rows are void."""
        ids, last = self.arrays.ids, len(self.arrays.ids) - 1
        if last < 0:
            return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
        places = np.minimum(np.searchsorted(ids, wanted), last)
        return places, ids[places] == wanted

    def neighbours(self, vertex: int) -> NDArray[np.int64]:
        """Return the ids of a vertex's neighbours, ascending."""
        a = self.arrays
        inner = a.inner[self.rows([vertex])[0]]
        return np.sort(self.arrays.outer[a.indices[a.indptr[inner] : a.indptr[inner + 1]]])

    def pagerank(self) -> NDArray[np.float64]:
        """**Shape:** (n,): the PageRank of :attr:`vertices`, which sums to 1."""
        return self.arrays.page_rank

    # --- distances --------------------------------------------------------------

    def distances(self, vertices: ArrayLike) -> NDArray[np.int32]:
        """**Shape:** (v, v): the distances among vertices, in the order given.

        Found by the hub index if there is one, else by breadth-first search.

        Parameters
        ----------
        vertices
            Ids, with or without repeats.

        Returns
        -------
        The numbers of edges of shortest paths; -1 where there is no path.
        """
        inner = self.arrays.inner[self.rows(vertices)]
        refuse_beyond_memory(
            "vertices",
            f"the distances among {len(inner)} vertices",
            8 * len(inner) ** 2,
            "give fewer",
        )
        return distances_among(self.arrays, self._hubs, inner)

    def hitting(self, sets: Sequence[ArrayLike]) -> list[NDArray[np.int32]]:
        """Return the distance of every vertex of every set to every set.

        Parameters
        ----------
        sets
            `k` arrays of ids.

        Returns
        -------
        For each set an array of shape (its size, k): the distance of each of its vertices to the
        nearest vertex of each set, -1 where there is no path; 0 to its own set.
        """
        given = checked_each("sets", sets, dtype=np.int64)
        for i, members in enumerate(given):
            if not len(members):
                raise ProblemError(f"sets[{i}]: is empty; leave it out.")
        if not given:
            return []
        starts = np.cumsum([0, *map(len, given)])[:-1]
        # viewed as unsigned, -1 for no path is the largest distance
        among = self.distances(np.concatenate(given)).view(np.uint32)
        nearest = np.minimum.reduceat(among, starts, axis=1).view(np.int32)
        return np.split(nearest, starts[1:])
