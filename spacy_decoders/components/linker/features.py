"""What speaks for a candidate alone, and for linking a mention to nothing, read from the Doc."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_PUNCT, IS_SPACE, IS_STOP, LEMMA, LOWER, ORTH
from spacy.tokens import Doc, Span

from ...knowledge.texts import title_words
from ...models.linker.together import with_nothing
from ...models.linker.types import type_agreement
from ...models.linker.weights import FEATURES, Feature
from ...models.linker.words import shared_words

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["MATCH_LABEL", "common_form", "features_of", "is_common"]

#: Label of entities that the alias matcher adds.
MATCH_LABEL = "CONCEPT"

#: Tokens on either side of a mention whose words are its context.
_AROUND = 30
#: The least share of a candidate's uses that a way of writing counts as: small letters, capitals.
#: A name in small letters is rare; what is listed in small letters may begin a sentence.
#: If another candidate is often written so, one that never is can't be meant.
_NEVER, _RARELY, _SELDOM = 0.002, 0.02, 0.3
#: The share from which a way of writing is usual.
_OFTEN = 0.2
#: What tells how usual a candidate is.
_USUAL = [Feature.PRIOR, Feature.POPULARITY, Feature.CASE]
#: The least and the most log-odds of a text not being a link.
_ODDS = (-4.0, 8.0)
#: Characters of a concept's text that are read.
_READ = 600
#: What a word of a title counts beside one of the text: many titles share a word by accident.
_TITLES = 0.3


def features_of(doc: Doc, spans: Sequence[Span], table: CandidateTable) -> NDArray[np.float32]:
    """Read what the weights weigh of each candidate and, behind each mention's own, of nothing.

    Parameters
    ----------
    doc
        The document.
    spans
        That of each of the table's mentions.
    table
        The candidates.

    Returns
    -------
    **Shape:** ``(candidates + mentions, 14)``; the columns of pairs are 0.
    """
    features = np.zeros((len(table) + len(table.mentions), len(FEATURES)), np.float32)
    if not len(table):
        return features
    last = with_nothing(table.offsets)[1:] - 1
    candidates = np.ones(len(features), bool)
    candidates[last] = False
    features[candidates, : Feature.TYPE + 1] = _of_candidates(DocWords(doc), spans, table)
    features[last, Feature.NONE] = 1.0
    prior, popularity, case = features[candidates][:, _USUAL].T.tolist()
    offsets = table.offsets.tolist()
    for unit, (span, row) in enumerate(zip(spans, last.tolist(), strict=True)):
        # nothing stands beside the most frequent of the candidates whose capitals fit best
        own = range(offsets[unit], offsets[unit + 1])
        best = max(case[place] for place in own)
        fit = [place for place in own if case[place] >= best - 1.0]
        usual = max((prior[place], popularity[place]) for place in fit)
        features[row, : Feature.POPULARITY + 1] = usual
        named = any(_names(table.mentions[unit], table.titles[place]) for place in fit)
        features[row, Feature.UNNAMED] = not named
        if span.label_ != MATCH_LABEL:
            continue
        linked = math.nan if table.linked is None else float(table.linked[unit])
        if math.isnan(linked):
            features[row, Feature.MATCHED] = 1.0
        else:
            share = min(max(linked, 1e-9), 1.0 - 1e-9)
            odds = math.log((1.0 - share) / share)
            features[row, Feature.UNLINKED] = min(max(odds, _ODDS[0]), _ODDS[1])
        features[row, Feature.PARTIAL] = _is_partial(doc, span)
        features[row, Feature.COMMON] = is_common(span)
    return features


def _names(mention: str, title: str) -> bool:
    """Whether a mention is a title without its distinction, also with another ending."""
    bare = re.sub(r"\s*[(,].*", "", title.casefold())
    if mention == bare:
        return True
    stem = bare[: max(3, len(bare) - 1)]
    return mention.startswith(stem) and len(mention) <= len(bare) + 3


class DocWords:
    """The words of a document that say something, each read once.

    Attributes
    ----------
    doc
        The document.
    """

    def __init__(self, doc: Doc) -> None:
        self.doc = doc

    @cached_property
    def small(self) -> bool:
        """Whether there are no capitals."""
        table = self.doc.to_array([ORTH, LOWER]).reshape(len(self.doc), 2)
        return bool((table[:, 0] == table[:, 1]).all())

    def around(self, span: Span) -> set[str]:
        """The words around a mention: small letters, no stop words, also as lemmas."""
        before = self._words[max(0, span.start - _AROUND) : span.start]
        words = set().union(*before, *self._words[span.end : span.end + _AROUND])
        words.discard("")
        return words

    @cached_property
    def _words(self) -> list[tuple[str, ...]]:
        """What each token says: its form and its lemma in small letters, or nothing."""
        table = self.doc.to_array([IS_STOP, IS_PUNCT, IS_SPACE, LOWER, LEMMA])
        strings = self.doc.vocab.strings
        return [
            () if stop or punct or space else (strings[lower], strings[lemma].casefold())
            for stop, punct, space, lower, lemma in table.tolist()
        ]


def _of_candidates(
    text: DocWords, spans: Sequence[Span], table: CandidateTable
) -> NDArray[np.float32]:
    """The features of candidates. **Shape:** ``(candidates, 8)``"""
    features = np.zeros((len(table), Feature.TYPE + 1), np.float32)
    features[:, Feature.PRIOR] = np.log(np.maximum(table.priors, 1e-6))
    features[:, Feature.POPULARITY] = np.log1p(table.popularity)
    doc = text.doc
    vector = np.asarray(doc.vector) if doc.vocab.vectors_length else np.zeros(0)
    if table.vectors.shape[1] and table.vectors.shape[1] == len(vector):
        lengths = np.linalg.norm(table.vectors, axis=1) * np.linalg.norm(vector)
        features[:, Feature.CONTEXT] = (table.vectors @ vector) / np.maximum(lengths, 1e-12)
    offsets = table.offsets.tolist()
    base = table.base
    written = None if table.written is None else table.written.tolist()
    for unit, span in enumerate(spans):
        rows = slice(offsets[unit], offsets[unit + 1])
        name = table.mentions[unit]
        features[rows, Feature.TITLE] = [title.casefold() == name for title in table.titles[rows]]
        if written is not None:
            features[rows, Feature.CASE] = _case(text, span, written[rows])
        label = span.label_
        if base is not None and label and label != MATCH_LABEL:
            features[rows, Feature.TYPE] = type_agreement(label, table.types[rows])
    if base is not None:
        # the words of a mention itself say nothing
        contexts = [
            text.around(span).difference(title_words(name))
            for span, name in zip(spans, table.mentions, strict=True)
        ]
        own = [slice(*span) for span in pairwise(offsets)]
        texts = [known.text[:_READ] for known in table.known]
        for weight, read in ((1.0, texts), (_TITLES, table.titles)):
            given = shared_words(contexts, [read[rows] for rows in own], base.title_words.surprise)
            features[:, Feature.WORDS] += weight * given
    return features


def _case(text: DocWords, span: Span, written: list[float]) -> list[float]:
    """The logarithm of how often candidates are written so; 0 where that is unknown, NaN."""
    least = _SELDOM
    if span.text.islower():
        if len(span) == 1:
            least = _NEVER if any(share >= _OFTEN for share in written) else _RARELY
        # who writes no capitals at all says nothing by them
        if text.small:
            least = 1.0
    return [0.0 if math.isnan(share) else math.log(max(share, least)) for share in written]


def is_common(span: Span) -> bool:
    """Whether a mention that is no entity is a common noun: no capital but that of a sentence."""
    text = span.text
    if span.label_ != MATCH_LABEL or not text[1:].islower():
        return False
    if text[0].islower():
        return True
    first = span[0]
    return (first.i == 0 or bool(first.is_sent_start)) and span.root.pos_ in ("", "NOUN", "ADJ")


def common_form(span: Span, text: str) -> str:
    """The normalised text of a mention, of a common noun in the singular.

    Two inflections of a noun are one witness: that both are there says nothing about its sense.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("bodies in boxes on shelves near volcanoes and glass")
    >>> spans = [Span(doc, i, i + 1, label=MATCH_LABEL) for i in (0, 2, 6, 8)]
    >>> [common_form(span, span.text) for span in spans]
    ['body', 'box', 'volcano', 'glass']
    """
    if not is_common(span):
        return text
    last = span[-1]
    *words, noun = text.split(" ")
    if last.lemma and last.pos_ == "NOUN":
        noun = last.lemma_.casefold()
    elif len(noun) > 4 and noun.endswith("ies"):
        noun = noun[:-3] + "y"
    elif noun.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        noun = noun[:-2]
    elif noun.endswith("s") and not noun.endswith(("ss", "us", "is")):
        noun = noun[:-1]
    return " ".join([*words, noun])


def _is_partial(doc: Doc, span: Span) -> bool:
    """Whether a mention is part of a longer name: a capitalised word stands right beside it."""
    if not span.text[:1].isupper() or span.text.isupper():
        return False
    before = doc[span.start - 1] if span.start else None
    after = doc[span.end] if span.end < len(doc) else None
    if after is not None and after.is_title and not after.is_stop:
        return True
    # the first word of a sentence is capitalised whatever it is
    return (
        before is not None and before.is_title and not (before.is_stop or _begins(before.i, doc))
    )


def _begins(i: int, doc: Doc) -> bool:
    # what a parser takes for a boundary between two capitalised words seldom is one
    return i == 0 or doc[i - 1].is_punct
