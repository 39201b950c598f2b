"""Branch and bound: exact trees under any non-local scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ....arrays import checked_whole, refuse_beyond_memory
from ....budget import UNLIMITED, Budget, rest_of
from ....errors import DecodersError, InfeasibleError, ProblemError, UndecidedError
from ..decoder import TreeDecoder, beside_the_best, bound_of
from ..eisner import best_with_bounds
from ..magnitudes import Magnitudes, magnitudes_of, without_prohibitive
from ..problem import TreeProblem, TreeSolution
from ..proof import UNIT, Through, certified, certified_if_legal, infeasible
from ..scoring import score_and_scale, score_tree
from ..sentences import best_sentences

if TYPE_CHECKING:
    from .search import BestTrees

__all__ = ["BranchAndBound"]

#: The most tokens for which a second-order chart is worth its time and memory.
MOST_CHARTED = 100

NAME = "BranchAndBound"

Backbone = Literal["auto", "first-order", "second-order"]
Method = Literal["default", "paper"]


@dataclass(frozen=True)
class BranchAndBound(TreeDecoder):
    """Exact decoding of trees with any non-local scores, projective or not.

    Non-local scores are bounded by sums over the parts of a dynamic program (the backbone);
    multipliers split each score among these parts, and subgradient steps lower the bound. If the
    best tree of the relaxation does not attain the bound, the search branches on an arc. Arcs
    whose max-marginal does not exceed the incumbent are pruned, which is exact, and later passes
    run on the remaining arcs.

    Parameters
    ----------
    backbone
        ``"second-order"``: all grandparents and adjacent siblings are exact (projective
        only). ``"first-order"``: only arcs are exact (Eisner, or Chu-Liu-Edmonds). ``"auto"``:
        second order for projective trees with grandparent or sibling scores, first order
        otherwise and under the paper's method.
    method
        ``"default"``, or ``"paper"``: as published by Qian and Liu, with multipliers, subgradient
        steps and branching only; many times slower.
    root_iterations, iterations
        The most passes of dynamic programming at the root, and at each other node, before
        branching.

    Notes
    -----
    The budget's iterations are passes of dynamic programming. The certificate's bound is the
    largest bound of the nodes that are open when the search ends. If there is too little time for
    a first pass over a long sentence, the fallback is a tree of separately parsed blocks, bounded
    by the best arborescence.

    Every bound is computed from the search's multipliers by code that is independent of it.
    First-order problems, and projective ones with grandparents, take one pass, as in
    :class:`Eisner`, :class:`ChuLiuEdmonds` and :class:`SecondOrder`.

    References
    ----------
    Qian and Liu (2013), Branch and Bound Algorithm for Dependency Parsing with Non-local
    Features.

    Examples
    --------
    A sibling score decides against the best arcs:

    >>> from spacy_decoders.decoders.tree import TreeProblem
    >>> siblings = np.zeros((4, 4, 4))
    >>> siblings[1, 2, 3] = -5.0
    >>> problem = TreeProblem(
    ...     [[0, 4, 0, 0], [0, 0, 3, 3], [0, 0, 0, 2], [0, 0, 0, 0]], siblings=siblings
    ... )
    >>> solution = BranchAndBound().decode(problem)
    >>> solution.heads, solution.certificate.score, solution.certificate.status
    (array([0, 1, 2], dtype=int32), 9.0, 'optimal')
    """

    backbone: Backbone = "auto"
    root_iterations: int = 40
    iterations: int = 12
    method: Method = "default"

    def __post_init__(self) -> None:
        if self.backbone not in get_args(Backbone):
            raise ProblemError(
                "backbone: expected 'auto', 'first-order' or 'second-order', "
                f"got {self.backbone!r}."
            )
        if self.method not in ("default", "paper"):
            raise ProblemError(f"method: expected 'default' or 'paper', got {self.method!r}.")
        if self.method == "paper" and self.backbone == "second-order":
            raise ProblemError("backbone: the paper's method is first-order; use 'auto'.")
        for name in ("root_iterations", "iterations"):
            checked_whole(name, getattr(self, name), low=1)

    def _solve(self, problem: TreeProblem, budget: Budget) -> tuple[TreeSolution, Through | None]:
        if problem.boundaries is not None and not self._charts_sentences(problem):
            return best_sentences(self, problem, budget), None
        if self._needs_one_pass(problem, budget):
            if problem.grandparents is not None:
                from ..second_order import best_by_second_order  # compiled where first needed

                return best_by_second_order(NAME, problem), None
            found = best_with_bounds(NAME, problem, budget)
            # with crossing arcs it may not be, if rounding errors are large
            if problem.projective or found[0].certificate.is_optimal:
                return found
        return self._decoded(problem, 1, budget)[0][0], None

    def _needs_one_pass(self, problem: TreeProblem, budget: Budget) -> bool:
        """Return whether one pass of dynamic programming is all that the search needs."""
        if problem.n == 0 or self.method == "paper":
            return False
        if problem.siblings is not None or problem.has_factors:
            return False
        if problem.grandparents is None:
            return self.backbone != "second-order"
        if not problem.projective:
            return False
        is_short = problem.n <= MOST_CHARTED and budget.seconds is None
        return is_short and self.backbone != "first-order"

    def k_best(
        self, problem: TreeProblem, k: int, *, budget: Budget = UNLIMITED
    ) -> list[TreeSolution]:
        """Find up to `k` trees in one search, as in section 5.2 of Qian and Liu (2013).

        With rules, or boundaries that the backbone does not score, see :meth:`TreeDecoder.k_best`.
        """
        self._begun(problem, budget)
        k = checked_whole("k", k, low=1)
        if problem.is_constrained or not self._charts_sentences(problem):
            return super().k_best(problem, k, budget=budget)
        k = min(k, math.prod(max(1, of) for of in problem.allowed[:, 1:].sum(axis=0).tolist()))
        refuse_beyond_memory("k", f"{k:,} trees", k * (4 * problem.n + 12), "ask for fewer")
        solutions, rest, slack = self._decoded(problem, k, budget)
        # a tree whose rank is not proven may be exceeded by any tree that is not listed
        listed = [score_tree(problem, solution.heads) for solution in solutions]
        least = bound_of(solutions[0])
        ranked = [
            replace(solution, rank_bound=min(least, max(rest, *listed[place:]) + slack))
            for place, solution in enumerate(solutions)
        ]
        return beside_the_best(ranked, min(least, max(rest, *listed) + slack))

    def _charts_sentences(self, problem: TreeProblem) -> bool:
        """Return whether the backbone scores boundaries, if there are any."""
        return problem.boundaries is None or (problem.projective and self.method == "default")

    def _decoded(
        self, problem: TreeProblem, k: int, budget: Budget
    ) -> tuple[list[TreeSolution], float, float]:
        """Return the best trees, a bound on all others, and the rounding error of that bound."""
        if problem.n == 0:
            solution, slack = self._of_nothing(problem)
            return [solution], -np.inf, slack
        found, bound, slack = self._found(problem, k, budget)
        if len(found.scores) == 0:
            if bound == -np.inf:
                raise infeasible(problem)
            if budget == UNLIMITED:
                raise DecodersError(
                    "BranchAndBound: the compiled code found no tree, though there may be one."
                )
            raise UndecidedError(
                "budget: it ended before any tree was found; allow more seconds or iterations."
            )
        if len({heads[1:].tobytes() for heads in found.heads}) < len(found.heads):
            raise DecodersError("BranchAndBound: the compiled code listed a tree twice.")
        given = (bound, slack, found.calls)
        solutions = [
            certified_if_legal(NAME, problem, heads[1:], *given, objective=score_and_scale)
            for heads in found.heads
        ]
        return solutions, found.rest, found.slack

    def _found(
        self, problem: TreeProblem, k: int, budget: Budget
    ) -> tuple[BestTrees, float, float]:
        """Search without prohibitive parts, and add them back only if they may matter.

        Return also the lowest bound on all trees, and its rounding error: it needs fewer parts
        than those of later ranks.
        """
        clock, calls, bounds = budget.start(), 0, []
        search = self._search_as_in_paper if self.method == "paper" else self._search
        magnitudes = magnitudes_of(problem)
        for part, beyond in without_prohibitive(problem, magnitudes):
            sizes = magnitudes if part is problem else magnitudes_of(part)
            found = search(part, sizes, k, rest_of(clock, calls))
            calls += found.calls
            bounds.append((max(found.bound, beyond), sizes.rounding))
            rest = max(found.rest, beyond)
            found = found._replace(rest=rest, slack=sizes.rounding, calls=calls)
            if len(found.scores) == k and found.scores[-1] > beyond + found.slack:
                break
            if len(found.scores) and clock.exhausted(calls):
                break
        return found, *min(bounds, key=sum)

    def _search_as_in_paper(
        self, problem: TreeProblem, magnitudes: Magnitudes, k: int, budget: Budget
    ) -> BestTrees:
        from ..published.branch_and_bound import search_as_in_paper

        if k > 1:
            raise ProblemError("k: the paper's method finds one tree; use method='default'.")
        return search_as_in_paper(problem, magnitudes, self.root_iterations, budget)

    def _search(
        self, problem: TreeProblem, magnitudes: Magnitudes, k: int, budget: Budget
    ) -> BestTrees:
        from .search import search  # compiled where it is first needed

        second_order = problem.projective and (
            self.backbone == "second-order"
            or (
                self.backbone == "auto"
                and (problem.grandparents is not None or problem.siblings is not None)
            )
        )
        passes = self.root_iterations, self.iterations
        return search(problem, magnitudes, k, second_order, passes, budget)

    def _of_nothing(self, problem: TreeProblem) -> tuple[TreeSolution, float]:
        """Return the empty tree, the only one over no tokens, whose score is the bound."""
        heads = np.zeros(0, np.int32)
        score, scale = score_and_scale(problem, heads)
        if score == -np.inf:
            raise InfeasibleError("the only tree has a forbidden factor: allow it.")
        slack = UNIT * (problem.factors.count if problem.factors is not None else 0) * scale
        return certified(NAME, problem, heads, score, scale, score, slack), slack
