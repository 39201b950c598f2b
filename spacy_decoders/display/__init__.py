"""Explanations: what was decoded, what else was possible, and how sure it is, as one page."""

from .explain import Explanation, explain

__all__ = ["Explanation", "explain"]
