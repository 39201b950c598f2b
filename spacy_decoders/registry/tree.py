"""Builders of tree decoders for config files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..decoders.tree import BranchAndBound, ChuLiuEdmonds, Eisner, PriceAndCut, SecondOrder

__all__ = [
    "build_branch_and_bound",
    "build_chu_liu_edmonds",
    "build_eisner",
    "build_price_and_cut",
    "build_second_order",
]


def build_eisner() -> Eisner:
    """Build ``spacy-decoders.Eisner.v1``: exact projective trees, arcs alone."""
    from ..decoders.tree import Eisner

    return Eisner()


def build_chu_liu_edmonds() -> ChuLiuEdmonds:
    """Build ``spacy-decoders.ChuLiuEdmonds.v1``: exact non-projective trees, arcs alone."""
    from ..decoders.tree import ChuLiuEdmonds

    return ChuLiuEdmonds()


def build_second_order(
    grandparents: Literal["all", "outermost"] = "all",
) -> SecondOrder:
    """Build ``spacy-decoders.SecondOrder.v1``: exact, with grandparents and adjacent siblings."""
    from ..decoders.tree import SecondOrder

    return SecondOrder(grandparents)


def build_branch_and_bound(
    backbone: Literal["auto", "first-order", "carreras", "second-order"] = "auto",
    root_iterations: int = 40,
    iterations: int = 12,
    method: Literal["default", "paper"] = "default",
) -> BranchAndBound:
    """Build ``spacy-decoders.BranchAndBound.v1``: exact trees under any non-local scores."""
    from ..decoders.tree import BranchAndBound

    return BranchAndBound(backbone, root_iterations, iterations, method)


def build_price_and_cut(
    solver: Literal["HIGHS", "CBC"] = "HIGHS",
    relax: bool = False,
    polytope: Literal["both", "martins", "counting"] = "both",
    pricing: bool = True,
    pruning: bool = True,
) -> PriceAndCut:
    """Build ``spacy-decoders.PriceAndCut.v1``: exact trees with grandparents, by programs."""
    from ..decoders.tree import PriceAndCut

    return PriceAndCut(solver, relax, polytope, pricing, pruning)
