"""The factory of ``cached_attribute_ruler``."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

__all__ = ["make_cached_attribute_ruler"]


@Language.factory(
    "cached_attribute_ruler",
    default_config={
        "validate": False,
        "scorer": {"@scorers": "spacy.attribute_ruler_scorer.v1"},
    },
)
def make_cached_attribute_ruler(
    nlp: Language, name: str, validate: bool, scorer: Callable[..., Any] | None
) -> Any:
    """Make spaCy's attribute ruler, but matching each kind of token once."""
    from ..attribute_ruler import CachedAttributeRuler

    return CachedAttributeRuler(nlp.vocab, name, validate=validate, scorer=scorer)
