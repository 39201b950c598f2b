"""The exact linear algorithm for sets that bridges keep apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....budget import UNLIMITED, Budget
from ....errors import NotDecomposableError
from ..connections import joined_pairs
from ..problem import RepresentativesProblem
from ..solutions import RepresentativesDecoder, RepresentativesSolution, conditional_margins
from ..ties import cheapest
from .bounds import bound_beside, certified
from .centrality import graph_of
from .kernels.decomposition import parts_without_bridges

__all__ = ["Decomposable"]


@dataclass(frozen=True)
class Decomposable(RepresentativesDecoder):
    r"""Solve exactly where bridges keep the sets apart, in time linear in the graph.

    Two conditions: every set induces a connected subgraph, and no two sets have vertices
    in one component of the graph without its bridges. Then every path between two sets
    leaves each of them over a fixed bridge, and the cost falls apart into one term for each
    set: the distances of its candidates to the near ends of the bridges around it, each times
    the number of sets beyond.

    Parameters
    ----------
    seed
        Of the order of vertices that breaks ties.

    Notes
    -----
    The certificate's bound is computed from the distances alone, not from the bridges: a dual
    that is the least cost wherever the cost falls apart (see `bound_beside`).

    The printed algorithm recurses over one bridge at a time; here all are cut at once, by one
    depth-first search without recursion. A candidate's distance to the bridge towards a set is
    that to any vertex of the set, less what is the same for all candidates (lemma 1), so the
    distances to one vertex of each other set decide.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 4, theorem 1, algorithms 1 to 3.
    """

    seed: int = 0

    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Return the cheapest choice; needs a problem made by ``from_graph``.

        Raises
        ------
        NotDecomposableError
            If a set is not connected, or two sets share a component without bridges.
        """
        graph = graph_of("Decomposable", problem)
        arrays = graph.arrays
        members = arrays.inner[graph.rows(problem.ids(problem.members))]
        sets = np.split(members, problem.offsets[1:-1]) if problem.size else []
        indptr, indices = arrays.indptr, arrays.indices
        if problem.connection is not None:
            vertices = problem.vertices
            assert vertices is not None
            distances, degrees = graph.distances(vertices), graph.degree[graph.rows(vertices)]
            pairs = joined_pairs(distances, problem.sets, problem.connection, degrees)
            indptr, indices = graph.with_edges(problem.ids(pairs))
        _check_hypotheses(indptr, indices, sets)
        costs = problem.local_costs + problem.pair_weight * _beyond(problem)
        choices = cheapest(problem.offsets, problem.allowed, costs, problem.keys(self.seed))
        bound = bound_beside(problem, choices)
        certificate = certified("Decomposable", problem, choices, bound)
        margins = conditional_margins(problem, choices)
        # where the cost falls apart, the others need not answer a change
        exact = np.isposinf(margins) | certificate.is_optimal
        return RepresentativesSolution.of(problem, choices, certificate, margins, exact)


def _beyond(problem: RepresentativesProblem) -> NDArray[np.float64]:
    """**Shape:** (n,): what each candidate adds to the sum of distances to the other sets.

    It is counted from the nearest of its set, for each of the other sets apart.
    """
    if not problem.size:
        return np.empty(0)
    towards = problem.distances_to(np.zeros(problem.size, dtype=np.int64))
    nearest = np.minimum.reduceat(towards, problem.offsets[:-1])
    counted = towards - nearest.repeat(np.diff(problem.offsets), axis=0)
    beyond: NDArray[np.float64] = counted.sum(axis=1)
    return beyond


def _check_hypotheses(
    indptr: NDArray[Any], indices: NDArray[Any], sets: list[NDArray[np.int32]]
) -> None:
    """Raise an error that says which set is not connected, or shares a part with another."""
    set_of = np.full(len(indptr) - 1, -1, dtype=np.int32)
    for i, members in enumerate(sets):
        if (set_of[members] >= 0).any():
            raise NotDecomposableError(f"sets: {i} shares a vertex with an earlier set.")
        set_of[members] = i
    part = parts_without_bridges(indptr, indices, set_of)
    owner: dict[int, int] = {}
    for i, members in enumerate(sets):
        if not _connected(indptr, indices, members):
            raise NotDecomposableError(
                f"sets: {i} does not induce a connected subgraph; connect it by "
                "connection='maximal' or 'minimal'."
            )
        other = owner.setdefault(int(part[members[0]]), i)
        if other != i:
            raise NotDecomposableError(
                f"sets: no bridge lies between {other} and {i}; use another decoder."
            )


def _connected(indptr: NDArray[Any], indices: NDArray[Any], members: NDArray[np.int32]) -> bool:
    inside = set(members.tolist())
    reached = {int(members[0])}
    stack = list(reached)
    while stack:
        v = stack.pop()
        fresh = inside.intersection(indices[indptr[v] : indptr[v + 1]].tolist()) - reached
        reached |= fresh
        stack.extend(fresh)
    return reached == inside
