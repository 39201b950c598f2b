"""The range of tree scores, the rounding error that follows from it, and prohibitive scores.

A score such as -1e20 means "never". In sums with it double precision loses the other scores, so
branch and bound first forbids such parts, and proves afterwards that no optimum was lost.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .decoder import UNIT, most_gained
from .problem import TreeProblem

__all__ = ["Magnitudes", "magnitudes_of", "parts_of", "without_prohibitive"]

Scores = NDArray[np.float64]

#: The largest multiplier of a chain that bounds count, relative to the largest score.
LARGEST_MULTIPLIER = 8.0

#: Scores above this are never prohibitive: double precision can hold the sums.
HARMLESS = -4e3

#: A score is prohibitive if it exceeds the positive parts of a tree so many times in magnitude.
TIMES = 4.0

#: Where one such score is needed after all, those so many times lower are still forbidden.
DEEPER = 1e3


class Magnitudes(NamedTuple):
    """Bounds on the scores of a problem's trees."""

    #: The lowest finite score of any part, if below 0.
    lowest: float
    #: A finite score for forbidden parts that no other parts can offset.
    forbidden: float
    #: A score between those of trees with forbidden parts and those without.
    threshold: float
    #: The rounding error in the value of a relaxation.
    rounding: float
    #: The largest multiplier of a chain that this error allows for.
    limit: float


def magnitudes_of(problem: TreeProblem) -> Magnitudes:
    """Compute them in one pass over the scores of a problem.

    Rounding: a tree is scored by n arcs, to each of which shares of up to n^2 scores were added,
    sums of up to n terms; and by the shares of factors. The multipliers of chains, which only
    backbones of arcs alone have, may be as large as the limit.
    """
    n, gaps = problem.n, problem.gaps[problem.gaps > -np.inf]
    lowest, largest = float(gaps.min(initial=0.0)), float(np.abs(gaps).max(initial=0.0))
    reach, forbids = float(np.abs(gaps).sum()), False
    # how many scores of each part a tree has
    numbers = {"arcs": n, "grandparents": n, "siblings": n * n / 2}
    for name, part in parts_of(problem).items():
        low = float(part.min(initial=0.0))
        if low == -np.inf:
            forbids |= name != "arcs"  # which keep their -inf
            low = float(part[part > -np.inf].min(initial=0.0))
        size = max(-low, float(part.max(initial=0.0)))
        if name == "factors":
            reach += float(np.abs(part[part > -np.inf]).sum())
        else:
            reach += size * numbers[name]
        lowest, largest = min(lowest, low), max(largest, size)
    forbidden = -(2.2 * reach + 2.0)
    if forbids:
        largest = max(largest, -forbidden)
    error = (n + 1.0) ** 3 * largest
    if not problem.projective:
        error *= LARGEST_MULTIPLIER
    if problem.factors is not None:
        entries = len(problem.factors.arcs) + problem.factors.count + n
        error += entries * largest * problem.factors.count
    return Magnitudes(
        lowest=lowest,
        forbidden=forbidden,
        threshold=-(1.1 * reach + 1.0),
        # and more than denormal numbers cause
        rounding=8.0 * UNIT * error + (1e-300 if error else 0.0),
        limit=LARGEST_MULTIPLIER * largest,
    )


def parts_of(problem: TreeProblem) -> dict[str, Scores]:
    """Return the arrays of scores that a problem has, boundaries aside."""
    factors = None if problem.factors is None else problem.factors.scores
    given = {
        "arcs": problem.arcs,
        "grandparents": problem.grandparents,
        "siblings": problem.siblings,
        "factors": factors,
    }
    return {name: part for name, part in given.items() if part is not None}


def without_prohibitive(
    problem: TreeProblem, magnitudes: Magnitudes | None = None
) -> Iterator[tuple[TreeProblem, float]]:
    """Yield the problem without its prohibitive parts, then with more and more of them.

    With each an upper bound on all trees with such a part; ``-inf`` for the last problem, which is
    the given one. Magnitudes of None are computed.
    """
    if (magnitudes or magnitudes_of(problem)).lowest < HARMLESS:
        parts = [*parts_of(problem).values(), problem.gaps]
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
        changed["factors"] = replace(given, scores=scores)
    return replace(problem, **changed)
