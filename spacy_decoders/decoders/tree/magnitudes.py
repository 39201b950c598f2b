"""The range of tree scores, the rounding errors that follow from it, and prohibitive scores.

A score such as -1e20 means "never". Sums with it have no precision left for the other scores, so
branch and bound first forbids such parts, and proves afterwards that no optimum was lost.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .problem import TreeProblem
from .proof import UNIT, most_gained, parts_of

__all__ = ["Magnitudes", "magnitudes_of", "without_prohibitive"]

#: The largest multiplier of a chain that bounds use, relative to the largest score.
LARGEST_MULTIPLIER = 8.0

#: Scores above this are never prohibitive: sums with them are precise enough.
HARMLESS = -4e3

#: A score is prohibitive if its magnitude is this many times the positive parts of a tree.
TIMES = 4.0

#: If a prohibitive score turns out to be needed, those this many times lower stay forbidden.
DEEPER = 1e3


class Magnitudes(NamedTuple):
    """Bounds on the scores of a problem's trees."""

    #: The lowest finite score of any part, if below 0.
    lowest: float
    #: A finite score for forbidden parts, so low that no other parts can offset it.
    forbidden: float
    #: A score above those of all trees with forbidden parts and below all others.
    threshold: float
    #: The largest rounding error in the value of a relaxation.
    rounding: float
    #: The largest multiplier of a chain for which that holds.
    limit: float


def magnitudes_of(problem: TreeProblem) -> Magnitudes:
    """Compute the magnitudes in one pass over the scores of a problem.

    Rounding: a relaxation scores a tree by n arcs, to each of which shares of up to n^2 scores
    were added, sums of up to n terms; and by the shares of factors. The multipliers of chains,
    which only first-order backbones have, may be as large as the limit.
    """
    n, gaps = problem.n, problem.gaps[problem.gaps > -np.inf]
    lowest, largest = float(gaps.min(initial=0.0)), float(np.abs(gaps).max(initial=0.0))
    reach, forbids = float(np.abs(gaps).sum()), False
    # how many scores of each kind a tree adds up
    numbers = {"arcs": n, "grandparents": n, "siblings": n * n / 2}
    for name, part in parts_of(problem).items():
        low = float(part.min(initial=0.0))
        if low == -np.inf:
            forbids |= name != "arcs"  # arcs keep their -inf
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
        # the constant covers denormal numbers
        rounding=8.0 * UNIT * error + (1e-300 if error else 0.0),
        limit=LARGEST_MULTIPLIER * largest,
    )


def without_prohibitive(
    problem: TreeProblem, magnitudes: Magnitudes | None = None
) -> Iterator[tuple[TreeProblem, float]]:
    """Yield the problem without its prohibitive parts, then with more and more of them.

    Each comes with an upper bound on all trees that have one of the parts left out; ``-inf`` for
    the last, which is the problem itself. Magnitudes are computed if None.
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
            # with a slack for the rounding of this sum and of those it is compared with
            beyond = highest + gains + 8 * UNIT * (gains - highest)
            yield _above(problem, limit), beyond
            limit = DEEPER * highest
    yield problem, -np.inf


def _above(problem: TreeProblem, limit: float) -> TreeProblem:
    """Return the problem with the parts that score below a limit forbidden."""
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
