"""Scores of tags, trees and links: spaCy's own keys, and the share of units proven optimal."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

from spacy.pipeline.dep_parser import parser_score  # type: ignore[import-not-found]
from spacy.scorer import Scorer, get_ner_prf
from spacy.training import Example

from .factories.exact_tagger import Target

__all__ = [
    "make_linker_scorer", "make_parser_scorer", "make_tagger_scorer", "score_certified",
    "score_linker", "score_parser", "score_tagger",
]  # fmt: skip


def score_certified(examples: Iterable[Example], component: str) -> dict[str, float | None]:
    """Return the shares of decoded units that are proven optimal.

    ``certified`` counts units that are optimal; ``certified_pruned`` those that are optimal among
    the candidates that a heuristic kept, a weaker claim. None, as in spaCy's scorer, where nothing
    was decoded.
    """
    found = [
        (certificate["status"], certificate["scope"])
        for example in examples
        for certificate in example.predicted._.certificates.get(component, ())
    ]
    keys = {"certified": "full", "certified_pruned": "pruned"}
    return {
        key: found.count(("optimal", scope)) / len(found) if found else None
        for key, scope in keys.items()
    }


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
    """The hash of the features' string, which spaCy's own scorer uses."""
    return cast(int, token.morph.key)


def make_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer of ``exact_tagger``."""
    return score_tagger


def score_parser(examples: Iterable[Example], component: str, **kwargs: Any) -> dict[str, Any]:
    """Return spaCy's parser scores (``dep_uas``, ``sents_f``, ...) and ``certified``."""
    examples = list(examples)
    return {**parser_score(examples, **kwargs), **score_certified(examples, component)}


def make_parser_scorer() -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.parser_scorer.v1``."""
    return score_parser


def make_linker_scorer(component: str = "graph_entity_linker") -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.linker_scorer.v1``."""
    return partial(score_linker, component=component)


def score_linker(
    examples: Iterable[Example], *, component: str = "graph_entity_linker", **kwargs: Any
) -> dict[str, Any]:
    """Score links.

    ``nel_micro_f`` and the like are spaCy's. ``nel_linkable_acc`` is the share of gold entities
    with an identifier that were linked to it, whether or not it was a candidate.
    """
    given = list(examples)
    scores: dict[str, Any] = Scorer.score_links(given, negative_labels=["", "NIL"])
    right = total = 0
    for example in given:
        found = {(ent.start_char, ent.end_char): ent.kb_id_ for ent in example.predicted.ents}
        for ent in example.reference.ents:
            if ent.kb_id_ and ent.kb_id_ != "NIL":
                total += 1
                right += found.get((ent.start_char, ent.end_char)) == ent.kb_id_
    scores["nel_linkable_acc"] = right / total if total else None
    return {**scores, **score_certified(given, component)}
