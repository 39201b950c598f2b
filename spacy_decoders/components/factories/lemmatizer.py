"""The factory of ``listed_lemmatizer``, which spaCy imports when it looks for components."""

from typing import Any

from ..options import WithOptions, option
from .factory import register_factory

__all__ = ["LemmatizerOptions", "make_listed_lemmatizer"]


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
