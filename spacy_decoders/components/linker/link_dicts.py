"""What is written of a link: plain types, for ``ent._.link``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...models.calibration import Calibration, sigmoid, softmax

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["Decided", "LinkWriter", "no_link"]

#: An identifier of Wikidata.
QID = re.compile(r"Q[1-9][0-9]*")


@dataclass(frozen=True, eq=False)
class Decided:
    """What was chosen for each mention of a window, and how its other candidates compare."""

    #: Where the candidates of each mention begin, nothing behind them. **Shape:**
    #: ``(mentions + 1,)``
    offsets: NDArray[np.int64]
    #: The place of each choice among them. **Shape:** ``(mentions,)``
    choices: NDArray[np.int64]
    #: Of each candidate, all other mentions linked as they are. **Shape:**
    #: ``(candidates + mentions,)``
    scores: NDArray[np.float64]
    #: What the best other choice for each mention costs, whatever the others then are, and
    #: whether that is proven. **Shapes:** ``(mentions,)``
    margins: NDArray[np.float64]
    exact: NDArray[np.bool_]
    #: The log-odds that each choice is right. **Shape:** ``(mentions,)``
    odds: NDArray[np.float64]

    def is_nothing(self, place: int) -> bool:
        """Whether a mention is linked to nothing, which stands behind its candidates."""
        return bool(self.choices[place] == self.offsets[place + 1] - self.offsets[place] - 1)

    def given_others(self, place: int) -> NDArray[np.float64]:
        """The probability of each choice of a mention, given all other links."""
        return softmax(self.scores[self.offsets[place] : self.offsets[place + 1]])

    def probabilities(self, place: int, temperature: float) -> NDArray[np.float64]:
        """The probability that each choice of a mention is right.

        That of the chosen one comes from all that is known of the decision; the others share
        the rest by their scores.
        """
        shares = self.given_others(place)
        choice = self.choices[place]
        right = float(sigmoid(self.odds[[place]] / temperature)[0])
        shares[choice] = 0.0
        shares *= (1.0 - right) / max(float(shares.sum()), 1e-300)
        shares[choice] = right
        return shares


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


@dataclass(frozen=True)
class LinkWriter:
    """Writes links, and says which are sure enough."""

    #: The least of each for a link.
    min_score: float
    min_prob: float
    min_margin: float
    #: The most candidates.
    shown: int
    #: What makes probabilities of scores.
    calibration: Calibration

    def link(self, table: CandidateTable, place: int, decided: Decided) -> dict[str, Any]:
        """A mention's link.

        Its score is the probability given all other links, `prob` the calibrated probability
        that it is right; where nothing is linked, that nothing is right.
        """
        begin = int(table.offsets[place])
        count = int(table.offsets[place + 1]) - begin
        choice, margin = int(decided.choices[place]), float(decided.margins[place])
        given = decided.given_others(place)
        probs = decided.probabilities(place, self.calibration.temperature)
        (prob,) = self.calibration.apply([min(1.0, probs[choice])]).tolist()
        # what the correction takes from the choice, the others share
        rest = (1.0 - prob) / max(1e-12, 1.0 - probs[choice])
        probs = np.minimum(1.0, np.where(np.arange(count + 1) == choice, prob, rest * probs))
        accepted = (
            choice < count
            and given[choice] >= self.min_score
            and prob >= self.min_prob
            # below 0 lies only a bound that the budget left loose: it is the best choice found
            and max(margin, 0.0) >= self.min_margin
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
                for other in ranked[: self.shown].tolist()
            ],
        }


def _described(table: CandidateTable, row: int) -> dict[str, Any]:
    """What is known of a candidate's concept."""
    named = _named(table, row)
    if table.base is None:
        return {**_nothing(), **named}
    concept = int(table.concepts[row])
    return {
        **named,
        "description": table.base.descriptions[concept],
        "url": table.base.url(concept),
    }


def _named(table: CandidateTable, row: int) -> dict[str, Any]:
    """What tells a candidate's concept from others."""
    identity, base = table.ids[row], table.base
    if base is None:
        qid, kind = identity if QID.fullmatch(identity) else None, None
    else:
        concept = int(table.concepts[row])
        qid, kind = base.qid(concept), base.type(concept)
    return {"id": identity, "qid": qid, "title": table.titles[row], "type": kind}
