"""Scores of linking: spaCy's own, and accuracy on the mentions that can be linked."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.training import Example

from ..scoring import score_certified

__all__ = ["make_linker_scorer", "score_linker"]


def make_linker_scorer(component: str = "graph_entity_linker") -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.linker_scorer.v1``."""
    from functools import partial

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
