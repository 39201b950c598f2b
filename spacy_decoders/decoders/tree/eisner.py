"""Projective trees with scores on arcs alone, in O(n^3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...budget import UNLIMITED, Budget
from .constrained import best_constrained
from .decoder import (
    TreeDecoder,
    bounds_without,
    certified_if_legal,
    infeasible,
    refuse_unless,
    rounding_slack,
)
from .fallbacks import tree_in_blocks
from .problem import TreeProblem, TreeSolution

__all__ = ["Eisner", "best_by_chart"]

#: Seconds that a chart and its check may take for each triple of tokens, on a slow machine; and
#: those that they may take whatever the budget.
STEP, LEAST = 2e-9, 0.05


@dataclass(frozen=True)
class Eisner(TreeDecoder):
    """Exact projective decoding by dynamic programming over spans.

    Notes
    -----
    The chart is a dual solution: its value bounds every tree if no span in it scores less than any
    two parts that it can be built from. Separate code checks this, and the bound is compared with
    the sum of the tree's arcs.

    References
    ----------
    Eisner (1996), Three New Probabilistic Models for Dependency Parsing: An Exploration.

    Examples
    --------
    >>> from spacy_decoders.decoders.tree import TreeProblem
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> solution = Eisner().decode(problem)
    >>> solution.heads, solution.certificate.score, solution.certificate.status
    (array([2, 0], dtype=int32), 5.0, 'optimal')
    """

    def decode(self, problem: TreeProblem, *, budget: Budget = UNLIMITED) -> TreeSolution:
        if problem.is_constrained:
            return best_constrained(self, problem, budget)
        refuse_unless(problem, "Eisner", projective=True)
        return best_by_chart("Eisner", problem, budget)

    def _best_without(self, problem: TreeProblem, best: TreeSolution) -> NDArray[np.float64]:
        if problem.is_constrained:
            return super()._best_without(problem, best)
        from .kernels import eisner  # compiled where it is first needed

        given = problem.arcs, problem.has_one_root, problem.gaps
        return bounds_without(problem, eisner.max_marginals(*given), best)


def best_by_chart(decoder: str, problem: TreeProblem, budget: Budget) -> TreeSolution:
    """Return the best projective tree of single arcs, in a decoder's name.

    Where the seconds do not suffice for the chart, it is a tree of blocks.
    """
    from .kernels import eisner, proofs  # compiled where they are first needed

    if budget.seconds is not None:
        blocks = tree_in_blocks(problem, STEP * problem.n**3 - LEAST, budget.start())
        if blocks is not None:
            return certified_if_legal(decoder, problem, blocks.heads[1:], blocks.bound, 0.0)
    given = (problem.arcs, problem.has_one_root, problem.gaps)
    heads, chart, _, positive = eisner.charted(*given)
    bound = proofs.chart_bound(*given, chart)
    if bound == -float("inf"):
        raise infeasible(problem)
    parts = problem.n
    if problem.boundaries is not None:
        parts += problem.n
        positive += float(np.maximum(problem.boundaries, 0.0).sum())
    slack = rounding_slack(parts, bound, positive)
    return certified_if_legal(decoder, problem, heads, bound, slack)
