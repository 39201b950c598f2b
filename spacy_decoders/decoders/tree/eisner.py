"""Projective trees with scores on arcs alone, in O(n^3)."""

from __future__ import annotations

from dataclasses import dataclass

from ...budget import UNLIMITED, Budget
from .decoder import TreeDecoder, certify, infeasible, refuse_unless, rounding_slack
from .kernels import eisner
from .problem import TreeProblem, TreeSolution

__all__ = ["Eisner"]


@dataclass(frozen=True)
class Eisner(TreeDecoder):
    """Exact projective decoding by dynamic programming over spans.

    Notes
    -----
    The chart's value bounds every tree, so that each certificate is a comparison of that
    value with the tree's arcs summed anew; both are float64.

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
        heads, score, bound, positive = eisner.decode(problem.arcs, problem.single_root)
        if bound == -float("inf"):
            raise infeasible(problem)
        return certify(
            "Eisner", problem, heads, score, bound, rounding_slack(problem.n, score, positive)
        )
