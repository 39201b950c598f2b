"""Parse, price and cut: trees with grandparents by linear programs with delayed columns and rows.

Riedel, Smith and McCallum (2012). `price_and_cut_search` improves prices, solves and branches;
`price_and_cut_program` is the linear program with the rows that it lacks, and
`price_and_cut_pricing` bounds trees at given prices and selects columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....budget import UNLIMITED, Budget, Clock
from ....errors import DecodersError, ProblemError
from ...programs import Solver, checked_solver
from ..constrained import best_constrained
from ..decoder import TreeDecoder, certified, infeasible
from ..kernels import proofs
from ..magnitudes import without_prohibitive
from ..problem import TreeProblem, TreeSolution
from ..scoring import score_and_scale
from ..sentences import best_sentences
from .grandparent_scores import DenseGrandparents, GrandparentScorer, ScoreTable
from .price_and_cut_pricing import GrandparentModel, best_tree
from .price_and_cut_search import BranchAndPrice, PriceAndCutResult

__all__ = ["PriceAndCut"]

#: Solvers work with absolute tolerances: larger scores would hide the others.
LARGEST = 1e9

#: Seconds to set up the grandparents and find a first tree, for each n^3.
SECONDS_A_CUBE = 2e-7


@dataclass(frozen=True)
class PriceAndCut(TreeDecoder):
    """Exact decoding of trees with grandparents by linear programming.

    The program starts with the single arcs and few grandparents. The duals price the others: only
    those that may have a positive reduced cost are scored, and only those that do have one enter.
    Rows enter where a point violates them. Any duals also bound all trees, by one spanning tree,
    so that arcs which no better tree can have are pruned on the way, and the certificate does not
    depend on the solver's claims. Subgradient steps on this bound come first, and prove the best
    tree of most sentences before a program is built.

    Parameters
    ----------
    solver
        ``"HIGHS"``, or ``"CBC"`` (needs the extra ``solvers``).
    relax
        Whether to stop at the optimum of the relaxation: where it is fractional, the best tree
        found is returned with that bound. Otherwise the search branches until the best tree is
        proven.
    pruning
        Whether prices are improved before a program is built, and arcs are pruned. Without it
        this is the paper's method.

    Notes
    -----
    The budget's iterations are linear programs.

    References
    ----------
    Riedel, Smith and McCallum (2012), Parse, Price and Cut: Delayed Column and Row Generation
    for Graph Based Parsers.

    Examples
    --------
    By its arcs token 2 would be the root, but the chain 1 -> 2 -> 3 scores more:

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

    def decode(
        self,
        problem: TreeProblem,
        *,
        scorer: GrandparentScorer | None = None,
        budget: Budget = UNLIMITED,
    ) -> TreeSolution:
        """Find the best tree.

        Parameters
        ----------
        problem
            Arcs, and grandparents unless they come from `scorer`.
        scorer
            Grandparent scores on demand, in place of the problem's.
        budget
            When to stop. Without any tree by then, the search continues until the first one.

        Raises
        ------
        ProblemError
            If the problem has siblings or factors, or scores too large for a solver.
        InfeasibleError
            If no tree satisfies the constraints.
        """
        if problem.is_constrained or problem.boundaries is not None:
            if scorer is not None:
                raise ProblemError(
                    "scorer: problems with labels, rules or boundaries are decoded in parts; "
                    "pass the grandparents in the problem instead."
                )
            parts = best_constrained if problem.is_constrained else best_sentences
            return parts(self, problem, budget)
        found = self.search(problem, scorer=scorer, budget=budget)
        if found.heads is None:
            raise infeasible(problem)
        heads = found.heads[1:].astype(np.int32)
        legal = proofs.tally(problem.arcs, heads, problem.projective, problem.single_root)[0]
        score, scale = score_and_scale(problem, heads)
        if scorer is not None:  # it is called only once for each chain
            score += float(found.chains.sum())
            scale += float(np.abs(found.chains).sum())
        if not legal or score == -np.inf:
            raise DecodersError("PriceAndCut: the search returned no legal tree.")
        # nodes are closed within a slack, which the tolerance must include
        return certified(
            "PriceAndCut", problem, heads, score, scale, found.bound, 0.0, found.rounds
        )

    def search(
        self,
        problem: TreeProblem,
        *,
        scorer: GrandparentScorer | None = None,
        budget: Budget = UNLIMITED,
    ) -> PriceAndCutResult:
        """Do the same, and return statistics of the search."""
        _check(problem, scorer)
        clock = budget.start()
        if problem.n == 0:
            return PriceAndCutResult(np.array([-1]), 0.0, 0.0, True)
        if SECONDS_A_CUBE * problem.n**3 > clock.seconds_left:
            fallback = _without_program(problem, scorer or DenseGrandparents.of(problem))
            if fallback is not None:
                return fallback
        if scorer is not None:
            return self._searched(problem, scorer, clock)
        for part, beyond in without_prohibitive(problem):
            found = self._searched(part, None, clock)
            if found.heads is not None and (found.score > beyond or clock.exhausted(found.rounds)):
                break
        return replace(found, bound=max(found.bound, beyond))

    def _searched(
        self, problem: TreeProblem, scorer: GrandparentScorer | None, clock: Clock
    ) -> PriceAndCutResult:
        arcs = np.where(problem.arcs < -LARGEST, -np.inf, problem.arcs)
        table = ScoreTable(scorer or DenseGrandparents.of(problem), arcs > -np.inf, -LARGEST)
        model = GrandparentModel(arcs, table, problem.projective, problem.single_root)
        found = BranchAndPrice(model, self.solver, self.pruning, not self.relax, clock).run()
        if (problem.allowed & (arcs == -np.inf)).any() or table.lowered:
            _check_left_out(problem, table, found)
        return found


