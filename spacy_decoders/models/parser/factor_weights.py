"""The weights of non-local factors: one table for each family, in the parser's model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from thinc.api import Model

from ...errors import ProblemError

__all__ = [
    "FAMILIES",
    "Family",
    "FactorWeights",
    "add_families",
]

Family = Literal["arcs", "grandparents", "siblings"]

#: The factor families: h -> m by its words and the tags about and between; g -> h -> m; a and
#: b under h.
FAMILIES: tuple[Family, ...] = get_args(Family)


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
        params=dict.fromkeys(FAMILIES),
    )


def _forward(model: Model[Any, Any], X: Any, is_train: bool) -> Any:
    raise TypeError("factor_weights holds parameters; score with FactorTemplates.")


def add_families(model: Model[Any, Any], families: Iterable[Family]) -> None:
    """Allocate the tables of some families that have none yet, all zero."""
    for family in families:
        if not model.has_param(family):
            model.set_param(family, model.ops.alloc1f(model.get_dim("nO")))
