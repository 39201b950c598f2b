"""The spanning-tree heuristic: make the problem decomposable by force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, shortest_path

from ....arrays import read_only
from ....budget import UNLIMITED, Budget
from ....certificate import Certificate
from ..problem import RepresentativesProblem
from ..solutions import RepresentativesDecoder, RepresentativesSolution
from ..ties import cheapest
from .centrality import graph_of
from .kernels.decomposition import quotient_tree

if TYPE_CHECKING:
    from ....graph import ConceptGraph

__all__ = ["SpanningTree"]


@dataclass(frozen=True)
class SpanningTree(RepresentativesDecoder):
    """Keep of the edges between sets only a breadth-first tree, and solve that exactly.

    All vertices of a set are taken as one; sets that overlap are merged first. A tree over
    these is built from a set that the seed draws. In the graph that keeps only the tree's
    edges, and those within the sets, every path from a set leaves it at fixed vertices:
    each candidate costs its distances to them, times the numbers of sets beyond.

    Parameters
    ----------
    seed
        Of the root of the tree and of the order of vertices that breaks ties.

    Notes
    -----
    Inside a set, distances are those of the subgraph that it induces, after its
    connection; where that is not connected, those of the problem. For merged sets the
    weights count the sets before merging, since each of them chooses a vertex.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 5.1.
    """

    seed: int = 0

    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Choose along the tree; needs a problem made by ``from_graph``."""
        graph = graph_of("SpanningTree", problem)
        keys = problem.keys(self.seed)
        costs = problem.local_costs.copy()
        if problem.size:
            costs += problem.pair_weight * _tree_distances(problem, graph, keys)
        choices = cheapest(problem.offsets, problem.allowed, costs, keys)
        certificate = Certificate.heuristic("SpanningTree", problem.cost(choices), iterations=1)
        return RepresentativesSolution.of(problem, choices, certificate)


class _Exit(NamedTuple):
    """Where paths leave a class of sets: over which of its rows, and to how many sets."""

    of_class: int
    row: int
    beyond: int


def _tree_distances(
    problem: RepresentativesProblem, graph: ConceptGraph, keys: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """**Shape:** (n,): from each candidate to the exits of its class, times the sets beyond."""
    class_of_set, rows, starts = _classes(problem)
    exits = _exits(
        graph, problem, class_of_set, rows, starts, _by_key(problem, class_of_set, keys)
    )
    within = {
        c: _within(problem, rows[starts[c] : starts[c + 1]])
        for c in {one.of_class for one in exits}
    }
    sums = np.zeros(len(problem.members))
    for c, row, beyond in exits:
        members = rows[starts[c] : starts[c + 1]]
        towards = within[c][np.searchsorted(members, row)]
        for i in np.flatnonzero(class_of_set == c).tolist():
            span = slice(problem.offsets[i], problem.offsets[i + 1])
            sums[span] += beyond * towards[np.searchsorted(members, problem.sets[i])]
    return sums


def _exits(
    graph: ConceptGraph,
    problem: RepresentativesProblem,
    class_of_set: NDArray[np.int64],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    begin: NDArray[np.int64],
) -> list[_Exit]:
    """Return the ends of the tree's edges, towards the root and away from it."""
    arrays = graph.arrays
    inner = arrays.inner[graph.rows(problem.ids(rows))]
    class_of = np.full(len(graph), -1, dtype=np.int32)
    class_of[inner] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    outer, inside, order = quotient_tree(
        arrays.indptr, arrays.indices, class_of, starts, inner, begin
    )
    row_of = dict(zip(inner.tolist(), rows.tolist(), strict=True))
    above = np.where(outer >= 0, class_of[outer], -1).tolist()
    below = np.bincount(class_of_set)
    for c in reversed(order.tolist()):
        if above[c] >= 0:
            below[above[c]] += below[c]
    beside, exits = below.copy(), []
    for c in order.tolist():
        if above[c] >= 0:
            beside[c] = beside[above[c]]
            exits.append(_Exit(c, row_of[int(inside[c])], int(beside[c] - below[c])))
            exits.append(_Exit(above[c], row_of[int(outer[c])], int(below[c])))
    return exits


def _classes(
    problem: RepresentativesProblem,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Merge sets that overlap: the class of each set, and the sorted rows of each class."""
    size = len(problem.distances)
    own = np.repeat(np.arange(problem.size), np.diff(problem.offsets))
    # sets and rows as the two sides of a graph
    ones = np.ones(len(own), dtype=np.int8)
    total = problem.size + size
    membership = csr_matrix((ones, (own, problem.size + problem.members)), (total, total))
    _, label = connected_components(membership, directed=False)
    _, class_of_set = np.unique(label[: problem.size], return_inverse=True)
    class_of_set = class_of_set.reshape(-1)
    pairs = np.unique(np.stack([class_of_set[own], problem.members], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(class_of_set.max() + 2))
    return class_of_set, pairs[:, 1], starts.astype(np.int64)


def _by_key(
    problem: RepresentativesProblem, class_of_set: NDArray[np.int64], keys: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the classes in the order of their least tie keys."""
    least = np.minimum.reduceat(keys, problem.offsets[:-1])
    order = class_of_set[np.argsort(least, kind="stable")]
    _, first = np.unique(order, return_index=True)
    return order[np.sort(first)]


def _within(problem: RepresentativesProblem, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """**Shape:** (m, m): distances in the subgraph that rows induce."""
    among = problem.distances[np.ix_(rows, rows)].astype(np.float64)
    np.fill_diagonal(among, 0.0)
    induced = shortest_path(np.where(among == 1, 1.0, 0.0), unweighted=True, directed=False)
    return read_only(np.where(np.isfinite(induced), induced, among))
