"""Explanations: what was decoded, the alternatives, and the certificates, as one page."""

from .explain import Explanation, explain

__all__ = ["Explanation", "explain"]
