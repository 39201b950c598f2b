"""Non-projective trees with scores on arcs alone, in O(n^2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...budget import UNLIMITED, Budget, Clock
from ...errors import DecodersError
from .constrained import best_constrained
from .decoder import TreeDecoder, certified_by_arcs, infeasible, refuse_unless
from .fallbacks import best_heads_bound
from .kernels import chu_liu_edmonds, proofs
from .problem import TreeProblem, TreeSolution
from .sentences import best_sentences

__all__ = ["ChuLiuEdmonds"]


@dataclass(frozen=True)
class ChuLiuEdmonds(TreeDecoder):
    """Exact non-projective decoding by contracting cycles.

    The single-root constraint is relaxed at first, as most trees have one root anyway, and
    enforced by a penalty on root arcs where the tree has several.

    Notes
    -----
    The certificate's bound is the dual solution that the algorithm constructs, checked against all
    arcs by separate code. Where no penalty of the magnitude of the scores leaves one root, each
    token is tried as the only one: n times the work, for scores that hardly occur.

    References
    ----------
    Chu and Liu (1965); Edmonds (1967), Optimum Branchings; the dual in Camerini, Fratta and
    Maffioli (1979), A Note on Finding Optimum Branchings.

    Examples
    --------
    >>> from spacy_decoders.decoders.tree import TreeProblem
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]], projective=False)
    >>> solution = ChuLiuEdmonds().decode(problem)
    >>> solution.heads, solution.certificate.score, solution.certificate.status
    (array([2, 0], dtype=int32), 5.0, 'optimal')
    """

    def decode(self, problem: TreeProblem, *, budget: Budget = UNLIMITED) -> TreeSolution:
        if problem.is_constrained:
            return best_constrained(self, problem, budget)
        refuse_unless(problem, "ChuLiuEdmonds", projective=False)
        if problem.boundaries is not None:
            return best_sentences(self, problem, budget)
        clock = budget.start()
        heads, bound, slack = _solved(problem.arcs, problem.single_root)
        if bound == -np.inf:
            raise infeasible(problem)
        if bound < np.inf or not problem.single_root:
            solution = certified_by_arcs("ChuLiuEdmonds", problem, heads, bound, slack)
            if solution.certificate.is_optimal or not problem.single_root:
                return solution
        above = min(bound + slack, best_heads_bound(problem))
        heads, bound, slack = _root_by_root(problem.arcs, clock, above)
        return certified_by_arcs("ChuLiuEdmonds", problem, heads, bound, slack)


def _solved(
    arcs: NDArray[np.float64], single_root: bool
) -> tuple[NDArray[np.int32], float, float]:
    """Return heads, an upper bound on all trees, and the rounding slack of that bound.

    The bound is ``-inf`` if there is provably no tree, and infinite without a proof.
    """
    heads, bound, penalty, value, parent, count = chu_liu_edmonds.with_duals(arcs, single_root)
    if bound == -np.inf:
        if proofs.reaches_all(arcs > -np.inf, single_root):
            raise DecodersError(
                "ChuLiuEdmonds: the compiled code found no tree, but there is one."
            )
        return heads, -np.inf, 0.0
    if count == 0:
        return heads, np.inf, 0.0
    return heads, *proofs.dual_bound(arcs, penalty, value, parent, count)


def _root_by_root(
    arcs: NDArray[np.float64], clock: Clock, above: float
) -> tuple[NDArray[np.int32], float, float]:
    """Return the best tree over all choices of the only root, and its bound.

    When the time ends with a tree found, the bound is `above`, which is one on all trees.
    """
    highest, best, best_score = (-np.inf, 0.0), np.zeros(len(arcs) - 1, np.int32), -np.inf
    for root in np.flatnonzero(arcs[0] > -np.inf):
        only = arcs.copy()
        only[0] = -np.inf
        only[0, root] = arcs[0, root]
        heads, bound, slack = _solved(read_only(only), False)
        highest = max(highest, (bound, slack), key=sum)
        score = proofs.tally(only, heads, False, True)[1] if bound > -np.inf else -np.inf
        if score > best_score:
            best, best_score = heads, score
        if best_score > -np.inf and clock.seconds_left == 0.0:
            return best, above, 0.0
    return best, *highest
