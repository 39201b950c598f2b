"""What is written of a link: plain types, for ``ent._.link``."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

from ...models.calibration import Calibration
from ...models.linker.confidence import Decided
from ..factories.graph_entity_linker import LinkerOptions

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["links_of", "no_link"]


#: What stands for a concept where nothing is linked.
_NOTHING = {"id": "", "qid": None, "title": "", "type": None, "description": "", "url": None}


def no_link() -> dict[str, Any]:
    """What is written of a mention without candidates."""
    return {
        **_NOTHING,
        "score": 1.0,
        "prob": 1.0,
        "nil_prob": 1.0,
        "margin": None,
        "exact_margin": False,
        "candidates": [],
    }


def links_of(
    table: CandidateTable, decided: Decided, options: LinkerOptions, calibration: Calibration
) -> list[dict[str, Any]]:
    """What is written of each mention of a window.

    Its score is the probability given all other links, `prob` the calibrated probability that it
    is right; where nothing is linked, that nothing is right.
    """
    right = calibration.apply(decided.right(calibration.temperature))
    given, probs = decided.given_others.tolist(), decided.probabilities(right).tolist()
    choices, margins = decided.choices.tolist(), decided.margins.tolist()
    exact, spans = decided.exact.tolist(), [*pairwise(decided.offsets.tolist())]
    return [
        _link_of(
            table,
            start - place,
            choices[place],
            given[start:stop],
            probs[start:stop],
            margins[place],
            exact[place],
            options,
        )
        for place, (start, stop) in enumerate(spans)
    ]


def _link_of(
    table: CandidateTable,
    begin: int,
    choice: int,
    given: list[float],
    probs: list[float],
    margin: float,
    exact: bool,
    options: LinkerOptions,
) -> dict[str, Any]:
    """What is written of a mention, whose candidates begin in the table where it says."""
    nothing = len(given) - 1
    prob = probs[choice]
    accepted = choice < nothing and prob >= options.min_prob
    ranked = sorted(range(nothing), key=lambda other: (other != choice, -given[other]))
    return {
        **(_described(table, begin + choice) if accepted else _NOTHING),
        "score": given[choice],
        "prob": prob if accepted or choice == nothing else probs[nothing],
        "nil_prob": probs[nothing],
        # an only candidate has nothing to be compared with
        "margin": margin if isfinite(margin) else None,
        "exact_margin": exact,
        "candidates": [
            {
                **_named(table, begin + other),
                "score": given[other],
                "prob": probs[other],
                "prior": float(table.priors[begin + other]),
            }
            for other in ranked[: options.shown]
        ],
    }


def _described(table: CandidateTable, row: int) -> dict[str, Any]:
    """What is known of a candidate's concept."""
    named = {**_NOTHING, **_named(table, row)}
    if table.base is not None:
        named["description"] = table.known[row].description
        named["url"] = table.base.url(int(table.concepts[row]))
    return named


def _named(table: CandidateTable, row: int) -> dict[str, Any]:
    """What tells a candidate's concept from others."""
    return {
        "id": table.ids[row],
        "qid": table.qids[row],
        "title": table.titles[row],
        "type": table.types[row],
    }
