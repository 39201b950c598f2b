"""The greedy baseline."""

from dataclasses import dataclass

import numpy as np

from ....arrays import Integers
from ....budget import Clock
from ..problem import RepresentativesProblem
from .heuristic import SeededHeuristic

__all__ = ["Greedy"]


@dataclass(frozen=True)
class Greedy(SeededHeuristic):
    """Begin with a random candidate of a random set, then choose set after set.

    Each choice, in the cyclic order of the sets, is the cheapest given the earlier ones;
    the first, which was random, is made once more at the end.

    Parameters
    ----------
    seed
        Seed of the random start, and of the order of vertices that breaks ties.

    References
    ----------
    Blanco, Boldi, Marino 2014, section 6.

    Examples
    --------
    >>> problem = RepresentativesProblem([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[2, 0], [1]])
    >>> Greedy(seed=1).decode(problem).choices.tolist()
    [1, 0]
    """

    def _choose(self, problem: RepresentativesProblem, clock: Clock) -> Integers:
        choices = np.zeros(problem.size, dtype=np.int64)
        if problem.size:
            random = np.random.default_rng(self.seed)
            keys = problem.keys(self.seed)
            begin = int(random.integers(problem.size))
            spans = list(zip(problem.offsets[:-1], problem.offsets[1:], strict=True))
            first, last = spans[begin]
            # drawn by rank among the keys, so that the order of the input does not matter
            order = np.argsort(keys[first:last])
            order = order[problem.allowed[first:last][order]]
            choices[begin] = order[int(random.integers(len(order)))]
            costs = problem.local_costs.copy()
            for i in [*range(begin + 1, problem.size), *range(begin + 1)]:
                before = (i - 1) % problem.size
                chosen = problem.sets[before][choices[before]]
                costs += problem.pair_weight * problem.distances[chosen].take(problem.members)
                if i == begin:
                    # the costs still include the distances to its own first choice
                    own = problem.sets[begin][choices[begin]]
                    costs -= problem.pair_weight * problem.distances[own].take(problem.members)
                first, last = spans[i]
                choices[i] = np.lexsort((keys[first:last], costs[first:last]))[0]
        return choices
