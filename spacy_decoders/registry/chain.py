"""Builders of chain decoders for config files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..decoders.chain import ForwardDominance, Viterbi

__all__ = ["build_forward_dominance", "build_viterbi"]


def build_forward_dominance() -> ForwardDominance:
    """Build ``spacy-decoders.ForwardDominance.v1``: exact in one pass, the default."""
    from ..decoders.chain import ForwardDominance

    return ForwardDominance()


def build_viterbi() -> Viterbi:
    """Build ``spacy-decoders.Viterbi.v1``: exact, every label against every label."""
    from ..decoders.chain import Viterbi

    return Viterbi()
