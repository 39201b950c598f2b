"""Builders of chain decoders for config files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..decoders.chain import Beam, ColumnGeneration, ForwardDominance, PrunedViterbi, Viterbi

__all__ = [
    "build_beam",
    "build_column_generation",
    "build_forward_dominance",
    "build_pruned_viterbi",
    "build_viterbi",
]


def build_beam(width: int = 5) -> Beam:
    """Build ``spacy-decoders.ChainBeam.v1``: the best few labels at each token, a heuristic.

    Parameters
    ----------
    width
        How many labels to keep; 1 is greedy decoding.
    """
    from ..decoders.chain import Beam

    return Beam(width)


def build_column_generation(
    gap: float = 0.0, reduced_cost: Literal["both", "left", "split"] = "both"
) -> ColumnGeneration:
    """Build ``spacy-decoders.ColumnGeneration.v1``: exact by column generation.

    Parameters
    ----------
    gap
        Stop within so much of the best score; 0.0 proves the best.
    reduced_cost
        Which reduced cost to price labels by; ``"both"`` is the fastest.
    """
    from ..decoders.chain import ColumnGeneration

    return ColumnGeneration(gap=gap, reduced_cost=reduced_cost)


def build_forward_dominance() -> ForwardDominance:
    """Build ``spacy-decoders.ForwardDominance.v1``: exact in one pass, the default."""
    from ..decoders.chain import ForwardDominance

    return ForwardDominance()


def build_pruned_viterbi() -> PrunedViterbi:
    """Build ``spacy-decoders.PrunedViterbi.v1``: exact, over the labels that bounds leave."""
    from ..decoders.chain import PrunedViterbi

    return PrunedViterbi()


def build_viterbi() -> Viterbi:
    """Build ``spacy-decoders.Viterbi.v1``: exact, every label against every label."""
    from ..decoders.chain import Viterbi

    return Viterbi()
