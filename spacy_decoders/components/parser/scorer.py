"""The scorer of ``branch_and_bound_parser``: spaCy's own keys, and how much is certified."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.pipeline.dep_parser import parser_score  # type: ignore[import-not-found]
from spacy.training import Example

from ..scoring import score_certified

__all__ = ["make_parser_scorer", "score_parser"]


def score_parser(examples: Iterable[Example], component: str, **kwargs: Any) -> dict[str, Any]:
    """Return spaCy's parser scores (``dep_uas``, ``sents_f``, ...) and ``certified``."""
    examples = list(examples)
    return {**parser_score(examples, **kwargs), **score_certified(examples, component)}


def make_parser_scorer() -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.parser_scorer.v1``."""
    return score_parser
