"""Parts scored so low that no tree worth having holds one.

A score such as -1e20 means "never". Beside it double precision loses the scores that decide,
so branch and bound first leaves such parts out, and proves afterwards that this was right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .factors import Factors
from .problem import TreeProblem

__all__ = ["rounding", "without_hopeless"]

#: A score is hopeless if it is this many times below 0 as all others together may be above.
FAR = 1e6


def without_hopeless(problem: TreeProblem) -> tuple[TreeProblem, float] | None:
    """Forbid the parts that are far below all others; None if there are none.

    Returns
    -------
    problem
        The same without them.
    bound
        What no tree that holds such a part can exceed.
    """
    parts = _parts(problem)
    if min(map(_lowest, parts)) >= -FAR:
        return None
    gains = float(sum(np.maximum(part, 0.0).sum() for part in parts))
    limit = -FAR * max(1.0, gains)
    hopeless = [part[(part < limit) & (part > -np.inf)] for part in parts]
    highest = max((float(part.max()) for part in hopeless if part.size), default=-np.inf)
    if highest == -np.inf:
        return None
    changed: dict[str, Any] = {
        name: _above(getattr(problem, name), limit)
        for name in ("arcs", "grandparents", "siblings")
        if getattr(problem, name) is not None
    }
    if problem.factors is not None:
        given = problem.factors
        scores = _above(given.scores, limit)
        changed["factors"] = Factors(
            given.arcs, given.offsets, scores, given.at_least, given.at_most
        )
    return replace(problem, **changed), highest + gains


def rounding(problem: TreeProblem) -> float:
    """What sums and differences of the largest scores may lose."""
    largest = max(max(-_lowest(part), float(part.max(initial=0.0))) for part in _parts(problem))
    return 1e-14 * (problem.n + 1) * largest


def _parts(problem: TreeProblem) -> list[NDArray[np.float64]]:
    arrays = [problem.arcs, problem.grandparents, problem.siblings]
    if problem.factors is not None:
        arrays.append(problem.factors.scores)
    return [array for array in arrays if array is not None]


def _lowest(part: NDArray[np.float64]) -> float:
    """The lowest finite score, if below 0."""
    lowest = float(part.min(initial=0.0))
    if lowest > -np.inf:
        return lowest
    return float(part.min(initial=0.0, where=part > -np.inf))


def _above(part: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    return np.where(part < limit, -np.inf, part)
