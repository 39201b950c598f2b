"""Dependency trees: their scores, and the decoders that find the best one.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .branch_and_bound import BranchAndBound as BranchAndBound
    from .chu_liu_edmonds import ChuLiuEdmonds as ChuLiuEdmonds
    from .decoder import TreeDecoder as TreeDecoder
    from .eisner import Eisner as Eisner
    from .factors import Factors as Factors
    from .probabilities import TreePosteriors as TreePosteriors
    from .probabilities import tree_posteriors as tree_posteriors
    from .problem import TreeProblem as TreeProblem
    from .problem import TreeSolution as TreeSolution
    from .pruning import prune as prune
    from .published.price_and_cut import PriceAndCut as PriceAndCut
    from .ranking import exact_decoder as exact_decoder
    from .ranking import head_margins as head_margins
    from .ranking import k_best as k_best
    from .ranking import max_marginals as max_marginals
    from .rules import AtMost as AtMost
    from .rules import FixedArc as FixedArc
    from .rules import FixedLabel as FixedLabel
    from .rules import FixedStart as FixedStart
    from .rules import ForbiddenArc as ForbiddenArc
    from .rules import ForbiddenLabel as ForbiddenLabel
    from .rules import Leaves as Leaves
    from .rules import Rule as Rule
    from .scoring import is_projective as is_projective
    from .scoring import is_tree as is_tree
    from .scoring import score_tree as score_tree
    from .scoring import sentence_starts as sentence_starts
    from .second_order import SecondOrder as SecondOrder
    from .second_order import second_order_score as second_order_score

__getattr__, __dir__ = lazy_names(__name__)
