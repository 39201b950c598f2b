"""Dependency trees: what scores them, and the decoders that find the best one.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .branch_and_bound import BranchAndBound
    from .chu_liu_edmonds import ChuLiuEdmonds
    from .decoder import TreeDecoder
    from .eisner import Eisner
    from .factors import Factors
    from .probabilities import TreePosteriors, tree_posteriors
    from .problem import TreeProblem, TreeSolution
    from .pruning import prune
    from .published.price_and_cut import PriceAndCut
    from .ranking import exact_decoder, head_margins, k_best, max_marginals
    from .rules import (
        AtMost,
        FixedArc,
        FixedLabel,
        FixedStart,
        ForbiddenArc,
        ForbiddenLabel,
        Leaves,
        Rule,
    )
    from .scoring import is_projective, is_tree, score_tree, sentence_starts
    from .second_order import SecondOrder, second_order_score

__all__ = [
    "AtMost",
    "BranchAndBound",
    "ChuLiuEdmonds",
    "Eisner",
    "Factors",
    "FixedArc",
    "FixedLabel",
    "FixedStart",
    "ForbiddenArc",
    "ForbiddenLabel",
    "Leaves",
    "PriceAndCut",
    "Rule",
    "SecondOrder",
    "TreeDecoder",
    "TreePosteriors",
    "TreeProblem",
    "TreeSolution",
    "exact_decoder",
    "head_margins",
    "is_projective",
    "is_tree",
    "k_best",
    "max_marginals",
    "prune",
    "score_tree",
    "second_order_score",
    "sentence_starts",
    "tree_posteriors",
]

__getattr__, __dir__ = lazy_names(__name__)
