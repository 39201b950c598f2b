"""Non-projective trees with scores on arcs alone, in O(n^2)."""

from dataclasses import dataclass

import numpy as np

from ...budget import UNLIMITED, Budget
from .constrained import best_constrained
from .decoder import TreeDecoder, certified_if_legal, infeasible, refuse_unless
from .fallbacks import bound_by_duals
from .kernels import chu_liu_edmonds
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
    arcs by separate code.

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
        given = (problem.arcs, problem.single_root)
        heads, *found = chu_liu_edmonds.with_duals(*given)
        bound, slack = bound_by_duals(*given, *found)
        if bound == -np.inf:
            raise infeasible(problem)
        return certified_if_legal("ChuLiuEdmonds", problem, heads, bound, slack)
