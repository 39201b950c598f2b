"""Scored spans: the best set of them that does not overlap, or that is properly nested.

Names load on first use, so that naming a component in a config compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .documents import best_spans, log_odds
    from .problem import SpanProblem, SpanSolution
    from .scheduling import BestSpans

__all__ = ["BestSpans", "SpanProblem", "SpanSolution", "best_spans", "log_odds"]

_HOMES = {
    "BestSpans": "scheduling",
    "SpanProblem": "problem",
    "SpanSolution": "problem",
    "best_spans": "documents",
    "log_odds": "documents",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found  # the next time this function is not asked
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
