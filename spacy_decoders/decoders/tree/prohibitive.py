"""Prohibitive scores: parts scored so low that no good tree contains one.

A score such as -1e20 means "never". In sums with it double precision loses the other scores, so
branch and bound first forbids such parts, and proves afterwards that no optimum was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .decoder import UNIT
from .factors import Factors
from .magnitudes import Magnitudes, magnitudes_of, most_gained, parts_of
from .problem import TreeProblem

__all__ = ["without_prohibitive"]

#: Scores above this are never prohibitive: double precision can hold the sums.
HARMLESS = -4e3

#: A score is prohibitive if it exceeds the positive parts of a tree so many times in magnitude.
TIMES = 4.0

#: Where one such score is needed after all, those so many times lower are still forbidden.
DEEPER = 1e3


def without_prohibitive(
    problem: TreeProblem, magnitudes: Magnitudes | None = None
) -> Iterator[tuple[TreeProblem, float]]:
    """Yield the problem without its prohibitive parts, then with more and more of them.

    Parameters
    ----------
    problem
        The scores.
    magnitudes
        Of the problem; None to compute them.

    Yields
    ------
    problem
        The same without them.
    bound
        An upper bound on all trees with such a part; ``-inf`` for the last problem, which is the
        given one.
    """
    if (magnitudes or magnitudes_of(problem)).lowest < HARMLESS:
        parts = [*parts_of(problem), problem.gaps]
        gains = most_gained(problem)
        limit = min(HARMLESS, -TIMES * gains)
        while True:
            prohibitive = [part[(part < limit) & (part > -np.inf)] for part in parts]
            highest = max(
                (float(part.max()) for part in prohibitive if part.size), default=-np.inf
            )
            if highest == -np.inf:
                break
            # the sum is rounded, and so are those of the trees compared with it
            beyond = highest + gains + 8 * UNIT * (gains - highest)
            yield _above(problem, limit), beyond
            limit = DEEPER * highest
    yield problem, -np.inf


def _above(problem: TreeProblem, limit: float) -> TreeProblem:
    """Forbid the parts scored below a limit."""
    changed: dict[str, Any] = {}
    for name in ("arcs", "grandparents", "siblings", "boundaries"):
        part = getattr(problem, name)
        if part is not None:
            changed[name] = np.where(part < limit, -np.inf, part)
    if problem.factors is not None:
        given = problem.factors
        scores = np.where(given.scores < limit, -np.inf, given.scores)
        changed["factors"] = Factors(
            given.arcs, given.offsets, scores, given.at_least, given.at_most
        )
    return replace(problem, **changed)
