"""The spanning-tree heuristic: make the problem decomposable by force."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components, shortest_path

from ....arrays import read_only
from ....budget import UNLIMITED, Budget
from ....certificate import Certificate
from ..problem import RepresentativesDecoder, RepresentativesProblem, RepresentativesSolution

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
        graph = problem.graph_for("SpanningTree")
        keys = problem.keys(self.seed)
        costs = problem.local_costs.copy()
        if problem.size:
            costs += problem.pair_weight * _tree_distances(problem, graph, keys)
        choices = problem.cheapest(costs, self.seed)
        certificate = Certificate.heuristic("SpanningTree", problem.cost(choices), iterations=1)
        return RepresentativesSolution.of(problem, choices, certificate)


class _Link(NamedTuple):
    """The tree's path to a class: from which class, and over which vertices of the two."""

    node: int
    above: int
    inside: int
    outer: int


def _tree_distances(
    problem: RepresentativesProblem, graph: ConceptGraph, keys: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """**Shape:** (n,): from each candidate to the exits of its class, times the sets beyond."""
    class_of_set, rows, starts = _classes(problem)
    inner = graph.arrays.inner[graph.rows(problem.ids(rows))]
    links = _links(graph, inner, starts, _by_key(problem, class_of_set, keys))
    row_of = dict(zip(inner.tolist(), rows.tolist(), strict=True))
    below = np.bincount(class_of_set)
    for link in reversed(links):
        below[link.above] += below[link.node]
    classes = [rows[first:last] for first, last in pairwise(starts.tolist())]
    within = [_within(problem, members) for members in classes]
    whole, sums = below.copy(), np.zeros(len(problem.members))
    for link in links:
        whole[link.node] = whole[link.above]
        beyond = whole[link.node] - below[link.node]
        exits = (
            (link.node, link.inside, beyond),
            (link.above, link.outer, below[link.node]),
        )
        for c, vertex, others in exits:
            towards = within[c][np.searchsorted(classes[c], row_of[vertex])]
            for i in np.flatnonzero(class_of_set == c).tolist():
                span = slice(problem.offsets[i], problem.offsets[i + 1])
                sums[span] += others * towards[np.searchsorted(classes[c], problem.sets[i])]
    return sums


def _links(
    graph: ConceptGraph,
    inner: NDArray[np.int32],
    starts: NDArray[np.int64],
    begin: NDArray[np.int64],
) -> list[_Link]:
    """Return the links of a breadth-first tree of the graph in which each class is one node.

    Parameters
    ----------
    inner, starts
        The vertices of class c are ``inner[starts[c]:starts[c + 1]]``.
    begin
        Classes, in the order in which trees are begun.

    Returns
    -------
    In the order of visits: a class comes after the one above it.
    """
    indptr, indices, count = graph.arrays.indptr, graph.arrays.indices, len(starts) - 1
    node_of = np.arange(count, count + len(graph))
    node_of[inner] = np.repeat(np.arange(count), np.diff(starts))
    edges = node_of.repeat(np.diff(indptr)), node_of[indices]
    quotient = csr_matrix((np.ones(len(indices)), edges), (count + len(graph),) * 2)

    def edge(c: int, node: int) -> tuple[int, int]:
        """Return the ends of an edge from a vertex of class c to a node beside it."""
        for vertex in inner[starts[c] : starts[c + 1]].tolist():
            near = indices[indptr[vertex] : indptr[vertex + 1]]
            found = near[node_of[near] == node]
            if len(found):
                return vertex, int(found[0])
        raise AssertionError(f"class {c} is not beside node {node}.")

    links: list[_Link] = []
    reached: set[int] = set()
    for root in begin.tolist():
        if root in reached:
            continue
        order, before = breadth_first_order(quotient, root)
        classes = order[order < count].tolist()
        reached.update(classes)
        for c in classes[1:]:
            path = [c, int(before[c])]
            while path[-1] >= count:
                path.append(int(before[path[-1]]))
            inside, outer = edge(c, path[1])
            if len(path) > 2:
                outer, _ = edge(path[-1], path[-2])
            links.append(_Link(c, path[-1], inside, outer))
    return links


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
