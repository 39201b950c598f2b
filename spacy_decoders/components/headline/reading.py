"""Reading a Doc into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    DEP,
    ENT_TYPE,
    HEAD,
    IS_ALPHA,
    IS_LOWER,
    IS_PUNCT,
    IS_SPACE,
    IS_STOP,
    LENGTH,
    LIKE_EMAIL,
    LIKE_NUM,
    LIKE_URL,
    LOWER,
    MORPH,
    ORTH,
    POS,
    PREFIX,
    SENT_START,
    SPACY,
    TAG,
)
from spacy.parts_of_speech import IDS
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from ...models.headline.phrases import Traits
from ...models.headline.stems import Stemmer
from ...models.headline.words import Words

__all__ = [
    "among",
    "Texts",
    "read_words",
    "word_keys",
]

_ATTRIBUTES = [
    LOWER, IS_ALPHA, IS_STOP, IS_PUNCT, IS_SPACE, IS_LOWER, LENGTH, ENT_TYPE, POS, SENT_START,
    HEAD, DEP, MORPH, LIKE_URL, LIKE_EMAIL, LIKE_NUM, PREFIX, ORTH, SPACY, TAG,
]  # fmt: skip
#: The kind of each part of speech, as spaCy numbers them.
_KINDS = np.zeros(256, dtype=np.int8)
for _number, _part in enumerate(("NOUN", "PROPN", "VERB", "ADJ"), 1):
    _KINDS[IDS[_part]] = _number
#: Single letters of the Latin script: names of variables and points, no content.
_LETTERS = np.sort(
    np.array([get_string_id(c) for c in "abcdefghijklmnopqrstuvwxyz"], dtype=np.uint64)
)
#: Tokens that join their neighbours into one word, and those that are part of the word before.
_HYPHENS = frozenset("-–/")
_DASHES = np.sort(np.array([get_string_id(c) for c in "-–—"], dtype=np.uint64))
_GLUE = _HYPHENS | frozenset("—&+#'’") | {"'s", "’s", "++", "--"}
#: Characters of formulas, whose tokens are no words.
_FORMULA = frozenset("^=<>\\~|")
#: Characters that end a sentence, where no boundaries are set.
_FULL_STOPS = frozenset(".!?…。！？।؟")


@dataclass(frozen=True, eq=False)
class Texts:
    """Some documents or spans of one vocabulary, laid end to end and read at once."""

    #: The documents or spans.
    units: Sequence[Doc | Span]
    #: The attributes of all tokens. **Shape:** ``(attributes, tokens)``
    columns: NDArray[np.uint64]
    #: Where each unit begins and ends.
    bounds: list[tuple[int, int]]

    @classmethod
    def of(cls, units: Sequence[Doc | Span]) -> Texts:
        """Read the attributes of the tokens."""
        given: Any = units  # a span has `to_array` too, which its stub lacks
        tables = [unit.to_array(_ATTRIBUTES).reshape(-1, len(_ATTRIBUTES)) for unit in given]
        ends = np.cumsum([0, *map(len, tables)]).tolist()
        table = np.concatenate([np.zeros((0, len(_ATTRIBUTES)), dtype=np.uint64), *tables])
        return cls(units, np.ascontiguousarray(table.T), list(pairwise(ends)))

    def __getitem__(self, attribute: int) -> NDArray[np.uint64]:
        column: NDArray[np.uint64] = self.columns[_ATTRIBUTES.index(attribute)]
        return column

    @property
    def strings(self) -> Any:
        """The strings of the vocabulary."""
        return self.units[0].vocab.strings

    @cached_property
    def begins(self) -> NDArray[np.int64]:
        """Of each token, where its unit begins. **Shape:** ``(tokens,)``"""
        return np.repeat([begin for begin, _ in self.bounds], [b - a for a, b in self.bounds])

    @cached_property
    def parsed(self) -> NDArray[np.bool_]:
        """Of each token, whether its document has trees. **Shape:** ``(tokens,)``"""
        found = [_doc(unit).has_annotation("DEP") for unit in self.units]
        return np.repeat(found, [b - a for a, b in self.bounds])

    @cached_property
    def lowered(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The different lower-cased words by their keys, and the place of each token's."""
        keys, places = np.unique(self[LOWER], return_inverse=True)
        return keys, places.reshape(-1)

    def words(self, stemmer: Stemmer) -> list[Words]:
        """Read the words of each unit.

        Content words are alphabetic, not stop words, and longer than a letter, unless the script
        has one-letter words. Sentence boundaries are those that are set; without any, sentences
        end at full stops.
        """
        keys, alpha = self[LOWER], self[IS_ALPHA] > 0
        content = alpha & (self[IS_STOP] == 0)
        single = np.flatnonzero(content & (self[LENGTH] == 1))
        content[single[among(keys[single], _LETTERS)]] = False
        begins = self[SENT_START].astype(np.int64) == 1
        for unit, (begin, end) in zip(self.units, self.bounds, strict=True):
            if not _doc(unit).has_annotation("SENT_START"):
                begins[begin:end] = _after_full_stops(unit, self[IS_PUNCT][begin:end])
            begins[begin : min(begin + 1, end)] = True
        sentences = np.cumsum(begins)
        distinct, places = self.lowered
        stemmed = np.zeros(len(distinct), dtype=bool)
        stemmed[places[content]] = True
        stems = distinct.copy()
        stems[stemmed] = stemmer.keys(distinct[stemmed].tolist(), self.strings)
        columns: tuple[Any, ...] = (
            keys,
            np.where(content, stems[places], keys),
            content,
            (self[IS_PUNCT] == 0) & (self[IS_SPACE] == 0),
            sentences - sentences[self.begins],
            (self[IS_LOWER] == 0) & alpha & ~begins,
            self[ENT_TYPE] > 0,
            _KINDS[self[POS].astype(np.intp)],
        )
        return [Words(*(of[begin:end] for of in columns)) for begin, end in self.bounds]

    def traits(
        self, content: NDArray[np.bool_], auxiliaries: NDArray[np.uint64], openers: Any
    ) -> list[Traits]:
        """Read what phrases need beside the words.

        Parameters
        ----------
        content
            Which tokens are content words, of all units. **Shape:** ``(tokens,)``
        auxiliaries
            Keys of prepositions and articles.
        openers
            Keys of function words that titles begin with, ascending.
        """
        keys, (distinct, places) = self[LOWER], self.lowered
        kinds, joins, named = (of[places] for of in _traits(distinct, self.strings))
        # a dash between blanks parts what a hyphen joins
        apart = among(keys, _DASHES) & (self[SPACY] > 0)
        apart[1:] &= self[SPACY][:-1] > 0
        kinds, joins = np.where(apart, 0, kinds), joins & ~apart
        stop = self[IS_STOP] > 0
        word, number = kinds > 0, kinds == 2
        meaning = content | (named & (kinds == 1) & ~stop)
        flags = np.column_stack(
            [
                word,
                kinds < 0,
                joins,
                meaning | number,
                meaning,
                word & ~stop,
                word & among(keys, openers),
                among(keys, np.sort(auxiliaries)),
                stop,
            ]
        )
        tags = self[POS].astype(np.int64)
        heads = self[HEAD].view(np.int64) * self.parsed
        found = []
        for begin, end in self.bounds:
            own = slice(begin, end)
            to = np.clip(np.arange(end - begin) + heads[own], 0, max(0, end - begin - 1))
            parsed = bool(end > begin and self.parsed[begin])
            found.append(Traits.of_flags(flags[own], tags[own], to, parsed))
        return found


