"""The factory of ``listed_lemmatizer``."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from thinc.api import Model

__all__ = ["make_listed_lemmatizer"]


@Language.factory(
    "listed_lemmatizer",
    assigns=["token.lemma"],
    default_config={
        "model": None,
        "mode": "rule",
        "overwrite": False,
        "scorer": {"@scorers": "spacy.lemmatizer_scorer.v1"},
    },
    default_score_weights={"lemma_acc": 1.0},
)
def make_listed_lemmatizer(
    nlp: Language,
    name: str,
    model: Model[Any, Any] | None,
    mode: str,
    overwrite: bool,
    scorer: Callable[..., Any] | None,
) -> Any:
    """Make spaCy's English rule lemmatizer, but with listed words first and names as written."""
    from ..lemmatizer import ListedLemmatizer

    return ListedLemmatizer(nlp.vocab, model, name, mode=mode, overwrite=overwrite, scorer=scorer)
