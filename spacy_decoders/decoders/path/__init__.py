"""Selection and ordering: the best path of a given length that visits each class at most once.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .beam import Beam as Beam
    from .decoder import PathDecoder as PathDecoder
    from .exact_path import ExactPath as ExactPath
    from .exact_path import decode_lengths as decode_lengths
    from .exact_path import k_best as k_best
    from .problem import PathProblem as PathProblem
    from .problem import PathSolution as PathSolution
    from .published.color_coding import ColorCoding as ColorCoding
    from .published.integer_program import IntegerProgram as IntegerProgram
    from .subtree import SubtreeProblem as SubtreeProblem
    from .subtree import SubtreeSolution as SubtreeSolution
    from .subtree import TreeKnapsack as TreeKnapsack

__getattr__, __dir__ = lazy_names(__name__)
