"""Branch and bound: exact trees under any non-local scores."""

from .decoder import BranchAndBound

__all__ = ["BranchAndBound"]
