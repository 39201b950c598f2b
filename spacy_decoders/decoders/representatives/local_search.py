"""Coordinate descent from many starts."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Integers, Integers32, checked_whole
from ...budget import Clock
from ...certificate import Certificate
from .costs import CostTable, cost_table
from .decoder import RepresentativesDecoder
from .kernels.descent import best_descent
from .problem import RepresentativesProblem
from .solutions import RepresentativesSolution

__all__ = ["LocalSearch", "improve", "near_one"]

#: Candidates times sets of the descents between two checks of the clock.
WORK_PER_CHECK = 250_000


@dataclass(frozen=True)
class LocalSearch(RepresentativesDecoder):
    """Change one choice at a time while that helps; keep the best result of several starts.

    The certificate is heuristic.

    Each start takes a random candidate and, from each other set, the cheapest one beside it.

    Parameters
    ----------
    starts
        Number of starts.
    seed
        Seed of the starts and of the order of vertices that breaks ties.

    Examples
    --------
    >>> problem = RepresentativesProblem([[0, 1, 3], [1, 0, 2], [3, 2, 0]], [[2, 0], [1]])
    >>> LocalSearch().decode(problem).choices.tolist()
    [1, 0]
    """

    starts: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        checked_whole("starts", self.starts, low=1)
        checked_whole("seed", self.seed, low=0)

    def _solve(self, problem: RepresentativesProblem, clock: Clock) -> RepresentativesSolution:
        if not problem.size:
            return RepresentativesSolution.of(problem, [], Certificate.heuristic("LocalSearch", 0))
        tried = 0
        costs = cost_table(problem, self.seed, clock)
        if costs is None:
            given = near_one(problem, self.seed)
        else:
            choices, tried = improve(costs, self.starts, self.seed, clock)
            given = costs.given(choices)
        certificate = Certificate.heuristic("LocalSearch", problem.cost(given), iterations=tried)
        return RepresentativesSolution.of(problem, given, certificate)


def near_one(problem: RepresentativesProblem, seed: int) -> Integers32:
    """Return the candidates that are cheapest beside a single one: it takes next to no time."""
    first = problem.members[problem.cheapest(problem.local_costs, seed)[0]]
    near = problem.distances[first].take(problem.members)
    costs = problem.local_costs + problem.pair_weight * near
    return problem.cheapest(costs, seed).astype(np.int32)


def improve(costs: CostTable, starts: int, seed: int, clock: Clock) -> tuple[Integers, int]:
    """Return the best choices of several descents, and the number of descents made."""
    random = np.random.default_rng(seed)
    sizes = costs.arrays.sizes.tolist()
    limit = clock.budget.iterations
    starts = starts if limit is None else min(starts, limit)
    starts_per_check = max(1, WORK_PER_CHECK // (costs.arrays.size * len(costs.arrays.unary)))
    best = np.zeros(costs.arrays.size, dtype=np.int64)
    least = np.inf
    tried = 0
    while tried < starts and not (tried and clock.seconds_left == 0.0):
        begins = np.empty((min(starts_per_check, starts - tried), 2), dtype=np.int64)
        for begin in begins:
            first = int(random.integers(costs.arrays.size))
            begin[:] = first, random.integers(sizes[first])
        choices, cost = best_descent(tuple(costs.arrays), begins)
        if cost < least:
            best, least = choices, cost
        tried += len(begins)
    return best, tried
