"""The score that all components add to spaCy's own: how much is proven optimal."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.training import Example

from .extensions import certificates_of

__all__ = ["score_certified"]


def score_certified(examples: Iterable[Example], component: str) -> dict[str, float | None]:
    """Return ``{"certified": share}``, the share of decoded units proven optimal.

    None, as in spaCy's scorer, where nothing was decoded.
    """
    statuses = [
        certificate["status"]
        for example in examples
        for certificate in certificates_of(example.predicted, component)
    ]
    if not statuses:
        return {"certified": None}
    return {"certified": sum(status == "optimal" for status in statuses) / len(statuses)}
