"""The exact linear-time algorithm for sets that are separated by bridges."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, triu
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ....budget import Clock
from ....errors import NotDecomposableError
from ....graph import ConceptGraph
from ..costs import rounded_down
from ..decoder import RepresentativesDecoder
from ..problem import RepresentativesProblem
from ..solutions import RepresentativesSolution, certificate_of

__all__ = ["Decomposable"]


@dataclass(frozen=True)
class Decomposable(RepresentativesDecoder):
    r"""Solve exactly if the sets are separated by bridges, in time linear in the graph.

    Two conditions must hold: every set induces a connected subgraph, and no two sets have
    vertices in one component of the graph without its bridges. Then every path between two sets
    leaves each of them over a fixed bridge, and the cost decomposes into one term for each
    set: the distances of its candidates to the near ends of the bridges around it, each times
    the number of sets beyond.

    The problem must be made by ``from_graph``; `decode` raises `NotDecomposableError` if a set is
    not connected, or two sets share a component without bridges.

    Parameters
    ----------
    seed
        Seed of the order of vertices that breaks ties.

    Notes
    -----
    The certificate's bound is a dual bound computed from the distances alone, not from the
    bridges; it is tight wherever the cost decomposes.

    The printed algorithm recurses over one bridge at a time; here all are cut at once. A
    candidate's distance to the bridge towards a set is its distance to any vertex of the set
    less a constant (lemma 1), so the distances to one vertex of each other set suffice.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 4, theorem 1, algorithms 1 to 3.
    """

    seed: int = 0

    def _solve(self, problem: RepresentativesProblem, clock: Clock) -> RepresentativesSolution:
        graph = problem.graph_for("Decomposable")
        _check_hypotheses(problem, graph)
        costs = problem.local_costs + problem.pair_weight * _beyond(problem)
        choices = problem.cheapest(costs, self.seed)
        positions, bound = problem.offsets[:-1] + choices, _bound(problem, choices)
        certificate = certificate_of("Decomposable", problem, positions, bound, iterations=1)
        # where the cost decomposes, changing one set changes no other's best choice
        exact = certificate.is_optimal
        return RepresentativesSolution.of(problem, choices, certificate, exact=exact)


def _beyond(problem: RepresentativesProblem) -> NDArray[np.float64]:
    """**Shape:** (n,): each candidate's distances to the other sets, summed.

    For each of them they are counted from that of the nearest candidate of the same set.
    """
    if not problem.size:
        return np.empty(0)
    towards = problem.distances_to(np.zeros(problem.size, dtype=np.int64))
    nearest = np.minimum.reduceat(towards, problem.offsets[:-1])
    counted = towards - nearest.repeat(np.diff(problem.offsets), axis=0)
    return counted.sum(axis=1)


def _bound(problem: RepresentativesProblem, choices: NDArray[Any]) -> float:
    """Return a lower bound on the cost of every choice: a dual bound from the given choices.

    The potentials of a candidate are its distances to the given choices of the other sets. Where
    every path between two sets leaves each of them over one vertex, the reduced cost is the same
    for all pairs of their candidates, and the bound is the least cost itself.
    """
    if not problem.size:
        return 0.0
    towards, allowed = problem.distances_to(choices), problem.allowed
    weight = problem.pair_weight
    costs = problem.local_costs + weight * towards.sum(axis=1)
    magnitudes = np.abs(problem.local_costs) + weight * np.abs(towards).sum(axis=1)
    lowered = np.full(len(costs), np.inf)
    lowered[allowed] = rounded_down(costs[allowed], magnitudes[allowed], problem.size + 1)
    parts = np.minimum.reduceat(lowered, problem.offsets[:-1]).tolist()
    spans = [slice(*span) for span in pairwise(problem.offsets.tolist())]
    for i, first in enumerate(spans):
        for j in range(i + 1, problem.size):
            given = towards[first, j][:, None], towards[spans[j], i][None, :]
            block = problem.distances[np.ix_(problem.sets[i], problem.sets[j])]
            sizes = np.abs(block) + np.abs(given[0]) + np.abs(given[1])
            least = rounded_down(block - given[0] - given[1], sizes, 3)
            allowed_pairs = allowed[first][:, None] & allowed[spans[j]][None, :]
            parts.append(weight * float(least[allowed_pairs].min()))
    return rounded_down(math.fsum(parts), math.fsum(map(abs, parts)), 1)


def _check_hypotheses(problem: RepresentativesProblem, graph: ConceptGraph) -> None:
    """Raise an error that names a set that is not connected, or two that share a component."""
    arrays, size = graph.arrays, len(graph)
    inner = arrays.inner[graph.rows(problem.vertices)]
    edges = [np.stack([np.arange(size).repeat(np.diff(arrays.indptr)), arrays.indices])]
    if problem.connection is not None:
        for rows in problem.sets:
            joined = np.argwhere(problem.distances[np.ix_(rows, rows)] == 1)
            edges.append(inner[rows][joined].T)
    tails, heads = np.concatenate(edges, axis=1)
    adjacent = csr_matrix((np.ones(len(tails), bool), (tails, heads)), (size, size))
    set_of = np.full(size, -1)
    for i, rows in enumerate(problem.sets):
        members = np.unique(inner[rows])
        if (set_of[members] >= 0).any():
            raise NotDecomposableError(
                f"sets: set {i} shares a vertex with an earlier set; use another decoder."
            )
        set_of[members] = i
        if connected_components(adjacent[members][:, members], directed=False)[0] > 1:
            raise NotDecomposableError(
                f"sets: set {i} does not induce a connected subgraph; connect it with "
                "connection='maximal' or 'minimal'."
            )
    above = _bridges(adjacent)
    bridge = (above[tails] == heads) | (above[heads] == tails)
    within = (set_of[tails] == set_of[heads]) & (set_of[tails] >= 0)  # such bridges are kept
    kept = np.stack([tails, heads])[:, ~bridge | within]
    parts = csr_matrix((np.ones(kept.shape[1], bool), tuple(kept)), (size, size))
    label = connected_components(parts, directed=False)[1]
    pairs = np.unique(np.stack([label, set_of])[:, set_of >= 0], axis=1)
    shared = np.flatnonzero(pairs[0, 1:] == pairs[0, :-1])
    if len(shared):
        first, second = pairs[1, shared[0] :][:2].tolist()
        raise NotDecomposableError(
            f"sets: no bridge separates sets {first} and {second}; use another decoder."
        )


def _bridges(adjacent: Any) -> NDArray[np.int64]:
    """**Shape:** (n + 1,): the parent of each vertex if the edge to it is a bridge, else -1.

    An edge of a breadth-first tree is a bridge if no other edge leaves the subtree below it. Each
    other edge draws 64 random bits, which cancel by XOR if both of its ends are in the subtree.
    """
    size = adjacent.shape[0]
    _, part = connected_components(adjacent, directed=False)
    roots = np.unique(part, return_index=True)[1]
    tails, heads = triu(adjacent, 1).nonzero()
    # an extra vertex joins the components
    tails, heads = np.append(tails, roots), np.append(heads, np.full(len(roots), size))
    whole = csr_matrix((np.ones(len(tails), bool), (tails, heads)), (size + 1, size + 1))
    order, above = breadth_first_order(whole, size, directed=False)
    drawn = np.random.default_rng(0).integers(2**63, size=len(tails))
    drawn[(above[tails] == heads) | (above[heads] == tails)] = 0
    leading = np.zeros(size + 1, dtype=np.int64)
    np.bitwise_xor.at(leading, tails, drawn)
    np.bitwise_xor.at(leading, heads, drawn)
    out, parents = leading.tolist(), above.tolist()
    for vertex in order[:0:-1].tolist():
        out[parents[vertex]] ^= out[vertex]
    return np.where(np.array(out) == 0, above, -1)
