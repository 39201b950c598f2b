"""Eisner's chart within a limit of time: in slices, between which the clock is read."""

from __future__ import annotations

import math

import numpy as np

from ...budget import Budget, Clock
from .decoder import certified_by_arcs, infeasible, rounding_slack
from .fallback import block_tree
from .problem import TreeProblem, TreeSolution

__all__ = ["best_heads_bound", "chart_in_slices", "lacks_time"]

#: Seconds that a chart and its check may take for each triple of tokens, on a slow machine.
STEP = 2e-9

#: What a decoder may take in any case.
LEAST = 0.05

#: Triples of tokens between two readings of the clock: some milliseconds.
SLICE = 1 << 22


def lacks_time(tokens: int, budget: Budget) -> bool:
    """Return whether work that is cubic in so many tokens may take longer than the budget."""
    return budget.seconds is not None and STEP * tokens**3 > max(LEAST, budget.seconds)


def best_heads_bound(problem: TreeProblem) -> float:
    """Return the sum of the best head of each token, rounded up: no tree scores more."""
    best = problem.arcs[:, 1:].max(axis=0).tolist()
    return math.fsum(best) + 1e-15 * math.fsum(map(abs, best))


def chart_in_slices(decoder: str, problem: TreeProblem, clock: Clock) -> TreeSolution | None:
    """Return the best projective tree, or one of blocks of tokens when the time ends.

    Returns
    -------
    TreeSolution | None
        None where no tree of blocks is legal: only the whole chart has one then.

    Raises
    ------
    InfeasibleError
        If there is no tree.
    """
    from .kernels import eisner, proofs  # compiled where they are first needed

    if problem.boundaries is not None or (fallback := block_tree(problem)) is None:
        return None
    given = (problem.arcs, problem.has_one_root, problem.gaps)
    size = problem.n + 1
    begun = clock.seconds_left
    chart = np.empty((4, size, size))
    last = 1 if problem.has_one_root else 0
    past = size
    while past > last and clock.seconds_left > 0.0:
        rows = max(1, min(SLICE // (size - past + 1) ** 2, round(SLICE ** (1 / 3))))
        first = max(last, past - rows)
        eisner.fill(problem.arcs, past, first, problem.gaps, chart)
        past = first
    left = clock.seconds_left
    if past > last:
        return certified_by_arcs(decoder, problem, fallback[0][1:], best_heads_bound(problem), 0.0)
    heads, value, positive = eisner.read(*given, chart)
    if value == -math.inf:
        raise infeasible(problem)
    # the check takes no longer than the chart
    if left < begun - left:
        return certified_by_arcs(decoder, problem, heads, best_heads_bound(problem), 0.0)
    bound = proofs.chart_bound(*given, chart)
    return certified_by_arcs(
        decoder, problem, heads, bound, rounding_slack(problem.n, bound, positive)
    )