def read_words(unit: Doc | Span, stemmer: Stemmer) -> Words:
    """Read the words of a document or a span; see :meth:`Texts.words`."""
    return Texts.of([unit]).words(stemmer)[0]


def _doc(unit: Doc | Span) -> Doc:
    return unit if isinstance(unit, Doc) else unit.doc


def _traits(
    keys: NDArray[np.uint64], strings: Any
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.bool_]]:
    """The kind of each word, whether it joins its neighbours, whether it has other signs."""
    texts = [strings[key] for key in keys.tolist()]
    kinds = np.array([_kind(text) for text in texts], dtype=np.int8)
    joins = np.array([text in _HYPHENS for text in texts], dtype=bool)
    named = np.array([not text.isalpha() and len(text) > 1 for text in texts], dtype=bool)
    return kinds, joins, named


def _kind(text: str) -> int:
    """-1 for what joins words, 0 for punctuation, 1 for words, 2 for those with a digit."""
    if text.isalpha():
        return 1
    if text in _GLUE:
        return -1
    if not _FORMULA.isdisjoint(text) or text.count("(") != text.count(")"):
        return 0
    if any(c.isdigit() for c in text):
        return 2
    return int(any(c.isalpha() for c in text))


def word_keys(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys that `read_words` gives to these words."""
    return np.array([get_string_id(word.lower()) for word in words], dtype=np.uint64)


def _after_full_stops(unit: Doc | Span, punct: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return where sentences begin, by punctuation alone."""
    begins = np.zeros(len(punct), dtype=bool)
    for place in np.flatnonzero(punct[:-1]):
        if unit[int(place)].text[-1] in _FULL_STOPS:
            begins[place + 1] = True
    return begins


def among(keys: NDArray[np.uint64], ascending: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each key is among some that are in order."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[place] == keys)
