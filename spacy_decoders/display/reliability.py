"""Reliability diagrams: how often answers of each probability are right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..models.calibration_fitting import Reliability
from .explain import Explanation, rendered

__all__ = ["Diagram", "draw_reliability"]


class Diagram(NamedTuple):
    """What one diagram shows: answers by their probability, before and after calibration."""

    title: str
    before: Reliability
    after: Reliability


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
    return rendered("reliability.html", title=title, diagrams=list(diagrams))
