"""Scoring headlines by ROUGE against the titles that people gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.training import Example

from .scoring import score_certified

__all__ = ["UnicodeTokenizer", "make_headline_scorer", "score_headlines"]

_KINDS = ("rouge1", "rouge2", "rougeL")


class UnicodeTokenizer:
    """Cuts text into lower-cased words of any script; ROUGE's own knows only a to z."""

    def tokenize(self, text: str) -> list[str]:
        """Return the words: what is alphanumeric, split at all else."""
        return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def score_headlines(
    examples: Iterable[Example], *, component: str = "headline_generator", **_: Any
) -> dict[str, Any]:
    """Return the mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, and the share certified.

    Documents whose reference has no headline don't count; without any, the scores are None.
    """
    from rouge_score.rouge_scorer import RougeScorer

    examples = list(examples)
    scorer = RougeScorer(list(_KINDS), use_stemmer=False, tokenizer=UnicodeTokenizer())
    results = [
        scorer.score(example.reference._.headline, example.predicted._.headline)
        for example in examples
        if example.reference._.headline
    ]
    scores: dict[str, Any] = {
        f"headline_{kind}": (
            sum(result[kind].fmeasure for result in results) / len(results) if results else None
        )
        for kind in _KINDS
    }
    return {**scores, **score_certified(examples, component)}


def make_headline_scorer() -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.headline_scorer.v1``."""
    return score_headlines