def _without_program(problem: TreeProblem, scorer: GrandparentScorer) -> PriceAndCutResult | None:
    """Find a tree and a bound by the most that grandparents can add to each arc."""
    most = problem.arcs.copy()
    most[1:] += scorer.by_arc[1:]
    bound = best_tree(most, problem.projective, problem.single_root)
    if bound.value == -np.inf:
        return None
    heads = bound.heads
    c = np.flatnonzero(heads > 0)
    chains = np.asarray(scorer.score(heads[heads[c]], heads[c], c), dtype=np.float64)
    arcs = problem.arcs[heads[1:], np.arange(1, problem.n + 1)]
    score = float(arcs.sum() + chains.sum())
    if score == -np.inf:
        return None
    return PriceAndCutResult(heads, score, bound.value, False, scored=len(chains), chains=chains)


def _check(problem: TreeProblem, scorer: GrandparentScorer | None) -> None:
    if problem.siblings is not None or problem.has_factors:
        parts = "siblings" if problem.siblings is not None else "factors"
        raise ProblemError(
            f"PriceAndCut: scores arcs and grandparents only, but the problem has {parts}; use "
            "BranchAndBound, or leave them out."
        )
    highest = problem.arcs.max(initial=-np.inf)
    if scorer is None and problem.grandparents is not None:
        highest = max(highest, problem.grandparents.max(initial=-np.inf))
    if highest > LARGEST:
        raise ProblemError(
            f"PriceAndCut: a linear-programming solver can't handle scores beyond {LARGEST:g}; "
            "scale them, or use BranchAndBound."
        )


def _check_left_out(problem: TreeProblem, table: ScoreTable, found: PriceAndCutResult) -> None:
    """Raise if the best tree may contain a part whose score is too low for a solver."""
    arcs = np.maximum(problem.arcs[:, 1:], 0.0).max(axis=0, initial=0.0).sum()
    chains = np.maximum(table.upper, 0.0).max(axis=(0, 1), initial=0.0).sum()
    if found.score < arcs + chains - LARGEST:
        raise ProblemError(
            f"PriceAndCut: the best tree may hold a score below {-LARGEST:g}, which a "
            "linear-programming solver can't handle; forbid such parts by -inf, or use "
            "BranchAndBound."
        )
