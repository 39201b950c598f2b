"""Explanations: what was decoded, its alternatives and its certificates, on one page."""

from .explain import Explanation, explain

__all__ = ["Explanation", "explain"]
