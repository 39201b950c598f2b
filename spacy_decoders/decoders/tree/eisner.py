"""First-order projective trees, in O(n^3)."""

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats
from ...budget import Budget, Clock, rest_of
from .constrained import LabelledSearch
from .decoder import TreeDecoder
from .fallbacks import bounded, tree_in_blocks
from .problem import TreeProblem, TreeSolution
from .proof import (
    Through,
    bounds_without,
    certified_if_legal,
    infeasible,
    refuse_unless,
)

__all__ = ["Eisner", "best_with_bounds", "bounds_through"]

#: Seconds that a chart and its check may take for each triple of tokens, on a slow machine.
STEP = 2e-9
#: Seconds that charts may take whatever the budget.
OVERTIME = 0.05
#: How many times as long a chart with bounds of the trees through each arc takes.
THROUGH = 3.0
#: The most iterations of the search for the relaxations that bound trees under rules.
MOST_RELAXED = 20


@dataclass(frozen=True)
class Eisner(TreeDecoder):
    """Exact projective decoding by dynamic programming over spans.

    Notes
    -----
    The chart is a dual solution: its value bounds every tree if no span in it scores less than any
    two parts that it can be built from. Independent code checks this, and the bound is compared
    with the sum of the tree's arcs.

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

    def _solve(self, problem: TreeProblem, budget: Budget) -> tuple[TreeSolution, Through | None]:
        refuse_unless(problem, "Eisner", projective=True)
        return best_with_bounds("Eisner", problem, budget)

    def seconds_of_charts(self, problem: TreeProblem, number: float = 1.0) -> float:
        return number * STEP * problem.n**3 - OVERTIME

    def _best_without(self, problem: TreeProblem, best: TreeSolution, clock: Clock) -> Floats:
        parts = [problem]
        if problem.is_constrained:
            budget = replace(rest_of(clock, 0), iterations=MOST_RELAXED)
            parts = LabelledSearch(self, problem, budget.start()).relaxations()
        bounds: list[Floats] = []
        for part in parts:
            if clock.exhausted() or self.seconds_of_charts(part, THROUGH) > clock.seconds_left:
                bounds.clear()
                break
            bounds.append(bounds_without(part, bounds_through(part), best.heads))
        return np.max(bounds, axis=0) if bounds else super()._best_without(problem, best, clock)


def best_with_bounds(
    decoder: str, problem: TreeProblem, budget: Budget
) -> tuple[TreeSolution, Through | None]:
    """Return the best first-order tree, and how to bound the trees through each arc.

    The certificate names `decoder`. If there is too little time for a chart, the fallback is a
    tree of blocks. With a time limit a chart yields no bounds on the trees through each arc.
    """
    charted = problem.projective and budget.seconds is not None
    if charted:
        blocks = tree_in_blocks(problem, Eisner().seconds_of_charts(problem), budget.start())
        if blocks is not None:
            tree = problem, blocks.heads[1:], blocks.bound, 0.0
            return certified_if_legal(decoder, *tree), None
    given = problem.arcs, problem.projective, problem.has_one_root, problem.gaps
    heads, bound, slack, through = bounded(*given)
    if bound == -np.inf:
        raise infeasible(problem)
    solution = certified_if_legal(decoder, problem, heads, bound, slack)
    return solution, None if charted else through


def bounds_through(problem: TreeProblem) -> Floats:
    """Return upper bounds on the first-order projective trees through each arc, up to rounding.

    They are the scores of the best trees, ``-inf`` if there is none, or infinite if the check of
    the chart fails. **Shape:** ``(n + 1, n + 1)``.
    """
    return bounded(problem.arcs, True, problem.has_one_root, problem.gaps)[-1]()
