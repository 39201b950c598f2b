"""Which spans of a document are to be linked."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.kb import KnowledgeBase
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ...errors import ProblemError
from ..factories.graph_entity_linker import MentionSource
from .knowledge_base import ConceptKnowledgeBase

__all__ = ["MATCH_LABEL", "find_mentions"]

#: Label of entities that the alias matcher adds.
MATCH_LABEL = "CONCEPT"

#: Longest alias that is looked for, in tokens.
_LONGEST = 6


def find_mentions(
    doc: Doc, source: MentionSource, spans_key: str, discard: Sequence[str], kb: KnowledgeBase
) -> list[Span]:
    """The spans to link, those with a discarded label left out.

    From ``doc.ents``, from ``doc.spans[spans_key]``, or ``doc.ents`` and whatever else in
    the text is an alias in the knowledge base: the longest first, not beginning or ending
    with a stop word or punctuation.
    """
    if source == "spans":
        spans = list(doc.spans.get(spans_key, ()))
    else:
        spans = list(doc.ents)
        if source == "aliases":
            spans = filter_spans([*spans, *_aliases(doc, kb)])
    return [span for span in spans if span.label_ not in discard]


def _aliases(doc: Doc, kb: KnowledgeBase) -> list[Span]:
    if not isinstance(kb, ConceptKnowledgeBase):
        raise ProblemError(
            "mentions: the alias matcher needs a knowledge base made by `python -m spacy "
            "decoders kb build`; take mentions from 'ents' or 'spans'."
        )
    taken = {token.i for ent in doc.ents for token in ent}
    fit = [not (t.is_stop or t.is_punct or t.is_space or t.i in taken) for t in doc]
    spans = [
        Span(doc, start, stop, label=MATCH_LABEL)
        for start in range(len(doc))
        if fit[start]
        for stop in range(start + 1, min(start + _LONGEST, len(doc)) + 1)
        if fit[stop - 1]
    ]
    rows = kb.base.aliases.find([span.text for span in spans])
    return [span for span, row in zip(spans, rows.tolist(), strict=True) if row >= 0]
