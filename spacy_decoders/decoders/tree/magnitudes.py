"""How large the scores of trees can be, and so how much rounding may hide of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .decoder import SMALLEST, UNIT
from .problem import TreeProblem

__all__ = [
    "forbidden_score",
    "lowest",
    "lowest_score",
    "most_gained",
    "parts_of",
    "reach_of",
    "rounding_of",
]

Scores = NDArray[np.float64]


def parts_of(problem: TreeProblem) -> list[Scores]:
    """Return the arrays of scores that a problem has, the arcs first."""
    arrays = [problem.arcs, problem.grandparents, problem.siblings]
    if problem.factors is not None:
        arrays.append(problem.factors.scores)
    return [array for array in arrays if array is not None]


def lowest(part: Scores) -> float:
    """Return the lowest finite score, if below 0."""
    least = float(part.min(initial=0.0))
    if least > -np.inf:
        return least
    return float(part.min(initial=0.0, where=part > -np.inf))


def largest(part: Scores) -> float:
    """Return the largest absolute finite score."""
    return max(-lowest(part), float(part.max(initial=0.0)))


def most_gained(problem: TreeProblem) -> float:
    """Return what the positive parts of a tree are worth together, at most."""
    gains = problem.arcs.max(axis=0, initial=0.0).sum()
    if problem.grandparents is not None:
        gains += problem.grandparents.max(axis=(0, 1), initial=0.0).sum()
    if problem.siblings is not None:
        gains += np.triu(problem.siblings.max(axis=0, initial=0.0), 1).sum()
    if problem.factors is not None:
        gains += np.maximum(problem.factors.scores, 0.0).sum()
    return float(gains)


def reach_of(problem: TreeProblem) -> float:
    """Bound the absolute score of every tree without forbidden parts."""
    reach = largest(problem.arcs) * problem.n
    if problem.grandparents is not None:
        reach += largest(problem.grandparents) * problem.n
    if problem.siblings is not None:
        reach += largest(problem.siblings) * problem.n * problem.n / 2
    if problem.factors is not None:
        worth = problem.factors.scores
        reach += float(np.abs(worth[worth > -np.inf]).sum())
    return reach


def forbidden_score(reach: float) -> float:
    """Return a finite score for forbidden parts that no other parts can make up for."""
    return -(2.2 * reach + 2.0)


def lowest_score(reach: float) -> float:
    """Return a score between those of trees with forbidden parts and those without."""
    return -(1.1 * reach + 1.0)


def rounding_of(problem: TreeProblem) -> float:
    """Bound what float64 may lose in the value of a relaxation.

    A tree is scored by n arcs, each of which has been given parts of the scores of up to n^2
    others, sums of up to n terms; and by all that the factors gave their arcs.
    """
    parts = parts_of(problem)
    size = max(map(largest, parts))
    if any(float(part.min(initial=0.0)) == -np.inf for part in parts[1:]):
        size = max(size, -forbidden_score(reach_of(problem)))
    error = (problem.n + 1.0) ** 3 * size
    if problem.factors is not None:
        entries = len(problem.factors.arcs) + problem.factors.count + problem.n
        error += entries * size * problem.factors.count
    return 8.0 * UNIT * error + SMALLEST
