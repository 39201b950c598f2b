"""Which spans of a document are to be linked, and what each may mean."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_PUNCT, IS_SPACE, IS_STOP, ORTH, SPACY
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ...models.linker.together import Forms
from ..factories.graph_entity_linker import LinkerOptions
from .candidates import CandidateFinder, gather
from .features import MATCH_LABEL, TOKEN_COLUMNS, common_nouns, features_of, singular

if TYPE_CHECKING:
    from ...knowledge.aliases import AliasTable
    from ...knowledge.candidates import CandidateTable
    from ..constraints.places import Place

__all__ = ["Mentions", "annotated_mentions", "find_mentions"]

#: What no alias begins or ends with.
_NO_NAME = [TOKEN_COLUMNS[kind] for kind in (IS_STOP, IS_PUNCT, IS_SPACE)]


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


def annotated_mentions(doc: Doc, options: LinkerOptions) -> list[Span]:
    """The mentions that stand in a document, with the linked concepts that are no entities."""
    if options.mentions == "spans":
        return list(doc.spans.get(options.spans_key, ()))
    aside = options.concepts_key if options.mentions == "aliases" else None
    return [*doc.ents, *(doc.spans.get(aside, ()) if aside is not None else ())]


def find_mentions(doc: Doc, options: LinkerOptions, places: Sequence[Place] = ()) -> Mentions:
    """Find the spans to link, look up their candidates and read what speaks for these.

    The spans are those of ``doc.ents`` or of ``doc.spans[spans_key]``, or ``doc.ents`` and
    whatever else in the text is an alias in the knowledge base: the longest first, not beginning
    or ending with a stop word or punctuation. Those with a discarded label are left out. `places`
    are those where constraints apply.
    """
    from ...knowledge.aliases import normalised

    tokens: Any = doc.to_array([*TOKEN_COLUMNS]).reshape(-1, len(TOKEN_COLUMNS))
    if options.mentions != "aliases":
        spans = annotated_mentions(doc, options)
    else:
        ents = doc.ents
        aliases = _matches(doc, ents, tokens, options.kb.base.aliases)  # type: ignore[attr-defined]
        spans = filter_spans([*ents, *aliases])
    spans = [
        span
        for span in spans
        if span.label_ not in options.labels_discard and (options.overwrite or not span.kb_id)
    ]
    finder: CandidateFinder = options.candidates
    conflicts: Sequence[dict[str, Any]] = ()
    if places:
        from ..constraints.candidates import LimitedCandidates

        finder = limited = LimitedCandidates(options.kb, finder, places)
        own = {(span.start, span.end) for span in spans}
        kept = [
            span
            for span in annotated_mentions(doc, options)
            if span.kb_id and (span.start, span.end) not in own
        ]
        conflicts = limited.conflicts(doc, spans) + limited.broken(doc, kept)
    texts = [span.text for span in spans]
    names = normalised(texts)
    known, table = gather(options.kb, finder, spans, names, options.max_candidates)
    units = [-1] * len(spans)
    linkable: list[Span] = []
    written: list[str] = []
    for unit, place in enumerate(known):
        units[place] = unit
        linkable.append(spans[place])
        written.append(texts[place])
    common = common_nouns(linkable, written)
    # the inflections of a noun are one form: that of the first mention that tells them
    nouns: dict[str, str] = {}
    for place in np.flatnonzero(common).tolist():
        text = table.mentions[place]
        if nouns.get(text, text) == text:
            nouns[text] = singular(linkable[place], text)
    forms = Forms(_numbered([*map(nouns.get, table.mentions, table.mentions)]), _numbered(written))
    features = features_of(doc, tokens, linkable, written, common, table)
    return Mentions(spans, units, table, forms, features, conflicts)


def _matches(
    doc: Doc, ents: Sequence[Span], tokens: NDArray[np.uint64], aliases: AliasTable
) -> list[Span]:
    """The aliases in a text, but for entities and parts of them."""
    fit: NDArray[np.bool_] = ~np.asarray(tokens[:, _NO_NAME].any(axis=1))
    # a name that is an entity elsewhere in the document is one of its kind
    labels: dict[str, str] = {}
    for ent in ents:
        fit[ent.start : ent.end] = False
        labels[ent.text] = ent.label_
    # the text of a Doc, and the place of a token in it, take longer than all of this
    words: list[Any] = [
        *map(doc.vocab.strings.__getitem__, tokens[:, TOKEN_COLUMNS[ORTH]].tolist())
    ]
    found = aliases.find_in(words, tokens[:, TOKEN_COLUMNS[SPACY]].tolist(), fit.tolist())
    return [
        Span(doc, start, stop, label=labels.get(form, MATCH_LABEL)) for start, stop, form in found
    ]


def _numbered(texts: Sequence[str]) -> NDArray[np.int64]:
    """A number for each text, the same for the same text."""
    numbers = dict(zip(dict.fromkeys(texts), itertools.count(), strict=False))
    return np.array([*map(numbers.__getitem__, texts)], np.int64)
