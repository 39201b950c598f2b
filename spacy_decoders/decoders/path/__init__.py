"""Selection and ordering: the best path of a given length that meets no class twice.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .beam import Beam
    from .exact_path import ExactPath, decode_lengths, k_best
    from .problem import PathDecoder, PathProblem, PathSolution
    from .published.color_coding import ColorCoding
    from .published.integer_program import IntegerProgram
    from .subtree import SubtreeProblem, SubtreeSolution, TreeKnapsack

__all__ = [
    "Beam",
    "ColorCoding",
    "ExactPath",
    "IntegerProgram",
    "PathDecoder",
    "PathProblem",
    "PathSolution",
    "SubtreeProblem",
    "SubtreeSolution",
    "TreeKnapsack",
    "decode_lengths",
    "k_best",
]

__getattr__, __dir__ = lazy_names(__name__)
