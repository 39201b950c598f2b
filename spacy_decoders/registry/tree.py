"""Builders of tree decoders for config files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..decoders.tree import ChuLiuEdmonds, Eisner

__all__ = ["build_chu_liu_edmonds", "build_eisner"]


def build_eisner() -> Eisner:
    """Build ``spacy-decoders.Eisner.v1``: exact projective trees, arcs alone."""
    from ..decoders.tree import Eisner

    return Eisner()


def build_chu_liu_edmonds() -> ChuLiuEdmonds:
    """Build ``spacy-decoders.ChuLiuEdmonds.v1``: exact non-projective trees, arcs alone."""
    from ..decoders.tree import ChuLiuEdmonds

    return ChuLiuEdmonds()
