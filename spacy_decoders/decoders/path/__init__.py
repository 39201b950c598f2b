"""Selection and ordering: the best path of a given length that meets no class twice.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .beam import Beam
    from .decoder import PathDecoder
    from .exact_path import ExactPath, decode_lengths, k_best
    from .problem import PathProblem, PathSolution
    from .published.color_coding import ColorCoding
    from .published.integer_program import IntegerProgram
    from .reduction import reduce
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
    "SubtreeProblem": "subtree",
    "SubtreeSolution": "subtree",
    "TreeKnapsack": "subtree",
    "decode_lengths": "exact_path",
    "k_best": "exact_path",
    "reduce": "reduction",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
