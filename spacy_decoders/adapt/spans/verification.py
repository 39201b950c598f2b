"""An independent check of chosen spans: what they are worth, and a bound on all sets of spans.

Only the data of the problem is shared with the decoder. Sets of a few spans are enumerated; else
an integer program, whose solver's bound is taken as it is, says what the best one is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import ProblemError
from ...verify import Findings
from .problem import SpanProblem

__all__ = ["examine"]

#: The most spans whose sets are enumerated, and the most that a program is stated for.
ENUMERABLE, PROGRAMMABLE = 12, 400


def examine(problem: Any, solution: Any, *, seconds: float) -> Findings:
    """Score a set of spans anew, and bound all others.

    Raises
    ------
    ProblemError
        If `problem` is no `SpanProblem`.
    """
    if not isinstance(problem, SpanProblem):
        raise ProblemError(f"problem: expected a SpanProblem, got {type(problem).__name__}.")
    scores = problem.scores.tolist()
    chosen = np.asarray(solution.chosen).tolist()
    if not all(isinstance(one, int) and 0 <= one < len(scores) for one in chosen):
        return Findings.illegal(f"{chosen} are no numbers of the {len(scores)} spans.")
    if len(set(chosen)) < len(chosen):
        return Findings.illegal("a span is there twice.")
    ends = [(int(begin), -int(end)) for begin, end in problem.spans[chosen]]
    if ends != sorted(ends):
        return Findings.illegal("the spans are not in the order of the text.")
    for one, other in combinations(chosen, 2):
        if _clash(problem, one, other):
            return Findings.illegal(f"spans {one} and {other} exclude each other.")
    parts = [scores[one] for one in chosen]
    if -math.inf in parts:
        return Findings.illegal("a forbidden span is there.")
    score, scale = math.fsum(parts), math.fsum(map(abs, parts))
    useful = [one for one, worth in enumerate(scores) if worth > 0.0]
    if len(useful) <= ENUMERABLE:
        best = _best_set(problem, useful)
        return Findings(None, score, scale, best, best)
    best, bound = _by_program(problem, useful, seconds)
    best = max(best, score)
    return Findings(None, score, scale, best, max(bound, best))


def _clash(problem: SpanProblem, one: int, other: int) -> bool:
    """Return whether two spans can't both be chosen."""
    (a, b), (c, d) = problem.spans[[one, other]].tolist()
    kinds = (
        (None, None) if problem.labels is None else (problem.labels[one], problem.labels[other])
    )
    if kinds[0] == kinds[1] and kinds[0] in problem.once:
        return True
    if b < c or d < a or (not problem.apart and (b == c or d == a)):
        return False
    inside = (a <= c and d <= b) or (c <= a and b <= d)
    return not (problem.nested and inside and (a, b) != (c, d))


def _best_set(problem: SpanProblem, spans: Sequence[int]) -> float:
    """Return the most that any set of some spans is worth, by trying all."""
    sets: list[list[int]] = [[]]
    for one in spans:
        sets += [[*of, one] for of in sets if not any(_clash(problem, one, at) for at in of)]
    return max(math.fsum(float(problem.scores[one]) for one in of) for of in sets)


def _by_program(problem: SpanProblem, spans: Sequence[int], seconds: float) -> tuple[float, float]:
    """Return what the solver's set is worth, and its bound on all; infinite without one."""
    if len(spans) > PROGRAMMABLE:
        return -math.inf, math.inf
    from scipy.optimize import Bounds, LinearConstraint, milp

    clashes = [
        (x, y)
        for x, y in combinations(range(len(spans)), 2)
        if _clash(problem, spans[x], spans[y])
    ]
    rows = np.zeros((max(len(clashes), 1), len(spans)))
    for row, pair in enumerate(clashes):
        rows[row, list(pair)] = 1.0
    worth = problem.scores[list(spans)]
    found: Any = milp(
        -worth,
        integrality=np.ones(len(spans)),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(rows, -np.inf, 1.0),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    bound = getattr(found, "mip_dual_bound", None)
    bound = math.inf if bound is None or not math.isfinite(bound) else -float(bound)
    if found.x is None:
        return -math.inf, bound
    taken = [one for one, value in zip(spans, found.x, strict=True) if value > 0.5]
    if any(_clash(problem, *pair) for pair in combinations(taken, 2)):
        return -math.inf, bound
    return math.fsum(problem.scores[taken].tolist()), bound
