"""The hitting-distance heuristic, and the bound that comes with it."""

from __future__ import annotations

from dataclasses import dataclass

from ....budget import UNLIMITED, Budget
from ..problem import RepresentativesDecoder, RepresentativesProblem, RepresentativesSolution
from .bounds import certified, half_hitting_bound, hitting_distances

__all__ = ["HittingDistance"]


@dataclass(frozen=True)
class HittingDistance(RepresentativesDecoder):
    r"""Choose in each set the candidate that is nearest to the other sets on average.

    The distance of a candidate to a set is that to the nearest vertex of it. Each
    candidate costs :math:`\mathrm{local}(x) + \frac{w}{k-1} \sum_j d(x, X_j)`.

    Parameters
    ----------
    seed
        Of the order of vertices that breaks ties.

    Notes
    -----
    The certificate has a bound: every choice pays at least half of each chosen
    candidate's hitting distances.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 5.2.

    Examples
    --------
    >>> problem = RepresentativesProblem([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[2, 0], [1]])
    >>> HittingDistance().decode(problem).choices.tolist()
    [1, 0]
    """

    seed: int = 0

    def decode(
        self, problem: RepresentativesProblem, *, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Choose for each set apart."""
        nearest = hitting_distances(problem)
        costs = problem.local_costs + problem.pair_weight * nearest.sum(axis=0)
        choices = problem.cheapest(costs, self.seed)
        bound = half_hitting_bound(problem, nearest)
        certificate = certified("HittingDistance", problem, choices, bound)
        return RepresentativesSolution.of(problem, choices, certificate)
