"""Bounds on the cost of every choice that follow from the distances alone.

Both are duals: a pair of candidates is paid for in part by either of them and in part by the
least that any pair of the two sets leaves over. They are valid however the parts are chosen,
and include what float64 may lose.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....certificate import Certificate
from ..costs import relative_tolerance, rounded_down
from ..problem import RepresentativesProblem

__all__ = ["bound_beside", "certified", "half_hitting_bound", "hitting_distances"]


def certified(
    name: str, problem: RepresentativesProblem, choices: NDArray[Any], bound: float
) -> Certificate:
    """Return what a bound of the least cost says of the choices of a decoder of one pass."""
    scale = problem.scale(choices)
    return Certificate.from_bound(
        name,
        problem.cost(choices),
        bound,
        minimized=True,
        tolerance=relative_tolerance(scale),
        scale=scale,
        iterations=1,
    )


def hitting_distances(problem: RepresentativesProblem) -> NDArray[np.float64]:
    """**Shape:** (k, n): from each candidate to the nearest allowed one of each other set."""
    allowed = problem.allowed
    nearest = np.zeros((problem.size, len(problem.members)))
    for i, (first, last) in enumerate(pairwise(problem.offsets.tolist())):
        members = problem.sets[i][allowed[first:last]]
        nearest[i] = problem.distances[:, members].min(axis=1)[problem.members]
        nearest[i, first:last] = 0.0
    return nearest


def half_hitting_bound(problem: RepresentativesProblem, nearest: NDArray[np.float64]) -> float:
    """Return a bound on the cost of every choice: half the hitting distances, and the local."""
    half = problem.pair_weight / 2
    costs = problem.local_costs + half * nearest.sum(axis=0)
    magnitudes = np.abs(problem.local_costs) + half * np.abs(nearest).sum(axis=0)
    return _sum_of_minima(problem, costs, magnitudes, [])


def bound_beside(problem: RepresentativesProblem, choices: NDArray[Any]) -> float:
    """Return a bound on the cost of every choice, from the distances to the given one.

    Each candidate pays its distances to the given choices of all other sets. What a pair of
    candidates leaves over is the same for all pairs of two sets where every path between the
    sets leaves each of them over one vertex; there the bound is the least cost itself.
    """
    towards = problem.distances_to(choices)
    weight = problem.pair_weight
    costs = problem.local_costs + weight * towards.sum(axis=1)
    magnitudes = np.abs(problem.local_costs) + weight * np.abs(towards).sum(axis=1)
    spans = [slice(*span) for span in pairwise(problem.offsets.tolist())]
    left = []
    for i, first in enumerate(spans):
        for j in range(i + 1, problem.size):
            given = towards[first, j][:, None], towards[spans[j], i][None, :]
            block = problem.distances[np.ix_(problem.sets[i], problem.sets[j])]
            sizes = np.abs(block) + np.abs(given[0]) + np.abs(given[1])
            least = rounded_down(block - given[0] - given[1], sizes, 3)
            allowed_pairs = problem.allowed[first][:, None] & problem.allowed[spans[j]][None, :]
            left.append(weight * float(least[allowed_pairs].min()))
    return _sum_of_minima(problem, costs, magnitudes, left)


def _sum_of_minima(
    problem: RepresentativesProblem,
    costs: NDArray[np.float64],
    magnitudes: NDArray[np.float64],
    left: list[float],
) -> float:
    """Add up the least cost of each set and what pairs leave over, rounded down."""
    if not problem.size:
        return 0.0
    allowed = problem.allowed
    lowered = np.full(len(costs), np.inf)
    lowered[allowed] = rounded_down(costs[allowed], magnitudes[allowed], problem.size + 1)
    parts = [*np.minimum.reduceat(lowered, problem.offsets[:-1]).tolist(), *left]
    return rounded_down(math.fsum(parts), math.fsum(map(abs, parts)), 1)
