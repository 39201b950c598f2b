"""Selection and ordering: the best path of a given length that meets no class twice.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .beam import Beam
    from .decoder import PathDecoder
    from .exact_path import ExactPath
    from .problem import PathProblem, PathSolution

__all__ = ["Beam", "ExactPath", "PathDecoder", "PathProblem", "PathSolution"]

_HOMES = {
    "Beam": "beam",
    "ExactPath": "exact_path",
    "PathDecoder": "decoder",
    "PathProblem": "problem",
    "PathSolution": "problem",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
