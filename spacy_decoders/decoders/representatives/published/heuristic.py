"""The base class of the paper's heuristics: a seed, one pass, no proof."""

from abc import abstractmethod
from dataclasses import dataclass

from ....arrays import Integers, checked_whole
from ....budget import Clock
from ....certificate import Certificate
from ..decoder import RepresentativesDecoder
from ..problem import RepresentativesProblem
from ..solutions import RepresentativesSolution

__all__ = ["SeededHeuristic"]


@dataclass(frozen=True)
class SeededHeuristic(RepresentativesDecoder):
    """A decoder that chooses in one pass, with a heuristic certificate.

    Only `HittingDistance` observes the budget.
    """

    #: Seed of the order of vertices that breaks ties.
    seed: int = 0

    def __post_init__(self) -> None:
        checked_whole("seed", self.seed, low=0)

    def _solve(self, problem: RepresentativesProblem, clock: Clock) -> RepresentativesSolution:
        choices = self._choose(problem, clock)
        cost = problem.cost(choices)
        certificate = Certificate.heuristic(type(self).__name__, cost, iterations=1)
        return RepresentativesSolution.of(problem, choices, certificate)

    @abstractmethod
    def _choose(self, problem: RepresentativesProblem, clock: Clock) -> Integers:
        """Return an index into each set. **Shape:** ``(k,)``"""
