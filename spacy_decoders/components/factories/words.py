"""The factories of ``cached_attribute_ruler`` and ``listed_lemmatizer``, which decode nothing."""

from typing import Any

from ..options import WithOptions, option
from .factory import register_factory

__all__ = [
    "LemmatizerOptions", "RulerOptions", "make_cached_attribute_ruler", "make_listed_lemmatizer",
]  # fmt: skip


class RulerOptions(WithOptions):
    """The options of ``cached_attribute_ruler``, those of spaCy's ``attribute_ruler``."""

    validate: bool = option(False)


make_cached_attribute_ruler = register_factory(
    "cached_attribute_ruler",
    "components.attribute_ruler:CachedAttributeRuler",
    RulerOptions,
    scorer="spacy.attribute_ruler_scorer.v1",
    assigns=[],
)


class LemmatizerOptions(WithOptions):
    """The options of ``listed_lemmatizer``, those of spaCy's ``lemmatizer``."""

    model: Any = option(None)
    mode: str = option("rule")
    overwrite: bool = option(False)


make_listed_lemmatizer = register_factory(
    "listed_lemmatizer",
    "components.lemmatizer:ListedLemmatizer",
    LemmatizerOptions,
    scorer="spacy.lemmatizer_scorer.v1",
    assigns=["token.lemma"],
    scores={"lemma_acc": 1.0},
)
