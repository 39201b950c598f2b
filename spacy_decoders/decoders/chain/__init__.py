"""Tag sequences: problems, decoders, k-best lists, margins and marginals.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .alternatives import k_best, max_marginal_margins
    from .decoder import ChainDecoder
    from .forward_dominance import ForwardDominance
    from .posterior import ChainPosteriors, LabelRuns, RunKinds, posteriors
    from .problem import ChainModel
    from .published.beam import Beam, PrunedViterbi
    from .published.column_generation import ColumnGeneration
    from .published.label_trees import LabelTree
    from .published.zero_one import zero_one_oracle
    from .solutions import ChainSolution, ChainSolutions
    from .sum_product import (
        Expectations,
        forward_backward,
        log_partition,
        log_partitions,
        marginals,
    )
    from .viterbi import Viterbi

__all__ = [
    "Beam",
    "ChainDecoder",
    "ChainModel",
    "ChainPosteriors",
    "ChainSolution",
    "ChainSolutions",
    "ColumnGeneration",
    "Expectations",
    "ForwardDominance",
    "LabelRuns",
    "LabelTree",
    "PrunedViterbi",
    "RunKinds",
    "Viterbi",
    "forward_backward",
    "k_best",
    "log_partition",
    "log_partitions",
    "marginals",
    "max_marginal_margins",
    "posteriors",
    "zero_one_oracle",
]

__getattr__, __dir__ = lazy_names(__name__)
