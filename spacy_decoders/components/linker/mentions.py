"""Which spans of a document are to be linked, and what each may mean."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.kb import KnowledgeBase
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ...errors import ProblemError
from ...models.linker.weights import FEATURES
from ..factories.graph_entity_linker import MentionSource
from .candidates import CandidateFinder, gather
from .knowledge_base import ConceptKnowledgeBase

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["MATCH_LABEL", "Mentions", "find_mentions", "with_candidates"]

#: Label of entities that the alias matcher adds.
MATCH_LABEL = "CONCEPT"

#: Longest alias that is looked for, in tokens.
_LONGEST = 6


@dataclass(frozen=True, eq=False)
class Mentions:
    """The mentions of a document, and the candidates of their distinct texts.

    Attributes
    ----------
    spans
        What is to be linked.
    units
        For each span its place among the table's mentions, -1 without candidates.
    table
        The candidates.
    features
        See ``FEATURES``; the last column is filled by the pairs. **Shape:**
        ``(candidates, 4)``
    """

    spans: list[Span]
    units: list[int]
    table: CandidateTable
    features: NDArray[np.float32]


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
    tokens = list(doc)
    fit = [not (t.is_stop or t.is_punct or t.is_space or t.i in taken) for t in tokens]
    begins = [token.idx for token in tokens]
    ends = [token.idx + len(token) for token in tokens]
    places = [
        (start, stop)
        for start in range(len(tokens))
        if fit[start]
        for stop in range(start + 1, min(start + _LONGEST, len(tokens)) + 1)
        if fit[stop - 1]
    ]
    text = doc.text
    rows = kb.base.aliases.find([text[begins[start] : ends[stop - 1]] for start, stop in places])
    known = itertools.compress(places, (rows >= 0).tolist())
    return [Span(doc, start, stop, label=MATCH_LABEL) for start, stop in known]


def with_candidates(
    doc: Doc, spans: list[Span], kb: KnowledgeBase, finder: CandidateFinder, limit: int
) -> Mentions:
    """Look up the candidates of each distinct text among the spans."""
    from ...knowledge.aliases import normalised

    texts = normalised([span.text for span in spans])
    first: dict[str, Span] = {}
    for text, span in zip(texts, spans, strict=True):
        first.setdefault(text, span)
    table = gather(kb, finder, list(first.values()), list(first), limit)
    unit = {text: place for place, text in enumerate(table.mentions)}
    units = [unit.get(text, -1) for text in texts]
    return Mentions(spans, units, table, _features(table, doc))


def _features(table: CandidateTable, doc: Doc) -> NDArray[np.float32]:
    """What the weights weigh of each candidate; the costs of pairs are filled in later."""
    features = np.zeros((len(table), len(FEATURES)), np.float32)
    features[:, 0] = np.log(np.maximum(table.priors, 1e-6))
    features[:, 1] = np.log1p(table.popularity)
    vector = np.asarray(doc.vector) if doc.vocab.vectors_length else np.zeros(0)
    if table.vectors.shape[1] and table.vectors.shape[1] == len(vector):
        lengths = np.linalg.norm(table.vectors, axis=1) * np.linalg.norm(vector)
        features[:, 2] = (table.vectors @ vector) / np.maximum(lengths, 1e-12)
    return features
