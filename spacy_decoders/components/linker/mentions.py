"""Which spans of a document are to be linked, and what each may mean."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_PUNCT, IS_SPACE, IS_STOP, ORTH, SPACY
from spacy.kb import KnowledgeBase
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ...errors import ProblemError
from ...models.linker.together import Forms
from ..factories.graph_entity_linker import MentionSource
from .candidates import CandidateFinder, gather
from .features import MATCH_LABEL, common_nouns, features_of, singular
from .knowledge_base import ConceptKnowledgeBase

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["MATCH_LABEL", "Mentions", "find_mentions", "with_candidates"]

#: Longest alias that is looked for, in tokens.
_LONGEST = 6


@dataclass(frozen=True, eq=False)
class Mentions:
    """The mentions of a document, and their candidates."""

    #: What is to be linked.
    spans: list[Span]
    #: For each span its place among the table's mentions, -1 without candidates.
    units: list[int]
    #: The candidates.
    table: CandidateTable
    #: Which of the table's mentions have the same text, case and the number of nouns apart.
    forms: Forms
    #: See :class:`~spacy_decoders.models.linker.weights.Feature`, of linking nothing behind
    #: the candidates of each mention; those of pairs are filled in later. **Shape:**
    #: ``(candidates + mentions, 14)``
    features: NDArray[np.float32]
    #: Demands on links that contradict each other.
    conflicts: Sequence[dict[str, Any]] = ()


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
    table = doc.to_array([ORTH, SPACY, IS_STOP, IS_PUNCT, IS_SPACE]).reshape(-1, 5)
    fit, strings = [row == 0 for row in table[:, 2:].sum(axis=1).tolist()], doc.vocab.strings
    for ent in doc.ents:
        fit[ent.start : ent.end] = [False] * len(ent)
    # the text of a Doc, and the place of a token in it, take longer than all of this
    words = [strings[orth] for orth in table[:, 0].tolist()]
    blanks = table[:, 1].tolist()
    aliases = kb.base.aliases
    found: list[tuple[int, int, str]] = []
    # token by token, as long as an alias begins so: most words begin none
    grown = [(start, start, word) for start, word in enumerate(words) if fit[start]]
    for _ in range(_LONGEST):
        begins = aliases.begin([form for *_, form in grown])
        longer = []
        for start, stop, form in itertools.compress(grown, begins):
            if fit[stop]:
                found.append((start, stop + 1, form))
            if stop + 1 < len(words):
                longer.append((start, stop + 1, form + " " * blanks[stop] + words[stop + 1]))
        grown = longer
        if not grown:
            break
    known = [meanings is not None for meanings in aliases.find([form for *_, form in found])]
    # a name that is an entity elsewhere in the document is one of its kind
    labels = {ent.text: ent.label_ for ent in doc.ents}
    return [
        Span(doc, start, stop, label=labels.get(form, MATCH_LABEL))
        for start, stop, form in itertools.compress(found, known)
    ]


def with_candidates(
    doc: Doc, spans: list[Span], kb: KnowledgeBase, finder: CandidateFinder, limit: int
) -> Mentions:
    """Look up the candidates of each mention, and read what speaks for them."""
    from ...knowledge.aliases import normalised

    kept, table = gather(kb, finder, spans, normalised([span.text for span in spans]), limit)
    units = [-1] * len(spans)
    for unit, place in enumerate(kept):
        units[place] = unit
    own = [spans[place] for place in kept]
    common = common_nouns(own)
    # the inflections of a noun are one form: that of the first mention that tells them
    forms: dict[str, str] = {}
    for place in np.flatnonzero(common).tolist():
        text = table.mentions[place]
        if forms.get(text, text) == text:
            forms[text] = singular(own[place], text)
    numbers = _numbered([forms.get(text, text) for text in table.mentions])
    same = Forms(numbers, _numbered([span.text for span in own]))
    return Mentions(spans, units, table, same, features_of(doc, own, common, table))


def _numbered(texts: Sequence[str]) -> NDArray[np.int64]:
    """A number for each text, the same for the same text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
