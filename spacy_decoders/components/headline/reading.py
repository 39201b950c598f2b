"""Reading documents into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any
from unicodedata import category, normalize

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
    LIKE_EMAIL,
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
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens

__all__ = ["Texts", "is_picture", "word_keys"]

Booleans = NDArray[np.bool_]

_ATTRIBUTES = [
    LOWER, IS_ALPHA, IS_STOP, IS_PUNCT, IS_SPACE, IS_LOWER, ENT_TYPE, POS, SENT_START, HEAD, DEP,
    MORPH, LIKE_URL, LIKE_EMAIL, PREFIX, ORTH, SPACY, TAG,
]  # fmt: skip
#: Words whose kinds are remembered.
_WORDS = 1 << 16
#: Single letters of the Latin script: names of variables and points, no content.
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
#: Tokens that join their neighbours into one word, and those that are part of the word before.
_HYPHENS = frozenset("-–/")
_DASHES = frozenset("-–—")
_GLUE = _HYPHENS | frozenset("—&+#'’") | {"'s", "’s", "++", "--"}
#: Characters of formulas, whose tokens are no words.
_FORMULA = frozenset("^=<>\\~|")
#: Categories of the characters of emojis, and of what joins and varies these.
_PICTURES = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
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

    def having(self, attribute: int, *tests: Callable[[str], bool]) -> Any:
        """Whether the value of each token's attribute passes each test.

        **Shape:** ``(tests, tokens)``, or ``(tokens,)`` for one test
        """
        strings: Any = self.units[0].vocab.strings if self.units else {}
        keys, places = np.unique(self[attribute], return_inverse=True)
        values = [strings[key] for key in keys.tolist()]
        passed = [np.array([test(value) for value in values], dtype=bool) for test in tests]
        found = [of[places.reshape(-1)] for of in passed]
        return found if len(tests) > 1 else found[0]

    def each(self, values: Sequence[Any]) -> NDArray[Any]:
        """A value of each unit for each of its tokens. **Shape:** ``(tokens,)``"""
        return np.repeat(np.array(values), [end - begin for begin, end in self.bounds])

    def annotated(self, attribute: str) -> Booleans:
        """Of each token, whether its document has an annotation. **Shape:** ``(tokens,)``"""
        docs = [unit if isinstance(unit, Doc) else unit.doc for unit in self.units]
        return self.each([doc.has_annotation(attribute) for doc in docs]).astype(bool)

    @cached_property
    def parsed(self) -> Booleans:
        """Of each token, whether its document has trees. **Shape:** ``(tokens,)``"""
        return self.annotated("DEP")

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """The token that each depends on, itself if there is none. **Shape:** ``(tokens,)``"""
        own = np.arange(self.columns.shape[1])
        to = own + self[HEAD].view(np.int64)
        begins, ends = (self.each([of[side] for of in self.bounds]) for side in (0, 1))
        return np.where(self.parsed & (begins <= to) & (to < ends), to, own)

    def tokens(self, stemmer: Stemmer) -> TextTokens:
        """Read the tokens.

        Words with a meaning are no stop words, and longer than a letter, unless the script has
        one-letter words. Sentence boundaries are those that are set; without any, sentences end
        at full stops.
        """
        keys, alpha = self[LOWER], self[IS_ALPHA] > 0
        text = self.each(range(len(self.units))).astype(np.int64)
        # "won't" is two tokens, of which neither is a word by itself
        joined = alpha & (self[SPACY] == 0) & (np.diff(text, append=-1) == 0)
        joined[:-1] &= self.having(PREFIX, str.isalpha)[1:]
        stop = (self[IS_STOP] > 0) | joined | _after(joined)
        lettered, number, glue, hyphen, dash = self.having(
            LOWER,
            _has_letters,
            _has_digits,
            _GLUE.__contains__,
            _HYPHENS.__contains__,
            _DASHES.__contains__,
        )
        # a dash after a blank parts what a hyphen joins
        apart = dash & _after(self[SPACY] > 0)
        number &= ~glue
        word = (lettered & ~glue) | number
        meaning = word & ~number & ~stop & ~self.having(LOWER, _LETTERS.__contains__)
        begins = self[SENT_START].astype(np.int64) == 1
        stops = (self[IS_PUNCT] > 0) & self.having(ORTH, lambda text: text[-1:] in _FULL_STOPS)
        begins = np.where(self.annotated("SENT_START"), begins, _after(stops))
        begins[[begin for begin, end in self.bounds if begin < end]] = True
        distinct, places = np.unique(keys, return_inverse=True)
        stems, stemmed = distinct.copy(), np.zeros(len(distinct), dtype=bool)
        places = places.reshape(-1)
        stemmed[places[meaning]] = True
        if stemmed.any():
            strings = self.units[0].vocab.strings
            stems[stemmed] = stemmer.keys(distinct[stemmed].tolist(), strings)
        return TextTokens(
            text=text,
            sentences=np.cumsum(begins) - 1,
            keys=keys,
            stems=np.where(meaning, stems[places], keys),
            tags=self[POS].astype(np.int64),
            plain=(self[IS_PUNCT] == 0) & (self[IS_SPACE] == 0),
            word=word,
            glue=glue & ~apart,
            hyphen=hyphen & ~apart,
            content=meaning & alpha,
            meaning=meaning,
            unit=meaning | number,
            stop=stop,
            capital=(self[IS_LOWER] == 0) & alpha & ~begins,
            entity=self[ENT_TYPE] > 0,
        )


def _after(flags: Booleans) -> Booleans:
    """Which tokens are after one that has a flag."""
    moved = np.zeros_like(flags)
    moved[1:] = flags[:-1]
    return moved


@lru_cache(_WORDS)
def _has_letters(text: str) -> bool:
    """Whether it is a word with a letter."""
    return _is_word(text) and any(c.isalpha() for c in text)


@lru_cache(_WORDS)
def _has_digits(text: str) -> bool:
    """Whether it is a word with a digit."""
    return _is_word(text) and any(c.isdigit() for c in text)


def _is_word(text: str) -> bool:
    """Whether it is a word rather than a part of a formula."""
    return text.isalpha() or (
        _FORMULA.isdisjoint(text) and text.count("(") == text.count(")") and text not in _GLUE
    )


@lru_cache(_WORDS)
def is_picture(text: str) -> bool:
    """Whether it is an emoji, or a part of one: these are no words, and mostly several tokens."""
    if text.isascii() or text == "°":
        return False
    return all(category(c) in _PICTURES for c in normalize("NFKC", text))  # units become letters


def word_keys(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys that tokens of these words have."""
    return np.array([get_string_id(word.lower()) for word in words], dtype=np.uint64)
