"""Tag sequences: problems, decoders, and what else a chain can be asked.

Names load on first use, so that naming a decoder in a config compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .forward_dominance import ForwardDominance
    from .margins import max_marginal_margins
    from .problem import ChainDecoder, ChainModel
    from .published.beam import Beam
    from .published.column_generation import ColumnGeneration
    from .published.pruned_viterbi import PrunedViterbi
    from .published.zero_one import zero_one_oracle
    from .ranking import k_best
    from .solutions import ChainSolution, ChainSolutions
    from .sum_product import Expectations, forward_backward, log_partition, marginals
    from .viterbi import Viterbi

__all__ = [
    "Beam",
    "ChainDecoder",
    "ChainModel",
    "ChainSolution",
    "ChainSolutions",
    "ColumnGeneration",
    "Expectations",
    "ForwardDominance",
    "PrunedViterbi",
    "Viterbi",
    "forward_backward",
    "k_best",
    "log_partition",
    "marginals",
    "max_marginal_margins",
    "zero_one_oracle",
]

_HOMES = {
    "Beam": "published.beam",
    "ChainDecoder": "problem",
    "ChainModel": "problem",
    "ChainSolution": "solutions",
    "ChainSolutions": "solutions",
    "ColumnGeneration": "published.column_generation",
    "Expectations": "sum_product",
    "ForwardDominance": "forward_dominance",
    "PrunedViterbi": "published.pruned_viterbi",
    "Viterbi": "viterbi",
    "forward_backward": "sum_product",
    "k_best": "ranking",
    "log_partition": "sum_product",
    "marginals": "sum_product",
    "max_marginal_margins": "margins",
    "zero_one_oracle": "published.zero_one",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
