"""Parse, price and cut: trees with grandparents by linear programs with delayed columns and rows.

Riedel, Smith and McCallum (2012). `price_and_cut_search` improves prices, solves and branches;
`price_and_cut_program` has the linear program and the rows that are added later, and
`price_and_cut_pricing` bounds trees at given prices and selects columns.
"""

from dataclasses import dataclass, replace

import numpy as np

from ....arrays import checked_flags
from ....budget import UNLIMITED, Budget, Clock
from ....errors import ProblemError, UndecidedError
from ...programs import Solver, checked_solver
from ..decoder import TreeDecoder
from ..fallbacks import tree_in_blocks
from ..magnitudes import without_prohibitive
from ..problem import TreeProblem, TreeSolution
from ..proof import certified_if_legal, infeasible, parts_of, refuse_unless
from ..scoring import score_and_scale
from ..sentences import best_sentences
from .price_and_cut_pricing import ScoreTable
from .price_and_cut_search import BranchAndPrice, PriceAndCutResult

__all__ = ["PriceAndCut"]

#: Solvers have absolute tolerances: beside larger scores the others would be lost.
LARGEST = 1e9

#: Seconds to set up the grandparents and find a first tree, for each n^3.
SECONDS_A_CUBE = 2e-7


@dataclass(frozen=True)
class PriceAndCut(TreeDecoder):
    """Exact decoding of trees with grandparents by linear programming.

    The program starts with the arcs and few grandparents. The duals price the others: only
    those that may have a positive reduced cost are scored, and only those that do have one are
    added. Rows are added when a point violates them. Any duals also give a bound on all trees, by
    one spanning tree, so that arcs of no better tree are pruned on the way, and the certificate
    does not depend on the solver's claims. Subgradient steps on this bound come first, and prove
    the best tree of most sentences before a program is built.

    Parameters
    ----------
    solver
        ``"HIGHS"``, or ``"CBC"`` (needs the extra ``solvers``).
    relax
        Whether to stop at the optimum of the relaxation: if it is fractional, the best tree
        found is returned with that bound. Otherwise the search branches until the best tree is
        proven.
    pruning
        Whether to improve prices before a program is built, and to prune arcs. Without it this is
        the paper's method.

    Notes
    -----
    The budget's iterations are linear programs. Where the solver fails, as it may beside masks of
    -1e9, the best tree found is returned with the bound reached; if there is none,
    `UndecidedError` is raised.

    References
    ----------
    Riedel, Smith and McCallum (2012), Parse, Price and Cut: Delayed Column and Row Generation
    for Graph Based Parsers.

    Examples
    --------
    The arcs alone prefer token 2 as the root, but the chain 1 -> 2 -> 3 scores more:

    >>> from spacy_decoders.decoders.tree import TreeProblem
    >>> grandparents = np.zeros((4, 4, 4))
    >>> grandparents[1, 2, 3] = 5.0
    >>> problem = TreeProblem(
    ...     [[0, 1, 3, 0], [0, 0, 1, 0], [0, 2, 0, 2], [0, 0, 0, 0]],
    ...     grandparents, projective=False,
    ... )
    >>> solution = PriceAndCut().decode(problem)
    >>> solution.heads, solution.certificate.score, solution.certificate.status
    (array([0, 1, 2], dtype=int32), 9.0, 'optimal')
    """

    solver: Solver = "HIGHS"
    relax: bool = False
    pruning: bool = True

    def __post_init__(self) -> None:
        checked_solver(self.solver)
        checked_flags(self, "relax", "pruning")

    def _solve(self, problem: TreeProblem, budget: Budget) -> tuple[TreeSolution, None]:
        if problem.boundaries is not None:
            return best_sentences(self, problem, budget), None
        found = self.search(problem, budget=budget)
        if found.heads is None:
            raise infeasible(problem)
        heads = found.heads[1:].astype(np.int32)
        given = ("PriceAndCut", problem, heads, found.bound, 0.0, found.rounds)
        return certified_if_legal(*given, objective=score_and_scale), None

    def search(self, problem: TreeProblem, *, budget: Budget = UNLIMITED) -> PriceAndCutResult:
        """Find the best tree, with statistics of the search."""
        clock = self._begun(problem, budget)
        refuse_unless(problem, "PriceAndCut", "grandparents")
        if problem.n == 0:
            return PriceAndCutResult(np.array([-1]), 0.0, 0.0, True)
        blocks = tree_in_blocks(problem, SECONDS_A_CUBE * problem.n**3, clock)
        if blocks is not None:
            given = (blocks.heads.astype(np.int64), blocks.score, blocks.bound, False)
            return PriceAndCutResult(*given, scored=problem.n)
        result: PriceAndCutResult | None = None
        for part, beyond in without_prohibitive(problem):
            try:
                found = self._searched(part, clock)
            except (ProblemError, UndecidedError):  # what the solver can't handle
                if result is None or result.heads is None:
                    raise
                break
            result = replace(found, bound=max(found.bound, beyond))
            if found.heads is not None and (found.score > beyond or clock.exhausted(found.rounds)):
                break
        assert result is not None  # the last part is the problem itself
        return result

    def _searched(self, problem: TreeProblem, clock: Clock) -> PriceAndCutResult:
        for name, scores in parts_of(problem).items():
            if np.abs(scores[scores > -np.inf]).max(initial=0.0) > LARGEST:
                raise ProblemError(
                    f"{name}: the solver of PriceAndCut can't handle scores beyond {LARGEST:g}, "
                    "labels included; scale them, forbid low ones by -inf, or use BranchAndBound."
                )
        table = ScoreTable(problem)
        return BranchAndPrice(table, self.solver, self.pruning, not self.relax, clock).run()
