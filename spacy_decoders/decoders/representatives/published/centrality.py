"""Choosing the most central vertex of each set, whatever the others are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..problem import RepresentativesProblem
from .heuristic import SeededHeuristic

if TYPE_CHECKING:
    from ....graph import ConceptGraph

__all__ = ["Degree", "PageRank"]


@dataclass(frozen=True)
class _Central(SeededHeuristic):
    """Choose the vertex of each set that has the highest score in the graph."""

    def _choose(self, problem: RepresentativesProblem) -> NDArray[np.int64]:
        graph = problem.graph_for(type(self).__name__)
        scores = self._scores(graph)[graph.rows(problem.ids(problem.members))]
        return problem.cheapest(-scores.astype(np.float64), self.seed)

    @abstractmethod
    def _scores(self, graph: ConceptGraph) -> NDArray[Any]:
        """**Shape:** (vertices of the graph,)."""


@dataclass(frozen=True)
class Degree(_Central):
    """Choose the vertex of highest degree in each set.

    The degrees are those of the graph as it is, whatever the connection of the sets.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 6.
    """

    def _scores(self, graph: ConceptGraph) -> NDArray[Any]:
        return graph.degree


@dataclass(frozen=True)
class PageRank(_Central):
    """Choose the vertex of highest PageRank in each set.

    It is that of the graph as it is, whatever the connection of the sets; the graph keeps
    it once it has been computed.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 6.
    """

    def _scores(self, graph: ConceptGraph) -> NDArray[Any]:
        return graph.pagerank()
