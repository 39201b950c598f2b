"""First-order non-projective trees, in O(n^2)."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...budget import Budget
from .decoder import TreeDecoder
from .fallbacks import bound_by_duals
from .problem import TreeProblem, TreeSolution
from .proof import Through, certified_if_legal, infeasible, refuse_unless
from .sentences import best_sentences

__all__ = ["ChuLiuEdmonds", "best_arborescence"]


@dataclass(frozen=True)
class ChuLiuEdmonds(TreeDecoder):
    """Exact non-projective decoding by contracting cycles.

    The single-root constraint is relaxed at first, as most trees have one root anyway, and
    enforced by a penalty on root arcs if the tree has several.

    Notes
    -----
    The certificate's bound is the dual solution that the algorithm constructs, checked against all
    arcs by independent code.

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

    def _solve(self, problem: TreeProblem, budget: Budget) -> tuple[TreeSolution, Through | None]:
        refuse_unless(problem, "ChuLiuEdmonds", projective=False)
        if problem.boundaries is not None:
            return best_sentences(self, problem, budget), None
        return best_arborescence("ChuLiuEdmonds", problem)


def best_arborescence(decoder: str, problem: TreeProblem) -> tuple[TreeSolution, Through]:
    """Return the best first-order non-projective tree, and how to bound the trees by arcs.

    The certificate names `decoder`.
    """
    from .kernels import chu_liu_edmonds, proofs  # compiled where they are first needed

    given = problem.arcs, problem.single_root
    heads, *duals = chu_liu_edmonds.with_duals(*given)
    bound, slack = bound_by_duals(*given, *duals)
    if bound == -np.inf:
        raise infeasible(problem)
    upper = bound + 3.0 * slack  # as the sums over the sets that an arc enters are rounded too
    penalty, value, parent = duals[1:4]
    through = partial(proofs.bounds_by_duals, problem.arcs, penalty, value, parent, upper)
    return certified_if_legal(decoder, problem, heads, bound, slack), through
