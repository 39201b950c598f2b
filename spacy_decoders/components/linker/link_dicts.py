"""What is written of a link: plain types, for ``ent._.link``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...models.calibration import Calibration
from ...models.linker.confidence import Decided
from ..factories.graph_entity_linker import LinkerOptions

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["link_of", "no_link"]


def no_link() -> dict[str, Any]:
    """What is written of a mention without candidates."""
    return {
        **_nothing(),
        "score": 1.0,
        "prob": 1.0,
        "nil_prob": 1.0,
        "margin": None,
        "exact_margin": False,
        "candidates": [],
    }


def _nothing() -> dict[str, Any]:
    """A concept that there is none of."""
    return {"id": "", "qid": None, "title": "", "type": None, "description": "", "url": None}


def link_of(
    table: CandidateTable,
    place: int,
    decided: Decided,
    options: LinkerOptions,
    calibration: Calibration,
) -> dict[str, Any]:
    """What is written of a mention, by its place in a window.

    Its score is the probability given all other links, `prob` the calibrated probability that it
    is right; where nothing is linked, that nothing is right.
    """
    begin = int(table.offsets[place])
    count = int(table.offsets[place + 1]) - begin
    choice, margin = int(decided.choices[place]), float(decided.margins[place])
    given = decided.given_others(place)
    probs = decided.probabilities(place, calibration.temperature)
    (prob,) = calibration.apply([min(1.0, probs[choice])]).tolist()
    # what the correction takes from the choice, the others share
    rest = (1.0 - prob) / max(1e-12, 1.0 - probs[choice])
    probs = np.minimum(1.0, np.where(np.arange(count + 1) == choice, prob, rest * probs))
    accepted = (
        choice < count
        and given[choice] >= options.min_score
        and prob >= options.min_prob
        # below 0 lies only a bound that the budget left loose: it is the best choice found
        and max(margin, 0.0) >= options.min_margin
    )
    ranked = np.argsort(-given[:count], kind="stable")
    if choice < count:
        ranked = np.concatenate([[choice], ranked[ranked != choice]])
    return {
        **(_described(table, begin + choice) if accepted else _nothing()),
        "score": float(given[choice]),
        "prob": float(prob if accepted or choice == count else probs[count]),
        "nil_prob": float(probs[count]),
        # an only candidate has nothing to be compared with
        "margin": margin if np.isfinite(margin) else None,
        "exact_margin": bool(decided.exact[place]),
        "candidates": [
            {
                **_named(table, begin + other),
                "score": float(given[other]),
                "prob": float(probs[other]),
                "prior": float(table.priors[begin + other]),
            }
            for other in ranked[: options.shown].tolist()
        ],
    }


def _described(table: CandidateTable, row: int) -> dict[str, Any]:
    """What is known of a candidate's concept."""
    named = {**_nothing(), **_named(table, row)}
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
