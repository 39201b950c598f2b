"""Projective trees with scores on arcs alone, in O(n^3)."""

from __future__ import annotations

from dataclasses import dataclass

from ...budget import UNLIMITED, Budget
from .decoder import TreeDecoder, certified_by_arcs, infeasible, refuse_unless, rounding_slack
from .kernels import eisner, proofs
from .problem import TreeProblem, TreeSolution

__all__ = ["Eisner"]


@dataclass(frozen=True)
class Eisner(TreeDecoder):
    """Exact projective decoding by dynamic programming over spans.

    Notes
    -----
    The chart is a dual solution: its value bounds every tree if no span in it scores less than any
    two parts that it can be built from. Separate code checks this, and the bound is compared with
    the sum of the tree's arcs.

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

    def decode(self, problem: TreeProblem, *, budget: Budget = UNLIMITED) -> TreeSolution:
        refuse_unless(problem, "Eisner", projective=True)
        heads, chart, _, positive = eisner.charted(problem.arcs, problem.single_root)
        bound = proofs.chart_bound(problem.arcs, problem.single_root, chart)
        if bound == -float("inf"):
            raise infeasible(problem)
        slack = rounding_slack(problem.n, bound, positive)
        return certified_by_arcs("Eisner", problem, heads, bound, slack)
