"""Tag sequences: problems, decoders, k-best lists, margins and marginals.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .alternatives import k_best as k_best
    from .alternatives import max_marginal_margins as max_marginal_margins
    from .decoder import ChainDecoder as ChainDecoder
    from .forward_dominance import ForwardDominance as ForwardDominance
    from .posterior import ChainPosteriors as ChainPosteriors
    from .posterior import LabelRuns as LabelRuns
    from .posterior import RunKinds as RunKinds
    from .posterior import posteriors as posteriors
    from .problem import ChainModel as ChainModel
    from .published.beam import Beam as Beam
    from .published.beam import PrunedViterbi as PrunedViterbi
    from .published.column_generation import ColumnGeneration as ColumnGeneration
    from .published.label_trees import LabelTree as LabelTree
    from .published.zero_one import zero_one_oracle as zero_one_oracle
    from .solutions import ChainSolution as ChainSolution
    from .solutions import ChainSolutions as ChainSolutions
    from .sum_product import Expectations as Expectations
    from .sum_product import forward_backward as forward_backward
    from .sum_product import log_partition as log_partition
    from .sum_product import log_partitions as log_partitions
    from .sum_product import marginals as marginals
    from .viterbi import Viterbi as Viterbi

__getattr__, __dir__ = lazy_names(__name__)
