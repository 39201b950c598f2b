"""Non-projective trees with scores on arcs alone, in O(n^2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...budget import UNLIMITED, Budget
from .decoder import TreeDecoder, certify, infeasible, refuse_unless, rounding_slack
from .kernels import chu_liu_edmonds
from .problem import TreeProblem, TreeSolution

__all__ = ["ChuLiuEdmonds", "reduced_costs"]


@dataclass(frozen=True)
class ChuLiuEdmonds(TreeDecoder):
    """Exact non-projective decoding by contracting cycles.

    With a single root the constraint is left out at first, as most trees have one root anyway,
    and enforced by a penalty on root arcs where they have several.

    Notes
    -----
    The certificate's bound is the dual solution that the algorithm builds on its way.

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
        refuse_unless(problem, "ChuLiuEdmonds", projective=False)
        heads, score, bound, scale, _ = chu_liu_edmonds.decode(
            problem.arcs, problem.single_root, False
        )
        if bound == -np.inf:
            raise infeasible(problem)
        slack = rounding_slack(2 * problem.n, score, scale)
        return certify("ChuLiuEdmonds", problem, heads, score, bound, slack)


def reduced_costs(problem: TreeProblem) -> NDArray[np.float64]:
    """Return how much each arc costs at least against the best tree, by the arcs alone.

    Grandparents, siblings and factors are not looked at. The best score over single arcs plus
    an arc's reduced cost bounds every tree that holds the arc: an arc for which this is below
    a known tree can be dropped without loss.

    Returns
    -------
    float64 (n + 1, n + 1)
        At most 0; 0 on the arcs of the best tree; ``-inf`` on forbidden arcs.

    Raises
    ------
    InfeasibleError
        If there is no tree.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]], projective=False)
    >>> reduced_costs(problem)[[0, 2], [1, 1]]
    array([-1.,  0.])
    """
    _, _, bound, _, bounds = chu_liu_edmonds.decode(problem.arcs, problem.single_root, True)
    if bound == -np.inf:
        raise infeasible(problem)
    costs: NDArray[np.float64] = np.minimum(bounds - bound, 0.0)
    return costs
