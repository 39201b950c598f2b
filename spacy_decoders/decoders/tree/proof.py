"""From trees to certificates: bounds up to rounding, and their comparison with a tree's score."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats, Integers32
from ...certificate import Certificate, tolerance_of
from ...errors import DecodersError, InfeasibleError, ProblemError
from .problem import TreeProblem, TreeSolution
from .scoring import starts_of_tree

__all__ = [
    "UNIT",
    "Through",
    "bounds_without",
    "certified",
    "certified_if_legal",
    "infeasible",
    "most_gained",
    "parts_of",
    "refuse_unless",
    "rounding_slack",
    "split",
]

Numbers = TypeVar("Numbers", float, Floats)
Mask = TypeVar("Mask", Booleans, NDArray[np.uint8])

#: Computes upper bounds on the trees through each arc, up to rounding, (n + 1, n + 1).
Through = Callable[[], Floats]

#: The unit roundoff of float64: the largest relative error of one operation.
UNIT = 2.0**-53


def split(mask: Mask, h: int, m: int) -> tuple[Mask, Mask]:
    """Split a mask of arcs: return that of the trees with an arc, and that of those without it."""
    taken, left = mask.copy(), mask.copy()
    taken[:, m] = 0
    taken[h, m] = 1
    left[h, m] = 0
    return taken, left


def bounds_without(problem: TreeProblem, through: Floats, heads: Integers32) -> Floats:
    """Return for each token an upper bound on the trees in which it has another head, (n,).

    `through`, (n + 1, n + 1), bounds the trees through each arc, up to rounding.
    """
    others = np.array(through[:, 1:])
    others[np.isnan(others)] = np.inf
    others[heads, np.arange(problem.n)] = -np.inf
    bounds: Floats = others.max(axis=0, initial=-np.inf)
    found = np.isfinite(bounds)
    bounds[found] += rounding_slack(8 * problem.n, bounds[found], most_gained(problem))
    return bounds


def parts_of(problem: TreeProblem) -> dict[str, Floats]:
    """Return the arrays of scores that a problem has, except boundaries.

    Parts that no tree of the allowed arcs has score 0, since they would cost precision.
    """
    allowed, factors = problem.allowed, problem.factors
    parts = {"arcs": problem.arcs}
    if problem.grandparents is not None:
        of = allowed[:, :, None] & allowed
        parts["grandparents"] = np.where(of, problem.grandparents, 0.0)
    if problem.siblings is not None:
        of = allowed[:, :, None] & allowed[:, None]
        parts["siblings"] = np.where(of, problem.siblings, 0.0)
    if factors is not None:
        possible = factors.numbers(allowed[tuple(factors.arcs.T)]) >= factors.at_least
        parts["factors"] = np.where(possible, factors.scores, 0.0)
    return parts


def most_gained(problem: TreeProblem) -> float:
    """Return an upper bound on the sum of the positive parts of a tree."""
    parts = parts_of(problem)
    gains = parts["arcs"].max(axis=0, initial=0.0).sum()
    if "grandparents" in parts:
        gains += parts["grandparents"].max(axis=(0, 1), initial=0.0).sum()
    if "siblings" in parts:
        gains += np.triu(parts["siblings"].max(axis=0, initial=0.0), 1).sum()
    if "factors" in parts:
        gains += np.maximum(parts["factors"], 0.0).sum()
    gains += np.maximum(problem.gaps, 0.0).sum()
    return float(gains)


def rounding_slack(parts: int | Numbers, score: Numbers, positive: float | Numbers) -> Numbers:
    """Bound the rounding error of a dynamic program in float64.

    The negative parts of a tree that could exceed `score` add up to at most `positive` minus
    `score` in magnitude, however low the scores of other parts are, so none of its partial sums
    exceeds ``abs(score) + 2 * positive``. Each of its `parts` additions is off by at most one unit
    of that, both in the chart and in the sum that it is compared with; sums of denormal numbers
    are exact.

    `parts` is the largest number of parts of a tree, `positive` the largest sum of its positive
    parts, and `score` the value of the dynamic program, or several of them.
    """
    return 4.0 * (parts + 1) * UNIT * (abs(score) + 2.0 * positive)


def certified(
    decoder: str,
    problem: TreeProblem,
    heads: Integers32,
    score: float,
    scale: float,
    bound: float,
    slack: float,
    iterations: int = 1,
    *,
    tolerance: float = 0.0,
    starts: Booleans | None = None,
) -> TreeSolution:
    """Return a tree whose certificate compares its score with an independent bound.

    The heads, (n,), are contiguous and not shared. The score is the sum of the tree's parts, the
    scale that of their absolute values. The bound is one on all trees up to a rounding error, the
    slack, which is added to it. `tolerance` is a lower limit of the certificate's, and `starts`
    are those of the sentences, if they are known.
    """
    certificate = Certificate.from_bound(
        decoder,
        score,
        bound + slack,
        tolerance=max(tolerance, tolerance_of(scale, slack)),
        scale=scale,
        scope=problem.scope,
        iterations=iterations,
    )
    if starts is None and problem.boundaries is not None:
        starts = starts_of_tree(heads)
    return TreeSolution(heads, certificate, starts=starts)


def certified_if_legal(
    decoder: str,
    problem: TreeProblem,
    heads: Integers32,
    bound: float,
    slack: float,
    iterations: int = 1,
    *,
    objective: Callable[[TreeProblem, Integers32], tuple[float, float]] | None = None,
) -> TreeSolution:
    """Return a tree with its certificate, scored by an objective, by default first-order.

    Raises `DecodersError` if it is not a tree of the problem, which is a bug in the kernel.
    """
    from .kernels.proofs import tally  # compiled where it is first needed

    legal, score, scale = tally(problem.arcs, heads, problem.projective, problem.has_one_root)
    starts = None
    if legal and objective is not None:
        score, scale = objective(problem, heads)
    elif legal and problem.boundaries is not None:
        starts = starts_of_tree(heads)
        paid = problem.boundaries[starts].tolist()
        score += sum(paid)
        scale += sum(map(abs, paid))
    if not legal or score == -np.inf:
        raise DecodersError(f"{decoder}: the compiled code did not return a tree of the problem.")
    given = (score, scale, bound, slack, iterations)
    return certified(decoder, problem, heads, *given, starts=starts)


def infeasible(problem: TreeProblem) -> InfeasibleError:
    """Return the error for a problem without any tree, with the cause if it is obvious."""
    without = np.flatnonzero(~problem.allowed[:, 1:].any(axis=0)) + 1
    if without.size:
        return InfeasibleError(
            f"token {int(without[0])} has no candidate head: allow at least one for each token."
        )
    if not problem.allowed[0, 1:].any():
        return InfeasibleError("arcs: row 0, the root's, allows no token; allow at least one.")
    kind = "projective " if problem.projective else ""
    root = "exactly one root" if problem.single_root else "the root"
    if problem.boundaries is not None:
        root = "one root in each sentence"
    return InfeasibleError(
        f"no {kind}tree with {root} can be built from the {int(problem.allowed.sum())} allowed "
        "arcs: allow more, or forbid fewer parts by -inf."
    )


def refuse_unless(
    problem: TreeProblem, decoder: str, *scored: str, projective: bool | None = None
) -> None:
    """Raise if a problem has parts other than arcs and those `scored`, or other trees."""
    has = {
        "grandparents": problem.grandparents is not None,
        "siblings": problem.siblings is not None,
        "factors": problem.has_factors,
    }
    parts = [name for name, present in has.items() if present and name not in scored]
    if parts:
        raise ProblemError(
            f"{decoder}: scores {', '.join(['arcs', *scored])} only, but the problem has "
            f"{' and '.join(parts)}; use BranchAndBound, or leave them out."
        )
    if projective is not None and problem.projective != projective:
        others = {"Eisner": "ChuLiuEdmonds", "ChuLiuEdmonds": "Eisner"}
        kind = "projective" if projective else "non-projective"
        raise ProblemError(
            f"{decoder}: finds {kind} trees; use {others.get(decoder, 'BranchAndBound')}, or set "
            f"projective={projective}."
        )
