"""Reliability diagrams: how often answers of each probability are right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..models.calibration_fitting import Reliability
from .explain import Explanation, rendered

__all__ = ["Diagram", "draw_reliability"]

#: The side of a diagram, and the space for its numbers.
SIDE, MARGIN = 240.0, 34.0


@dataclass(frozen=True)
class Diagram:
    """What one diagram shows."""

    #: What the answers are.
    title: str
    #: The answers by their probability, as the model gives it and calibrated.
    before: Reliability
    after: Reliability

    @property
    def bars(self) -> list[dict[str, float | int]]:
        """A bar for each interval that has an answer: its share of right ones."""
        counts = self.after.counts
        width = SIDE / len(counts)
        return [
            {
                "x": MARGIN + number * width + 1.0,
                "y": SIDE - SIDE * float(self.after.observed[number]),
                "width": width - 2.0,
                "height": SIDE * float(self.after.observed[number]),
                "count": int(counts[number]),
                "observed": float(self.after.observed[number]),
                "predicted": float(self.after.predicted[number]),
            }
            for number in range(len(counts))
            if counts[number]
        ]

    @property
    def path(self) -> str:
        """The corners of the line of what the model says uncalibrated."""
        corners = [
            f"{MARGIN + SIDE * float(predicted):.1f},{SIDE - SIDE * float(observed):.1f}"
            for count, predicted, observed in zip(*self.before, strict=True)
            if count
        ]
        return " ".join(corners)


def draw_reliability(
    diagrams: Iterable[Diagram], *, title: str = "How reliable probabilities are"
) -> Explanation:
    """Draw a diagram for each kind of answer, on one self-contained page.

    Examples
    --------
    >>> from spacy_decoders.models.calibration_fitting import Answers, reliability
    >>> found = reliability(Answers.of([(0.9, True, 0), (0.9, True, 0), (0.2, False, 0)]))
    >>> page = draw_reliability([Diagram("tags", found, found)])
    >>> "<svg" in str(page)
    True
    """
    given = list(diagrams)
    return rendered("reliability.html", title=title, diagrams=given, side=SIDE, margin=MARGIN)
