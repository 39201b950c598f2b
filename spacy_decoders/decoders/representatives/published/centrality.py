"""Choosing the most central vertex of each set, independently of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....budget import Clock
from ..problem import RepresentativesProblem
from .heuristic import SeededHeuristic

if TYPE_CHECKING:
    from ....graph import ConceptGraph

__all__ = ["Degree", "PageRank"]


@dataclass(frozen=True)
class Degree(SeededHeuristic):
    """Choose the vertex of highest degree in each set.

    The degrees are those of the graph itself, whatever the connection of the sets.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 6.
    """

    def _choose(self, problem: RepresentativesProblem, clock: Clock) -> NDArray[np.int64]:
        graph = problem.graph_for("Degree")
        return _highest(problem, graph, graph.degree, self.seed)


@dataclass(frozen=True)
class PageRank(SeededHeuristic):
    """Choose the vertex of highest PageRank in each set.

    It is computed on the graph itself, whatever the connection of the sets, and cached there.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 6.
    """

    def _choose(self, problem: RepresentativesProblem, clock: Clock) -> NDArray[np.int64]:
        graph = problem.graph_for("PageRank")
        return _highest(problem, graph, graph.pagerank(), self.seed)


def _highest(
    problem: RepresentativesProblem, graph: ConceptGraph, scores: NDArray[Any], seed: int
) -> NDArray[np.int64]:
    """The choice of the vertex of highest score in each set. **Shape:** ``(k,)``"""
    rows = graph.rows(problem.vertices[problem.members])
    return problem.cheapest(-scores[rows].astype(np.float64), seed)
