"""The hitting-distance heuristic, and the bound that comes with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from .problem import RepresentativesProblem, RepresentativesSolution
from .ties import first_least

__all__ = ["HittingDistance", "half_hitting_bound", "hitting_sums"]


@dataclass(frozen=True)
class HittingDistance:
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
        self, problem: RepresentativesProblem, budget: Budget = UNLIMITED
    ) -> RepresentativesSolution:
        """Choose for each set apart."""
        costs = problem.local_costs + problem.pair_weight * hitting_sums(problem)
        keys = problem.keys(self.seed)
        choices = [
            first_least(costs[first:last], keys[first:last])
            for first, last in zip(problem.offsets[:-1], problem.offsets[1:], strict=True)
        ]
        score = problem.cost(choices)
        certificate = Certificate.from_bound(
            "HittingDistance",
            score,
            min(score, half_hitting_bound(problem)),
            minimized=True,
            tolerance=1e-9 * max(1.0, abs(score)),
            iterations=1,
        )
        return RepresentativesSolution.of(problem, choices, certificate)


def hitting_sums(problem: RepresentativesProblem) -> NDArray[np.float64]:
    """**Shape:** (n,): each candidate's distances to the nearest of each other set, summed."""
    sums = np.zeros(len(problem.members))
    for i, members in enumerate(problem.sets):
        nearest = problem.distances[:, members].min(axis=1).astype(np.float64)
        towards = nearest[problem.members]
        towards[problem.offsets[i] : problem.offsets[i + 1]] = 0.0
        sums += towards
    return sums


def half_hitting_bound(problem: RepresentativesProblem) -> float:
    """Return a bound on the cost of every choice: half the hitting distances, and the local."""
    if not problem.size:
        return 0.0
    costs = problem.local_costs + problem.pair_weight / 2 * hitting_sums(problem)
    return float(np.minimum.reduceat(costs, problem.offsets[:-1]).sum())
