"""The spanning-tree heuristic: remove edges until the problem is decomposable."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ....arrays import Floats, Integers, Integers32
from ....budget import Clock
from ....graph import ConceptGraph
from ..problem import RepresentativesProblem
from .heuristic import SeededHeuristic

__all__ = ["SpanningTree"]


@dataclass(frozen=True)
class SpanningTree(SeededHeuristic):
    """Keep only a breadth-first tree of the edges between sets, and solve that exactly.

    Each set is contracted to one node; sets that overlap are merged first. The tree is grown
    from a set drawn by the seed. In the graph that keeps only the tree's edges, and those within
    the sets, every path from a set leaves it at a fixed vertex, so each candidate costs its
    distances, in that graph, to any one vertex of each other set.

    Parameters
    ----------
    seed
        Seed of the root of the tree and of the order of vertices that breaks ties.

    Notes
    -----
    The edges within a set are those of the subgraph that it induces, after its connection. Pairs
    that stay disconnected cost the distances of the problem. Merged sets choose independently of
    each other.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 5.1.
    """

    def _choose(self, problem: RepresentativesProblem, clock: Clock) -> Integers:
        graph = problem.graph_for("SpanningTree")
        costs = problem.local_costs.copy()
        if problem.size:
            costs += problem.pair_weight * _tree_distances(problem, graph, self.seed)
        return problem.cheapest(costs, self.seed)


def _tree_distances(problem: RepresentativesProblem, graph: ConceptGraph, seed: int) -> Floats:
    """**Shape:** (n,): each candidate's distances in the tree, summed over the sets.

    To each set of another class, the distance is that to its candidate of the least key.
    """
    class_of_set, class_of_row = _classes(problem)
    keys, own = problem.keys(seed), problem.own_set
    firsts = np.lexsort((keys, own))[problem.offsets[:-1]]
    least = keys[firsts]
    roots = class_of_set[np.argsort(least, kind="stable")]
    inner = graph.arrays.inner[graph.rows(problem.vertices)]
    within = np.argwhere(
        (problem.distances == 1) & (class_of_row[:, None] == class_of_row[None, :])
    )
    edges = np.concatenate([_tree(graph, inner, class_of_row, roots), inner[within]])
    tree = ConceptGraph.from_edges(edges, vertices=inner)
    among = tree.distances(inner)
    among = np.where(among < 0, problem.distances, among)
    members = problem.members
    towards = among[np.ix_(members, members[firsts])]
    return np.where(class_of_set[own][:, None] == class_of_set, 0.0, towards).sum(axis=1)


def _classes(problem: RepresentativesProblem) -> tuple[Integers, Integers]:
    """Merge sets that overlap: the class of each set, and of each row, -1 if in no set."""
    sets, size = problem.size, problem.size + len(problem.distances)
    own = np.repeat(np.arange(sets), np.diff(problem.offsets))
    # a bipartite graph of sets and rows
    ones = np.ones(len(own), dtype=np.int8)
    membership = csr_matrix((ones, (own, sets + problem.members)), (size, size))
    count, label = connected_components(membership, directed=False)
    numbers = np.full(count, -1)
    classes = np.unique(label[:sets])
    numbers[classes] = np.arange(len(classes))
    return numbers[label[:sets]], numbers[label[sets:]]


def _tree(
    graph: ConceptGraph, inner: Integers32, class_of_row: Integers, roots: Integers
) -> NDArray[Any]:
    """**Shape:** (m, 2): the edges of a breadth-first tree, as inner vertex numbers.

    It is a tree of the graph in which each class is contracted to one node, without the branches
    that lead to no class. `inner` has the inner numbers of the rows, and `roots` the classes in
    the order in which trees are grown from them.
    """
    indptr, indices = graph.arrays.indptr, graph.arrays.indices
    count = int(class_of_row.max()) + 1
    node_of = np.arange(count, count + len(graph))
    node_of[inner[class_of_row >= 0]] = class_of_row[class_of_row >= 0]
    tails = np.arange(len(graph), dtype=indices.dtype).repeat(np.diff(indptr))
    first, second = node_of[tails], node_of[indices]
    quotient = csr_matrix((np.ones(len(indices)), (first, second)), (count + len(graph),) * 2)
    above = np.full(count + len(graph), -1)
    reached = np.zeros(len(above), dtype=bool)
    for root in roots.tolist():
        if not reached[root]:
            order, before = breadth_first_order(quotient, root)
            reached[order] = True
            above[order[1:]] = before[order[1:]]
    wanted = np.zeros(len(above), dtype=bool)  # the classes and their ancestors
    for node in range(count):
        while node >= 0 and not wanted[node]:
            wanted[node] = True
            node = above[node]
    kept = np.flatnonzero(wanted[first] & (above[first] == second))
    # one edge for each pair of nodes, the first
    kept = kept[np.unique(first[kept], return_index=True)[1]]
    return np.stack([tails[kept], indices[kept]], axis=1)
