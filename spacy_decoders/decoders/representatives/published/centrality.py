"""Choosing the most central vertex of each set, whatever the others are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....budget import UNLIMITED, Budget
from ....certificate import Certificate
from ..problem import RepresentativesDecoder, RepresentativesProblem, RepresentativesSolution

if TYPE_CHECKING:
    from ....graph import ConceptGraph

__all__ = ["Degree", "PageRank"]


@dataclass(frozen=True)
class _Central(RepresentativesDecoder):
    """Choose the vertex of each set that has the highest score in the graph."""

    seed: int = 0

    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Choose for each set apart; needs a problem made by ``from_graph``."""
        name = type(self).__name__
        graph = problem.graph_for(name)
        scores = self._scores(graph)[graph.rows(problem.ids(problem.members))]
        choices = problem.cheapest(-scores.astype(np.float64), self.seed)
        certificate = Certificate.heuristic(name, problem.cost(choices), iterations=1)
        return RepresentativesSolution.of(problem, choices, certificate)

    @abstractmethod
    def _scores(self, graph: ConceptGraph) -> NDArray[Any]:
        """**Shape:** (vertices of the graph,)."""


@dataclass(frozen=True)
class Degree(_Central):
    """Choose the vertex of highest degree in each set.

    The degrees are those of the graph as it is, whatever the connection of the sets.

    Parameters
    ----------
    seed
        Of the order of vertices that breaks ties.

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

    Parameters
    ----------
    seed
        Of the order of vertices that breaks ties.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 6.
    """

    def _scores(self, graph: ConceptGraph) -> NDArray[Any]:
        return graph.pagerank()
