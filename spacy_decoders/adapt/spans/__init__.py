"""Scored spans: the best set of them that does not overlap, or that is properly nested.

Names load on first use, so that naming a component in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .documents import best_entities, best_spans, log_odds
    from .problem import SpanProblem, SpanSolution
    from .scheduling import BestSpans

__all__ = ["BestSpans", "SpanProblem", "SpanSolution", "best_entities", "best_spans", "log_odds"]

__getattr__, __dir__ = lazy_names(__name__)
