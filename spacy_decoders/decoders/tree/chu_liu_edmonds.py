"""First-order non-projective trees, in O(n^2)."""

from dataclasses import dataclass

from ...budget import Budget
from .decoder import TreeDecoder
from .eisner import best_with_bounds
from .problem import TreeProblem, TreeSolution
from .proof import Through, refuse_unless
from .sentences import best_sentences

__all__ = ["ChuLiuEdmonds"]


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
        return best_with_bounds("ChuLiuEdmonds", problem, budget)
