"""Dependency trees: what scores them, and the decoders that find the best one."""

from .factors import Factors
from .problem import TreeProblem, TreeSolution
from .scoring import is_projective, is_tree, score_tree, violations

__all__ = [
    "Factors",
    "TreeProblem",
    "TreeSolution",
    "is_projective",
    "is_tree",
    "score_tree",
    "violations",
]
