"""Finding the mentions of documents, with their candidates and features."""

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
from .candidates import AliasCandidates, CandidateSource, FoundCandidates, gather
from .features import IDLE, MATCH_LABEL, TOKEN_COLUMNS, common_nouns, features_of, singular

if TYPE_CHECKING:
    from ...knowledge.aliases import AliasTable
    from ...knowledge.candidates import CandidateTable
    from ..constraints.matches import Match

__all__ = ["Mentions", "annotated_mentions", "find_mentions"]


@dataclass(frozen=True, eq=False)
class Mentions:
    """The mentions of a document; the table may include those of other documents."""

    #: The spans to link.
    spans: list[Span]
    #: For each span its index among those with candidates, -1 if it has none.
    units: list[int]
    #: The mentions of the table that are this document's.
    own: range
    #: The candidates.
    table: CandidateTable
    #: See :class:`~spacy_decoders.models.linker.weights.Feature`. The row of NIL comes after the
    #: candidates of each mention; those of pairs are filled in later. **Shape:**
    #: ``(candidates + mentions, 14)``
    features: NDArray[np.float32]
    #: Demands on links that contradict each other.
    conflicts: Sequence[dict[str, Any]]

    def of(self, window: range) -> Mentions:
        """The mentions of a window of the units, with a table of their own."""
        at = self.own[window.start : window.stop]
        if at == range(len(self.table.mentions)):
            return self
        rows = slice(*self.table.with_nothing[[at.start, at.stop]].tolist())
        own, table = range(len(at)), self.table.of(at)
        return replace(self, own=own, table=table, features=self.features[rows])


def annotated_mentions(doc: Doc, options: LinkerOptions) -> list[Span]:
    """The mentions that a document has, including linked concepts that are no entities."""
    if options.mentions == "spans":
        return list(doc.spans.get(options.spans_key, ()))
    aside = options.concepts_key if options.mentions == "aliases" else None
    return [*doc.ents, *(doc.spans.get(aside, ()) if aside is not None else ())]


def find_mentions(
    docs: Sequence[Doc], options: LinkerOptions, matches: Sequence[Sequence[Match]]
) -> list[Mentions]:
    """Find the mentions of documents, their candidates, and the features of these.

    Mentions are those of ``doc.ents`` or of ``doc.spans[spans_key]``, or ``doc.ents`` and all
    other aliases of the knowledge base: the longest first, without a stop word or punctuation at
    either end. Those with a discarded label are left out. `matches` are those of the constraints
    in each document.
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
    source, limit = CandidateSource(options.kb, options.candidates), options.max_candidates
    found, conflicts = _found(source, docs, spans, options, matches)
    # mentions that may be linked to one of their first candidates
    known = [place for place, one in enumerate(found) if (one.priors[:limit] >= 0).any()]
    linkable = [every[place] for place in known]
    texts = [span.text for span in linkable]
    names, common = [*map(normalise, texts)], common_nouns(linkable, texts)
    forms = _forms(linkable, names, common)
    table = gather(source, map(found.__getitem__, known), names, forms, texts, limit)
    # the mentions of the table that are each document's
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
    source: CandidateSource,
    docs: Sequence[Doc],
    spans: Sequence[Sequence[Span]],
    options: LinkerOptions,
    matches: Sequence[Sequence[Match]],
) -> tuple[list[FoundCandidates], list[Sequence[dict[str, Any]]]]:
    """The candidates of all mentions, and the conflicts of demands in each document."""
    # other finders may expect the mentions of one document
    together = isinstance(options.candidates, AliasCandidates)
    parts = [[*chain.from_iterable(spans)]] if together else spans
    found = [*chain.from_iterable(map(source.find, parts))]
    conflicts: list[Sequence[dict[str, Any]]] = [()] * len(docs)
    end = 0
    for place, (doc, own, matching) in enumerate(zip(docs, spans, matches, strict=True)):
        begin, end = end, end + len(own)
        if matching:
            from ..constraints.candidates import CandidateLimits

            limits = CandidateLimits(source, matching)
            found[begin:end] = map(limits.limited, own, found[begin:end])
            conflicts[place] = limits.conflicts(doc, own, annotated_mentions(doc, options))
    return found, conflicts


def _with_aliases(
    docs: Sequence[Doc], tokens: Sequence[NDArray[np.uint64]], aliases: AliasTable
) -> list[list[Span]]:
    """The entities of each document, and the aliases outside of these."""
    every = np.concatenate(tokens)
    fit: NDArray[np.bool_] = np.logical_not(every[:, IDLE].any(axis=1))
    begins = [0, *accumulate(map(len, docs))]
    spans = [[*doc.ents] for doc in docs]
    words: list[Any] = []
    for doc, begin, own, ents in zip(docs, begins, tokens, spans, strict=False):
        for ent in ents:
            fit[begin + ent.start : begin + ent.end] = False
        # faster than `doc.text` and the offsets of tokens
        words += map(doc.vocab.strings.__getitem__, own[:, TOKEN_COLUMNS[ORTH]].tolist())
    blanks = every[:, TOKEN_COLUMNS[SPACY]].tolist()
    # a name that is an entity elsewhere in the document gets its label
    labels: dict[int, dict[str, str]] = {}
    for start, stop, form in aliases.find_in(words, blanks, fit.tolist(), begins):
        number = bisect_right(begins, start) - 1
        if number not in labels:
            labels[number] = {ent.text: ent.label_ for ent in spans[number]}
        begin, label = begins[number], labels[number].get(form, MATCH_LABEL)
        spans[number].append(Span(docs[number], start - begin, stop - begin, label=label))
    for number in labels:  # only aliases can overlap
        spans[number] = filter_spans(spans[number])
    return spans


def _forms(
    spans: Sequence[Span], names: Sequence[str], common: Sequence[bool]
) -> list[tuple[Doc, str]]:
    """The form of each mention, the same for all inflections of a noun in a document."""
    # the singular by the first mention whose singular differs
    nouns: dict[tuple[Doc, str], str] = {}
    texts = [(span.doc, name) for span, name in zip(spans, names, strict=True)]
    for span, text in compress(zip(spans, texts, strict=True), common):
        if nouns.get(text, text[1]) == text[1]:
            nouns[text] = singular(span, text[1])
    return [(text[0], nouns.get(text, text[1])) for text in texts]
