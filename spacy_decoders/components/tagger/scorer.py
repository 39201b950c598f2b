"""The scorer of ``exact_tagger``: spaCy's own keys, and how much is certified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from spacy.scorer import Scorer, get_ner_prf
from spacy.training import Example

from ..scoring import score_certified
from .label_space import Target

__all__ = ["make_tagger_scorer", "score_tagger"]


def score_tagger(
    examples: Iterable[Example], *, targets: Sequence[Target], component: str, **kwargs: Any
) -> dict[str, Any]:
    """Score a tagger by spaCy's keys (``tag_acc``, ``ents_f``, ...) and ``certified``."""
    examples = list(examples)
    scores: dict[str, Any] = {}
    for target in targets:
        if target == "ent":
            scores.update(get_ner_prf(examples))
        elif target == "morph":
            scores.update(Scorer.score_token_attr(examples, target, getter=_key_of))
            scores.update(Scorer.score_token_attr_per_feat(examples, target, getter=_key_of))
        else:
            scores.update(Scorer.score_token_attr(examples, target))
    scores.update(score_certified(examples, component))
    return scores


def _key_of(token: Any, attribute: str) -> int:
    """The number of the features' string, as spaCy's own scorer takes it."""
    return cast(int, token.morph.key)


def make_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer of ``exact_tagger``."""
    return score_tagger
