"""Bounds on the best tree by single arcs that include the most other parts can add."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...certificate import tolerance_of
from .problem import TreeProblem

__all__ = ["arborescence_bound", "bounding_arcs"]


def bounding_arcs(problem: TreeProblem, forbidden: float) -> NDArray[np.float64]:
    """Return scores of single arcs that include the most that grandparents and siblings add.

    No tree scores more under the problem's scores than under these.

    Parameters
    ----------
    forbidden
        The finite score of a forbidden part.
    """
    arcs = problem.arcs.copy()
    allowed = problem.allowed
    for h in range(1, problem.n + 1):
        if problem.grandparents is not None:
            above = problem.grandparents[allowed[:, h], h, :]
            arcs[h] += np.maximum(above.max(axis=0, initial=-np.inf), forbidden)
    for h in range(1 if problem.single_root else 0, problem.n + 1):
        if problem.siblings is not None:
            gains = np.triu(np.maximum(problem.siblings[h], 0.0), 1)
            gains *= allowed[h][:, None] & allowed[h]
            arcs[h] += 0.5 * (gains.sum(axis=0) + gains.sum(axis=1))
    return arcs


def arborescence_bound(problem: TreeProblem, forbidden: float) -> float:
    """Bound the best tree by the best arborescence, crossing arcs allowed.

    The score of each arc includes the most that grandparents, siblings and factors can add.

    Parameters
    ----------
    forbidden
        The finite score of a forbidden part.
    """
    from .kernels import chu_liu_edmonds  # compiled where it is first needed

    arcs, constant = most_of_arcs(problem, forbidden)
    decoded = chu_liu_edmonds.decode(read_only(arcs), problem.has_one_root, False)
    gaps = float(np.maximum(problem.gaps, 0.0).sum())
    size = abs(float(decoded[2])) + constant + gaps
    return float(decoded[2]) + constant + gaps + tolerance_of(size)


def most_of_arcs(
    problem: TreeProblem, forbidden: float = -np.inf
) -> tuple[NDArray[np.float64], float]:
    """Return the most that each arc adds to a tree with all other parts, and a constant.

    No tree scores more than the sum of its arcs under these scores and the constant, boundaries
    aside.

    Parameters
    ----------
    forbidden
        The score of a forbidden part.
    """
    arcs, constant = bounding_arcs(problem, forbidden), 0.0
    factors = problem.factors
    if factors is not None:
        owner = np.repeat(np.arange(factors.count), np.diff(factors.offsets))
        least = np.maximum(factors.at_least, 1)
        # a gain for `least` arcs or more is at most one part of it for each arc that is there
        gains = np.where(factors.at_least > 0, np.maximum(factors.scores, 0.0) / least, 0.0)
        np.add.at(arcs, (factors.arcs[:, 0], factors.arcs[:, 1]), gains[owner])
        constant = float(np.maximum(factors.scores[factors.at_least <= 0], 0.0).sum())
    return arcs, constant
