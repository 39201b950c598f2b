"""The weights of non-local factors: one table for each family, in the parser's model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from thinc.api import Model

from ...errors import ProblemError

__all__ = [
    "FAMILIES",
    "PATTERNS",
    "Family",
    "FactorWeights",
    "add_families",
    "add_patterns",
    "pattern_weights",
]

Family = Literal["arcs", "grandparents", "siblings", "combs"]

#: The factor families: h -> m by its words and the tags about and between; g -> h -> m; a and
#: b under h; three tokens beside each other under h.
FAMILIES: tuple[Family, ...] = get_args(Family)

#: The parameter of the weights of hand-made patterns, one each, where they are learned.
PATTERNS = "patterns"


def FactorWeights(rows: int) -> Model[Any, Any]:
    """Hold one weight table of so many rows (a power of two) for each factor family.

    The tables are parameters like any other: trained, averaged, stored and copied with the
    model. Their rows are hashes of template values.
    """
    if rows < 2 or rows & (rows - 1):
        raise ProblemError(f"factor_rows: expected a power of two, got {rows}.")
    return Model(
        "factor_weights",
        _forward,
        dims={"nO": rows},
        params=dict.fromkeys((*FAMILIES, PATTERNS)),
    )


def _forward(model: Model[Any, Any], X: Any, is_train: bool) -> Any:
    raise TypeError("factor_weights holds parameters; score with FactorTemplates.")


def add_families(model: Model[Any, Any], families: Iterable[Family]) -> None:
    """Allocate the tables of some families that have none yet, all zero."""
    for family in families:
        if not model.has_param(family):
            model.set_param(family, model.ops.alloc1f(model.get_dim("nO")))


def add_patterns(model: Model[Any, Any], names: Sequence[str], before: Sequence[str]) -> None:
    """Allocate the weights of patterns: those of names that were there before, others zero."""
    there = len(pattern_weights(model))
    if there and len(names) not in (0, there):
        raise ProblemError(
            f"patterns: the model has learned {there} weights, and {len(names)} patterns are "
            "without one; initialize a new component."
        )
    if names:
        weights: Any = model.ops.alloc1f(len(names))
        for row, name in enumerate(names):
            if there and name in before:
                weights[row] = model.get_param(PATTERNS)[list(before).index(name)]
        model.set_param(PATTERNS, weights)


def pattern_weights(model: Model[Any, Any]) -> Any:
    """Return what each pattern adds to the score of a tree, of those whose weights are learned."""
    if not model.has_param(PATTERNS):
        return ()
    from .kernels.templates import GAIN

    weights: Any = model.get_param(PATTERNS)
    return weights.astype("d") * GAIN
