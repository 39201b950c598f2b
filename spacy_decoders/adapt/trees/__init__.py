"""Arrays of arc scores: the best tree with one root, its labels, rules, and probabilities.

Names load on first use, so that naming them compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arc_parser import ArcParser, LabelledTree
    from .probabilities import arc_probabilities

__all__ = ["ArcParser", "LabelledTree", "arc_probabilities"]

_HOMES = {
    "ArcParser": "arc_parser",
    "LabelledTree": "arc_parser",
    "arc_probabilities": "probabilities",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found  # the next time this function is not asked
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
