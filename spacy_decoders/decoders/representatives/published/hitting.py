"""The hitting-distance heuristic."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ....arrays import Integers
from ....budget import Clock
from ..problem import RepresentativesProblem
from .heuristic import SeededHeuristic

__all__ = ["HittingDistance"]


@dataclass(frozen=True)
class HittingDistance(SeededHeuristic):
    r"""Choose in each set the candidate that is nearest to the other sets on average.

    The distance of a candidate to a set is that to its nearest vertex. Each candidate costs
    :math:`\mathrm{local}(x) + \frac{w}{k-1} \sum_j d(x, X_j)`. When the budget ends, the
    remaining sets are left out of the sum.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 5.2.

    Examples
    --------
    >>> problem = RepresentativesProblem([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[2, 0], [1]])
    >>> HittingDistance().decode(problem).choices.tolist()
    [1, 0]
    """

    def _choose(self, problem: RepresentativesProblem, clock: Clock) -> Integers:
        allowed = problem.allowed
        # from each candidate to the nearest allowed one of each other set
        sums = np.zeros(len(problem.members))
        for i, (first, last) in enumerate(pairwise(problem.offsets.tolist())):
            if i and clock.seconds_left == 0.0:
                break
            members = problem.sets[i][allowed[first:last]]
            nearest = problem.distances[members].min(axis=0)[problem.members]
            nearest[first:last] = 0
            sums += nearest
        costs = problem.local_costs + problem.pair_weight * sums
        return problem.cheapest(costs, self.seed)
