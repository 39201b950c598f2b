"""Selection and ordering: the best path of a given length that meets no class twice.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .beam import Beam
    from .decoder import PathDecoder
    from .exact_path import ExactPath, decode_lengths, k_best
    from .problem import PathProblem, PathSolution
    from .published.color_coding import ColorCoding
    from .published.integer_program import IntegerProgram
    from .reduction import reduce

__all__ = [
    "Beam",
    "ColorCoding",
    "ExactPath",
    "IntegerProgram",
    "PathDecoder",
    "PathProblem",
    "PathSolution",
    "decode_lengths",
    "k_best",
    "reduce",
]

_HOMES = {
    "Beam": "beam",
    "ColorCoding": "published.color_coding",
    "ExactPath": "exact_path",
    "IntegerProgram": "published.integer_program",
    "PathDecoder": "decoder",
    "PathProblem": "problem",
    "PathSolution": "problem",
    "decode_lengths": "exact_path",
    "k_best": "exact_path",
    "reduce": "reduction",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
