"""Which spans of a document are to be linked, and what each may mean."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, compress, pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ..factories.graph_entity_linker import LinkerOptions
from .candidates import AliasCandidates, CandidateFinder, found_by, gather, with_candidates
from .features import IDLE, MATCH_LABEL, TOKEN_COLUMNS, common_nouns, features_of, singular

if TYPE_CHECKING:
    from ...knowledge.aliases import AliasTable
    from ...knowledge.candidates import CandidateTable
    from ..constraints.places import Place

__all__ = ["Mentions", "annotated_mentions", "find_mentions"]


@dataclass(frozen=True, eq=False)
class Mentions:
    """The mentions of a document, and their candidates; others may stand in the table, too."""

    #: What is to be linked.
    spans: list[Span]
    #: For each span its place among those with candidates, -1 without.
    units: list[int]
    #: Which mentions of the table are those with candidates.
    own: range
    #: The candidates.
    table: CandidateTable
    #: See :class:`~spacy_decoders.models.linker.weights.Feature`, of linking nothing behind
    #: the candidates of each mention; those of pairs are filled in later. **Shape:**
    #: ``(candidates + mentions, 14)``
    features: NDArray[np.float32]
    #: Demands on links that contradict each other.
    conflicts: Sequence[dict[str, Any]]

    def of(self, window: range) -> Mentions:
        """Those of a window of the units, with the table of these alone."""
        at = self.own[window.start : window.stop]
        if at == range(len(self.table.mentions)):
            return self
        rows = slice(*self.table.with_nothing[[at.start, at.stop]].tolist())
        own, table = range(len(at)), self.table.of(at)
        return replace(self, own=own, table=table, features=self.features[rows])


def annotated_mentions(doc: Doc, options: LinkerOptions) -> list[Span]:
    """The mentions that stand in a document, with the linked concepts that are no entities."""
    if options.mentions == "spans":
        return list(doc.spans.get(options.spans_key, ()))
    aside = options.concepts_key if options.mentions == "aliases" else None
    return [*doc.ents, *(doc.spans.get(aside, ()) if aside is not None else ())]


def find_mentions(
    docs: Sequence[Doc], options: LinkerOptions, places: Sequence[Sequence[Place]]
) -> list[Mentions]:
    """Find the spans to link in documents, their candidates, and what speaks for these.

    The spans are those of ``doc.ents`` or of ``doc.spans[spans_key]``, or ``doc.ents`` and
    whatever else in the text is an alias in the knowledge base: the longest first, not beginning
    or ending with a stop word or punctuation. Those with a discarded label are left out. `places`
    are those of each document where constraints apply.
    """
    from ...knowledge.aliases import normalise

    columns = [*TOKEN_COLUMNS]
    tokens: list[Any] = [doc.to_array(columns).reshape(-1, len(columns)) for doc in docs]
    if options.mentions == "aliases":
        given = _with_aliases(docs, tokens, options.kb.base.aliases)  # type: ignore[attr-defined]
    else:
        given = [annotated_mentions(doc, options) for doc in docs]
    spans = [
        [
            span
            for span in own
            if span.label_ not in options.labels_discard and (options.overwrite or not span.kb_id)
        ]
        for own in given
    ]
    every = [*chain.from_iterable(spans)]
    found, conflicts = _found(docs, spans, options, places)
    best, met = with_candidates(options.kb, found, options.max_candidates)
    known, linkable = [*best], [every[place] for place in best]
    texts = [span.text for span in linkable]
    names, common = [*map(normalise, texts)], common_nouns(linkable, texts)
    forms = _forms(linkable, names, common)
    limit = options.max_candidates
    table = gather(options.kb, best.values(), met, names, forms, texts, limit)
    # which of the table's mentions are those of each document
    begins = [0, *accumulate(map(len, spans))]
    ranges = [*starmap(range, pairwise(bisect_left(known, place) for place in begins))]
    parts = [*zip(docs, tokens, ranges, strict=True)]
    features = features_of(parts, linkable, texts, common, table, options.types)
    mentions = []
    for begin, of_doc, at, broken in zip(begins[:-1], spans, ranges, conflicts, strict=True):
        units = [-1] * len(of_doc)
        for unit, place in enumerate(known[at.start : at.stop]):
            units[place - begin] = unit
        mentions.append(Mentions(of_doc, units, at, table, features, broken))
    return mentions


def _found(
    docs: Sequence[Doc],
    spans: Sequence[Sequence[Span]],
    options: LinkerOptions,
    places: Sequence[Sequence[Place]],
) -> tuple[list[Any], list[Sequence[dict[str, Any]]]]:
    """The candidates of all mentions, and the demands of each document that contradict it."""
    conflicts: list[Sequence[dict[str, Any]]] = [()] * len(docs)
    if isinstance(options.candidates, AliasCandidates) and not any(places):
        every = [*chain.from_iterable(spans)]
        return found_by(options.kb, options.candidates, every), conflicts
    found: list[Any] = []  # others may expect the mentions of one document
    for place, (doc, own, limits) in enumerate(zip(docs, spans, places, strict=True)):
        finder: CandidateFinder = options.candidates
        if limits:
            from ..constraints.candidates import LimitedCandidates

            finder = limited = LimitedCandidates(options.kb, finder, limits)
            conflicts[place] = limited.conflicts(doc, own, annotated_mentions(doc, options))
        found += found_by(options.kb, finder, own)
    return found, conflicts


def _with_aliases(
    docs: Sequence[Doc], tokens: Sequence[NDArray[np.uint64]], aliases: AliasTable
) -> list[list[Span]]:
    """The entities of each text, and the aliases in it that are no parts of these."""
    every = np.concatenate(tokens)
    fit: NDArray[np.bool_] = np.logical_not(every[:, IDLE].any(axis=1))
    begins = [0, *accumulate(map(len, docs))]
    spans = [[*doc.ents] for doc in docs]
    words: list[Any] = []
    for doc, begin, own, ents in zip(docs, begins, tokens, spans, strict=False):
        for ent in ents:
            fit[begin + ent.start : begin + ent.end] = False
        # the text of a Doc, and the place of a token in it, take longer than all of this
        words += map(doc.vocab.strings.__getitem__, own[:, TOKEN_COLUMNS[ORTH]].tolist())
    blanks = every[:, TOKEN_COLUMNS[SPACY]].tolist()
    # a name that is an entity elsewhere in the document is one of its kind
    labels: dict[int, dict[str, str]] = {}
    for start, stop, form in aliases.find_in(words, blanks, fit.tolist(), begins):
        number = bisect_right(begins, start) - 1
        if number not in labels:
            labels[number] = {ent.text: ent.label_ for ent in spans[number]}
        begin, label = begins[number], labels[number].get(form, MATCH_LABEL)
        spans[number].append(Span(docs[number], start - begin, stop - begin, label=label))
    for number in labels:  # entities alone do not overlap
        spans[number] = filter_spans(spans[number])
    return spans


def _forms(
    spans: Sequence[Span], names: Sequence[str], common: Sequence[bool]
) -> list[tuple[Doc, str]]:
    """What mentions of a document have in common: the inflections of a noun are one form."""
    # that of the first mention that tells them
    nouns: dict[tuple[Doc, str], str] = {}
    texts = [(span.doc, name) for span, name in zip(spans, names, strict=True)]
    for span, text in compress(zip(spans, texts, strict=True), common):
        if nouns.get(text, text[1]) == text[1]:
            nouns[text] = singular(span, text[1])
    return [(text[0], nouns.get(text, text[1])) for text in texts]
