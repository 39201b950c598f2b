"""Entities of spaCy's beam: the most probable set of them that does not overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from spacy.tokens import Doc, Span

from ...certificate import Certificate
from ..spans import log_odds, select

__all__ = ["beam_entities"]


def beam_entities(
    ner: Any,
    docs: Iterable[Doc],
    *,
    beam_width: int = 16,
    beam_density: float = 1e-4,
    threshold: float = 0.5,
) -> list[tuple[list[tuple[Span, float]], Certificate]]:
    """Return for each Doc the best set of entities, each with its probability in the beam.

    Parameters
    ----------
    ner
        A trained ``beam_ner`` or ``ner`` of spaCy's.
    docs
        Annotated by the components before it; they are not changed.
    beam_width, beam_density
        As for ``beam_parse``: how many analyses, and how unlikely beside the best.
    threshold
        An entity that is less probable is not worth having.

    Notes
    -----
    The probability is the share of the beam's analyses, as the parser weighs them, that have the
    entity; what the beam has lost is not counted. The best set has the largest sum of log-odds.
    """
    given = list(docs)
    beams = ner.beam_parse(given, beam_width=beam_width, beam_density=beam_density)
    found = []
    for doc, beam in zip(given, beams, strict=True):
        shares: dict[tuple[int, int, str], float] = defaultdict(float)
        analyses = ner.moves.get_beam_parses(beam)
        total = sum(weight for weight, _ in analyses) or 1.0
        for weight, entities in analyses:
            for start, end, label in entities:
                shares[start, end, label] += weight / total
        spans = list(shares)
        likely = [min(1.0, shares[span]) for span in spans]
        numbers, certificate = select([span[:2] for span in spans], log_odds(likely, threshold))
        chosen = []
        for number in numbers:
            start, end, label = spans[number]
            chosen.append((Span(doc, start, end, label=label), likely[number]))
        found.append((chosen, certificate))
    return found
