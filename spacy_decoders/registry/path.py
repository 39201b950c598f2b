"""Builders of path decoders for config files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..decoders.path import Beam, ColorCoding, ExactPath, IntegerProgram

__all__ = ["build_beam", "build_color_coding", "build_exact_path", "build_integer_program"]


def build_exact_path() -> ExactPath:
    """Build ``spacy-decoders.ExactPath.v1``: exact with a proof, the default."""
    from ..decoders.path import ExactPath

    return ExactPath()


def build_color_coding(
    failure: float = 1e-3,
    colors: int | Literal["auto"] = "auto",
    seed: int = 0,
    reduce: bool = True,
) -> ColorCoding:
    """Build ``spacy-decoders.ColorCoding.v1``: randomised, with a stated failure probability."""
    from ..decoders.path import ColorCoding

    return ColorCoding(failure=failure, colors=colors, seed=seed, reduce=reduce)


def build_beam(width: int = 80, lookahead: bool = False) -> Beam:
    """Build ``spacy-decoders.PathBeam.v1``: beam search, plain or with a look ahead."""
    from ..decoders.path import Beam

    return Beam(width, lookahead=lookahead)


def build_integer_program(
    solver: Literal["HIGHS", "CBC"] = "HIGHS",
    formulation: Literal["flow", "time_expanded"] = "time_expanded",
) -> IntegerProgram:
    """Build ``spacy-decoders.IntegerProgram.v1``: exact by an integer linear program."""
    from ..decoders.path import IntegerProgram

    return IntegerProgram(solver, formulation=formulation)
