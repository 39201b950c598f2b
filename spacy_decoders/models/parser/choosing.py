"""The decoder of a sentence, where another than the given one is faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...budget import Budget, allowing_for_compilation, rest_of
from ...errors import ProblemError

if TYPE_CHECKING:
    from ...decoders.protocols import TreeDecoding
    from ...decoders.tree import TreeProblem, TreeSolution

__all__ = ["PRICED_FROM", "decode_by_length"]

#: The number of tokens from which a descent on prices is faster than branch and bound on trees
#: with crossing arcs and grandparents: measured on trained scores.
PRICED_FROM = 45


def decode_by_length(decoder: TreeDecoding, problem: TreeProblem, budget: Budget) -> TreeSolution:
    """Find the best tree by a decoder, or by a faster one that proves it.

    `BranchAndBound` without options of its own is preceded by `PriceAndCut` on long sentences with
    crossing arcs and grandparents only. Its descent on a bound proves nine of ten of these; it
    stops before a second linear program, and branch and bound decides on the others.

    Parameters
    ----------
    decoder
        The decoder that was chosen.
    problem
        The scores of one sentence.
    budget
        For both together.
    """
    clock = budget.start()
    first = _priced(problem, budget) if _is_for_prices(decoder, problem) else None
    if first is not None:
        if first.certificate.is_optimal:
            return first
        budget = rest_of(clock, 1)
    found = decoder.decode(problem, budget=allowing_for_compilation(budget, decoder))
    if first is None or found.certificate.is_optimal:
        return found
    return max(found, first, key=_score)


def _is_for_prices(decoder: TreeDecoding, problem: TreeProblem) -> bool:
    if problem.n < PRICED_FROM or problem.projective:
        return False
    from ...decoders.tree import BranchAndBound

    return (
        problem.grandparents is not None
        and problem.siblings is None
        and not problem.has_factors
        and not problem.is_constrained
        and problem.boundaries is None
        and decoder == BranchAndBound()
    )


def _priced(problem: TreeProblem, budget: Budget) -> TreeSolution | None:
    """Return the solution of at most one linear program; None for scores that are beyond one."""
    from ...decoders.tree import PriceAndCut

    prices = PriceAndCut()
    once = allowing_for_compilation(Budget(budget.seconds, 1), prices)
    try:
        return prices.decode(problem, budget=once)
    except ProblemError:
        return None


def _score(solution: TreeSolution) -> float:
    score = solution.certificate.score
    assert score is not None  # infeasible problems have raised an error
    return score
