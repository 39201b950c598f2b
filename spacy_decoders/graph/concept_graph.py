"""The concept graph: links between concepts, and their distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_whole, read_only, refuse_beyond_memory
from ..errors import ProblemError
from ..extras import needed
from .adjacency import GraphArrays, InLists, edge_lengths
from .distances import distances_among, hitting_distances_of, nearest_of_sets, shortest_paths
from .hubs import HubIndex
from .storage import FolderFormat
from .strings import StringTable

__all__ = ["ConceptGraph"]

_FOLDER = FolderFormat(
    kind="concept graph",
    header_name="graph.json",
    arrays={
        "indptr": ("<i8", 1),
        "indices": ("<i4", 1),
        "ids": ("<i8", 1),
        "inner": ("<i4", 1),
        "label_starts": ("<i8", 1),
        "label_bytes": ("|u1", 1),
        "hubs": ("|u1", 2),
        "lengths": ("<f8", 1),
        "in_indptr": ("<i8", 1),
        "in_indices": ("<i4", 1),
    },
    optional=frozenset(
        {"label_starts", "label_bytes", "hubs", "lengths", "in_indptr", "in_indices"}
    ),
)


class ConceptGraph:
    """A graph of concepts, optimised for distances among a few of many vertices.

    Distances take no notice of the direction of edges; degrees and PageRank do in a directed
    graph.

    Adjacency is kept sorted, with vertices numbered inside by descending degree; every
    call takes and gives the caller's own ids. Make one by :meth:`from_edges`,
    :meth:`from_networkx`, :meth:`from_parquet` or :meth:`open`.

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

    def __init__(
        self,
        arrays: GraphArrays,
        labels: StringTable | None = None,
        hubs: HubIndex | None = None,
        *,
        lengths: NDArray[np.float64] | None = None,
        into: InLists | None = None,
    ) -> None:
        self.arrays = arrays
        self.lengths = lengths
        self._into = into
        self._labels = labels
        self._hubs = hubs
        self._page_ranks: dict[tuple[float, float], NDArray[np.float64]] = {}

    # --- construction -----------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        directed: bool = False,
        vertices: ArrayLike | None = None,
        labels: Mapping[int, str] | None = None,
        largest_component: bool = False,
    ) -> ConceptGraph:
        """Build a graph from pairs of vertices, in any order and direction.

        Parameters
        ----------
        edges
            **Shape:** (m, 2), whole numbers: the caller's ids. Loops and repeats are
            dropped.
        weights
            **Shape:** (m,): the length of each edge, greater than 0; None for 1. Of repeated
            edges the shortest counts. Distances are then lengths, found by Dijkstra's
            algorithm through the whole graph: for graphs of up to some 100,000 edges, or few
            candidates, since no hub index helps.
        directed
            Whether edges lead from their first vertex to their second: `in_degree`, PageRank
            and the decoders ``Degree`` and ``PageRank`` then count links received. Distances
            are those of the undirected graph, as in the paper.
        vertices
            Ids that belong to the graph even without an edge.
        labels
            The names of vertices, where known.
        largest_component
            Whether to keep only the largest connected component, as the paper does.

        Raises
        ------
        ProblemError
            If `edges` is no array of pairs of whole numbers, or `weights` no lengths of them.

        Examples
        --------
        >>> edges = [[0, 1], [1, 2], [0, 2]]
        >>> ConceptGraph.from_edges(edges, weights=[1.0, 0.5, 4.0]).distances([0, 2])
        array([[0. , 1.5],
               [1.5, 0. ]])
        >>> ConceptGraph.from_edges(edges, directed=True).in_degree.tolist()
        [0, 1, 2]
        """
        arrays = GraphArrays.of_edges(edges, vertices, largest_component)
        names = None
        if labels is not None:
            names = StringTable.build(labels.get(int(i), "") for i in arrays.ids)
        return cls(
            arrays,
            names,
            lengths=None if weights is None else edge_lengths(edges, weights, arrays),
            into=InLists.of_edges(edges, arrays) if directed else None,
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        weight: str | None = None,
        directed: bool = False,
        largest_component: bool = False,
    ) -> ConceptGraph:
        """Build from a networkx graph.

        Nodes that are whole numbers keep them as ids. Otherwise nodes are numbered in
        their order in the graph, and labelled ``str(node)``. `weight` names the attribute of
        edges that holds their length, which is 1 where it is missing.

        Raises
        ------
        ProblemError
            If `graph` is no networkx graph, or no edge has the attribute.
        """
        if not (hasattr(graph, "nodes") and hasattr(graph, "edges")):
            raise ProblemError(f"graph: expected a networkx graph; got {type(graph).__name__}.")
        vertices, labels = list(graph.nodes), None
        edges, lengths = list(graph.edges()), None
        if not all(isinstance(node, int | np.integer) for node in vertices):
            number = {node: i for i, node in enumerate(vertices)}
            edges = [(number[u], number[v]) for u, v in edges]
            vertices, labels = list(range(len(number))), {i: str(v) for v, i in number.items()}
        if weight is not None:
            given = [length for _, _, length in graph.edges(data=weight)]
            if given and all(length is None for length in given):
                raise ProblemError(f"weight: no edge has the attribute {weight!r}.")
            lengths = [1 if length is None else length for length in given]
        return cls.from_edges(
            np.array(edges).reshape(-1, 2),
            weights=lengths,
            directed=directed,
            vertices=vertices,
            labels=labels,
            largest_component=largest_component,
        )

    @classmethod
    def from_parquet(
        cls, path: str | Path, *, columns: tuple[str, str] | None = None, **options: Any
    ) -> ConceptGraph:
        """Build from two columns of a parquet file, by default its first two.

        Needs pyarrow (the extra ``parquet``). `options` are those of :meth:`from_edges`.
        """
        parquet = needed("pyarrow.parquet", "parquet")
        names = columns or tuple(parquet.read_schema(path).names[:2])
        if len(names) != 2:
            raise ProblemError(f"path: {path} has fewer than two columns.")
        table = parquet.read_table(path, columns=list(names))
        pairs = np.stack([table.column(name).to_numpy() for name in names], axis=1)
        return cls.from_edges(pairs, **options)

    # --- storage ----------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write the graph, its labels and its hub index to a folder."""
        arrays: dict[str, NDArray[Any]] = {
            name: getattr(self.arrays, name) for name in ("indptr", "indices", "ids", "inner")
        }
        if self._labels is not None:
            arrays |= {"label_starts": self._labels.offsets, "label_bytes": self._labels.data}
        if self._hubs is not None:
            arrays["hubs"] = self._hubs.table
        if self.lengths is not None:
            arrays["lengths"] = self.lengths
        if self._into is not None:
            arrays |= {"in_indptr": self._into.indptr, "in_indices": self._into.indices}
        complete = self._hubs is not None and self._hubs.complete
        _FOLDER.write(folder, arrays, {"hubs_complete": complete})

    @classmethod
    def open(cls, folder: str | Path, *, verify: bool = False) -> ConceptGraph:
        """Map a saved graph into memory.

        Adjacency is read once, to check that all indices are within the graph: for a hundred
        million edges that takes a tenth of a second, or as long as the disk needs.

        Parameters
        ----------
        folder
            As given to :meth:`save`.
        verify
            Whether to compare checksums as well, of all files.

        Raises
        ------
        StorageError
            If a file is missing, truncated, foreign, inconsistent or, with `verify`, changed.
        """
        stored = _FOLDER.read(folder, verify=verify)
        arrays = GraphArrays.of_stored(stored)
        size = len(arrays.ids)
        labels = hubs = None
        if "label_starts" in stored and "label_bytes" in stored:
            labels = StringTable.of_stored(stored, "label_bytes", "label_starts", size)
        if "hubs" in stored:
            table = stored["hubs"]
            stored.check_size("hubs", size)
            if not 0 < table.shape[1] <= size:
                stored.refuse("hubs", f"{table.shape[1]} hubs can't be")
            complete = stored.header.get("hubs_complete") is True
            hubs = HubIndex(table, arrays.indptr, arrays.indices, complete)
        lengths = into = None
        if "lengths" in stored:
            stored.check_size("lengths", len(arrays.indices))
            lengths = stored["lengths"]
            if not (np.isfinite(lengths).all() and (lengths > 0).all()):
                stored.refuse("lengths", "some are not finite and greater than 0")
        if "in_indptr" in stored and "in_indices" in stored:
            into = InLists.of_stored(stored, size)
        return cls(arrays, labels, hubs, lengths=lengths, into=into)

    def index_hubs(self, count: int = 256, *, progress: bool = False) -> None:
        """Compute the distances of all vertices from those of highest degree.

        This makes distances fast on a graph with hubs. It takes a byte per hub and vertex,
        and is saved with the graph. A graph so wide that a vertex is over 60 edges from a
        hub keeps the plain search.

        Parameters
        ----------
        count
            Hubs; no more than there are vertices.
        progress
            Whether to show a progress bar.
        """
        if self.lengths is not None:
            raise ProblemError(
                "index_hubs: the hub index counts edges, and these have lengths; distances are "
                "found without one."
            )
        count = min(checked_whole("count", count, low=1), len(self))
        a = self.arrays
        self._hubs = HubIndex.build(a.indptr, a.indices, count, progress) if count else None

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

    @property
    def directed(self) -> bool:
        """Whether the graph knows the direction of its edges."""
        return self._into is not None

    @cached_property
    def in_degree(self) -> NDArray[np.int32]:
        """**Shape:** (n,), int32: the edges that lead to each of :attr:`vertices`.

        All that a vertex has, in an undirected graph.
        """
        if self._into is None:
            return self.degree
        return read_only(self._into.in_degree.astype(np.int32)[self.arrays.inner])

    @property
    def labels(self) -> Sequence[str] | None:
        """The names of :attr:`vertices`, empty where unknown; None without any."""
        return self._labels

    def rows(self, vertices: ArrayLike) -> NDArray[np.int64]:
        """Return the indices of some vertices in :attr:`vertices`.

        Raises
        ------
        ProblemError
            If one is not in the graph.
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
        """Return where vertices are, if they are in the graph, and whether they are."""
        ids = self.arrays.ids
        if not len(ids):
            return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
        places = self.arrays.places(wanted)
        return places, ids[places] == wanted

    def neighbours(self, vertex: int) -> NDArray[np.int64]:
        """Return the ids of a vertex' neighbours, ascending."""
        a = self.arrays
        inner = a.inner[self.rows([vertex])[0]]
        return np.sort(self.arrays.outer[a.indices[a.indptr[inner] : a.indptr[inner + 1]]])

    def pagerank(self, damping: float = 0.85, tolerance: float = 1e-10) -> NDArray[np.float64]:
        """**Shape:** (n,): the PageRank of :attr:`vertices`, which sums to 1.

        Along the direction of edges where they have one; whatever their lengths.

        Parameters
        ----------
        damping
            The probability of following an edge.
        tolerance
            The change in one iteration, summed over all vertices, at which it stops.
        """
        if not 0 <= damping < 1:
            raise ProblemError(f"damping: must be at least 0 and below 1; got {damping!r}.")
        if not tolerance > 0:
            raise ProblemError(f"tolerance: must be greater than 0; got {tolerance!r}.")
        if not len(self):
            return np.empty(0)
        kind = float(damping), float(tolerance)
        if kind not in self._page_ranks:
            into = self._into or InLists(self.arrays.indptr, self.arrays.indices)
            self._page_ranks[kind] = read_only(into.page_rank(*kind)[self.arrays.inner])
        return self._page_ranks[kind]

    def with_edges(self, edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return adjacency lists, as indptr and indices, of this graph and more edges.

        `edges` are pairs of ids; the lists are of the inner numbers.
        """
        ends = self.arrays.inner[self.rows(edges.ravel())]
        return self.arrays.joined(ends.reshape(-1, 2))

    # --- distances --------------------------------------------------------------

    def distances(self, vertices: ArrayLike) -> NDArray[Any]:
        """**Shape:** (v, v): the distances among vertices, in the order given.

        By the hub index where there is one; else by searches from 64 vertices at once.

        Parameters
        ----------
        vertices
            Ids, with or without repeats.

        Returns
        -------
        The numbers of edges in int32, or the lengths of paths in float64 where edges have
        lengths; -1 where there is no path. A
        ``RepresentativesProblem`` takes floats for costs, whatever their sign: make it by
        ``from_graph``, which says what a pair without a path costs.
        """
        inner = self.arrays.inner[self.rows(vertices)]
        refuse_beyond_memory(
            "vertices",
            f"the distances among {len(inner)} vertices",
            8 * len(inner) ** 2,
            "give fewer",
        )
        if self.lengths is not None:
            return shortest_paths(self.arrays, self.lengths, inner)
        return distances_among(self.arrays, self._hubs, inner)

    def hitting(self, sets: Sequence[ArrayLike]) -> list[NDArray[Any]]:
        """Return the distance of every vertex of every set to every set.

        Parameters
        ----------
        sets
            `k` arrays of ids.

        Returns
        -------
        For each set an array of shape (its size, k), as of :meth:`distances`: how far it is to the
        nearest vertex of each set, -1 where there is no path. To its own set it is 0.
        """
        rows = [self.rows(members) for members in sets]
        for i, members in enumerate(rows):
            if not len(members):
                raise ProblemError(f"sets[{i}]: is empty; leave it out.")
        inner = [self.arrays.inner[members] for members in rows]
        if self.lengths is not None and inner:
            return nearest_of_sets(self.arrays, self.lengths, inner)
        return hitting_distances_of(self.arrays, self._hubs, inner) if inner else []
