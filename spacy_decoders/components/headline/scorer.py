"""Scoring headlines by ROUGE against the titles that people gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from ..scoring import score_certified
from .rouge import Rouge, rouge

__all__ = ["make_headline_scorer", "score_headlines"]


def score_headlines(
    examples: Iterable[Example], *, component: str = "headline_generator", **_: Any
) -> dict[str, Any]:
    """Return the mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, and the share certified.

    With several generators in a pipeline, each is scored by its own headlines. Documents whose
    reference has no headline are not counted; without any, the scores are None.
    """
    examples = list(examples)
    results = [
        rouge(example.reference._.headline, _headline_of(example.predicted, component))
        for example in examples
        if example.reference._.headline
    ]
    scores: dict[str, Any] = {
        f"headline_{kind}": (
            sum(getattr(result, kind) for result in results) / len(results) if results else None
        )
        for kind in Rouge._fields
    }
    return {**scores, **score_certified(examples, component)}


def _headline_of(doc: Doc, component: str) -> str:
    """Return a component's best headline; without its certificates, that of the document."""
    if component not in doc._.certificates:
        return str(doc._.headline)
    own = (entry["text"] for entry in doc._.headlines if entry.get("component") == component)
    return next(own, "")


def make_headline_scorer() -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.headline_scorer.v1``."""
    return score_headlines
