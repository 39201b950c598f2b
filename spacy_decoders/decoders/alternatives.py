"""Certificates of ranked solutions of one problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..certificate import Certificate

__all__ = ["beside_the_best"]

#: A frozen dataclass with a `certificate`.
Solution = TypeVar("Solution", bound=Any)


def beside_the_best(solutions: Sequence[Solution]) -> list[Solution]:
    """Let the certificates of ranked solutions compare each with the best of all.

    A certificate refers to the problem, not to a rank: the bound of each is that of the first, so
    that the gap of the others is their largest possible loss, and only a solution that equals the
    best is called optimal. Each keeps its own tolerance, which is limited by its own scale. A
    structure that exceeds the bound of the first disproves it.
    """
    return [
        solution
        if place == 0
        else replace(solution, certificate=_beside(solution.certificate, solutions[0].certificate))
        for place, solution in enumerate(solutions)
    ]


def _beside(own: Certificate, best: Certificate) -> Certificate:
    assert own.score is not None  # infeasible solutions are not ranked
    if best.bound is None:
        return Certificate.heuristic(
            own.decoder,
            own.score,
            tolerance=own.tolerance,
            scope=own.scope,
            iterations=own.iterations,
        )
    return Certificate.from_bound(
        own.decoder,
        own.score,
        best.bound,
        tolerance=own.tolerance,
        scale=math.inf,  # the tolerance is within its limit already
        scope=own.scope,
        iterations=own.iterations,
    )
