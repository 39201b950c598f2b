"""Projective trees with grandparents and adjacent siblings, in O(n^4)."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats, Integers, Integers32, read_only
from ...budget import UNLIMITED, Budget, Clock
from ...errors import ProblemError
from .decoder import TreeDecoder
from .eisner import OVERTIME, THROUGH
from .fallbacks import tree_in_blocks
from .kernels import second_order, second_order_proof
from .problem import TreeProblem, TreeSolution
from .proof import (
    bounds_without,
    certified_if_legal,
    infeasible,
    most_gained,
    refuse_unless,
    rounding_slack,
)
from .scoring import sentence_starts, tree_with_root

__all__ = ["Grandparents", "SecondOrder", "second_order_marginals", "second_order_score"]

NAME = "SecondOrder"

#: The modifiers whose grandparents are scored.
Grandparents = Literal["all", "outermost"]

#: Seconds that a chart and its check may take for each quadruple of tokens, on a slow machine.
STEP = 1.5e-9

#: Stands for an absent array in calls of the kernels.
_NONE = read_only(np.zeros((0, 0, 0)))


@dataclass(frozen=True)
class SecondOrder(TreeDecoder):
    """Exact projective decoding with grandparents and adjacent siblings.

    Of a problem's siblings only adjacent ones are scored: ``siblings[h, a, b]`` where a and b
    modify h on the same side and no modifier of h stands between them. The certificate refers to
    this objective, :func:`second_order_score`; to score all pairs, use `BranchAndBound`.

    Parameters
    ----------
    grandparents
        ``"all"`` scores every chain g -> h -> m; ``"outermost"`` only that of the outermost
        modifier of h on each side, as the backbone of the branch and bound paper does.

    Notes
    -----
    Spans are indexed by the head of their head as well, so time is O(n^4) and memory O(n^3). As
    for `Eisner`, the chart bounds every tree if no entry is less than the score of any way to
    build it; checking this takes about as long as filling the chart.

    References
    ----------
    Koo and Collins (2010), Efficient Third-order Dependency Parsers, whose grandparent spans
    these are; Carreras (2007), Experiments with a Higher-Order Projective Dependency Parser.

    Examples
    --------
    >>> from spacy_decoders.decoders.tree import TreeProblem
    >>> siblings = np.zeros((4, 4, 4))
    >>> siblings[1, 2, 3] = 5  # pays if 2 and 3 both modify 1
    >>> problem = TreeProblem(np.ones((4, 4)), siblings=siblings)
    >>> solution = SecondOrder().decode(problem)
    >>> solution.heads, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 8.0, 'optimal')
    """

    grandparents: Grandparents = "all"

    def __post_init__(self) -> None:
        if self.grandparents not in ("all", "outermost"):
            raise ProblemError(
                "SecondOrder: grandparents must be 'all' or 'outermost', "
                f"got {self.grandparents!r}."
            )

    def _solve(self, problem: TreeProblem, budget: Budget) -> tuple[TreeSolution, None]:
        # the two variants have different objectives, which `verify` must tell apart
        name = f"{NAME}.outermost" if self._outermost else NAME
        return best_by_second_order(name, problem, self._outermost, budget), None

    def seconds_of_charts(self, problem: TreeProblem, number: float = 1.0) -> float:
        return number * STEP * problem.n**4 - OVERTIME

    def _best_without(self, problem: TreeProblem, best: TreeSolution, clock: Clock) -> Floats:
        too_long = self.seconds_of_charts(problem, THROUGH) > clock.seconds_left
        if too_long or problem.is_constrained or self._outermost:
            return super()._best_without(problem, best, clock)
        return bounds_without(problem, second_order_marginals(problem), best.heads)

    def objective(
        self, problem: TreeProblem, heads: Integers32, labels: Integers | None
    ) -> tuple[float, float]:
        tree = np.ascontiguousarray(heads, dtype=np.int32)
        score, scale = _score_and_scale(problem, tree, self._outermost)
        if problem.labels is not None and labels is not None:
            more = problem.labels[heads, np.arange(1, problem.n + 1), labels]
            score += float(more.sum())
            scale += float(np.abs(more).sum())
        return score, scale

    @property
    def _outermost(self) -> bool:
        return self.grandparents == "outermost"


def second_order_score(
    problem: TreeProblem, heads: ArrayLike, grandparents: Grandparents = "all"
) -> float:
    """Return the objective of :class:`SecondOrder` for a tree, summed in float64.

    Examples
    --------
    >>> problem = TreeProblem(np.ones((4, 4)), siblings=np.ones((4, 4, 4)))
    >>> second_order_score(problem, [2, 0, 2])  # 1 and 3 stand on two sides of 2
    3.0
    >>> second_order_score(problem, [0, 1, 1])
    4.0
    """
    tree = tree_with_root(heads, problem.n)[1:].astype(np.int32)
    return _score_and_scale(problem, tree, grandparents == "outermost")[0]


def second_order_marginals(problem: TreeProblem) -> Floats:
    """Return the score of the best tree through each arc, where all grandparents count.

    Of float64 (n + 1, n + 1), ``-inf`` where no tree has the arc; proven upper bounds, up to
    rounding, that are infinite if the chart is at fault. Raises `ProblemError` if the problem is
    not projective or has factors.
    """
    refuse_unless(problem, NAME, "grandparents", "siblings", projective=True)
    given = (problem.arcs, *_arrays(problem), problem.gaps, problem.has_one_root)
    space = np.empty(second_order.entries(problem.n + 1, False))
    second_order.decode(*given, False, space)
    bound = second_order_proof.chart_bound(*given, False, space)
    return second_order_proof.bounds_by_chart(*given, space, bound)


def best_by_second_order(
    decoder: str, problem: TreeProblem, outermost: bool = False, budget: Budget = UNLIMITED
) -> TreeSolution:
    """Return the best projective tree under this chart's objective.

    The certificate names `decoder`. If there is too little time for the chart, the fallback is a
    tree of blocks. Raises `ProblemError` if the problem has parts that the chart does not cover,
    and `InfeasibleError` if there is no tree.
    """
    refuse_unless(problem, NAME, "grandparents", "siblings", projective=True)
    objective = partial(_score_and_scale, outermost=outermost)
    if budget.seconds is not None:
        seconds = SecondOrder().seconds_of_charts(problem)
        # the least that an arc's grandparent adds; if only outermost ones count, it may be 0
        least = 0.0 if outermost else -np.inf
        blocks = tree_in_blocks(problem, seconds, budget.start(), least)
        if blocks is not None:
            tree = (blocks.heads[1:], blocks.bound, 0.0)
            return certified_if_legal(decoder, problem, *tree, objective=objective)
    given = (problem.arcs, *_arrays(problem), problem.gaps, problem.has_one_root, outermost)
    space = np.empty(second_order.entries(problem.n + 1, outermost))
    heads, _ = second_order.decode(*given, space)
    bound = second_order_proof.chart_bound(*given, space)
    if bound == -np.inf:
        raise infeasible(problem)
    slack = rounding_slack(4 * problem.n, bound, most_gained(problem))
    return certified_if_legal(decoder, problem, heads, bound, slack, objective=objective)


def _score_and_scale(
    problem: TreeProblem, heads: Integers32, outermost: bool
) -> tuple[float, float]:
    """Return the sum of a tree's parts except labels, and of their absolute values."""
    score, scale = second_order.score(problem.arcs, *_arrays(problem), outermost, heads)
    if problem.boundaries is not None:
        boundaries = problem.boundaries[sentence_starts(heads)]
        score += float(boundaries.sum())
        scale += float(np.abs(boundaries).sum())
    return float(score), float(scale)


def _arrays(problem: TreeProblem) -> tuple[Floats, Floats]:
    grandparents = _NONE if problem.grandparents is None else problem.grandparents
    siblings = _NONE if problem.siblings is None else problem.siblings
    return grandparents, siblings
