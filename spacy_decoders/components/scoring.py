"""The score that all components add to spaCy's own: the share of units proven optimal."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.training import Example

from .extensions import certificates_of

__all__ = ["score_certified"]


def score_certified(examples: Iterable[Example], component: str) -> dict[str, float | None]:
    """Return the shares of decoded units that are proven optimal.

    ``certified`` counts units that are optimal; ``certified_pruned`` those that are optimal among
    the candidates that a heuristic kept, a weaker claim. None, as in spaCy's scorer, where nothing
    was decoded.
    """
    found = [
        (certificate["status"], certificate["scope"])
        for example in examples
        for certificate in certificates_of(example.predicted, component)
    ]
    keys = {"certified": "full", "certified_pruned": "pruned"}
    return {
        key: found.count(("optimal", scope)) / len(found) if found else None
        for key, scope in keys.items()
    }
