"""Reading documents into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Sequence
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
    SENT_START,
    SPACY,
)
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens
from .meaning import HYPHENS, NEGATIONS

__all__ = ["Texts", "word_keys"]

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Strings whose kinds are remembered.
REMEMBERED = 1 << 16

#: What joins a word to the word before or the next, hyphens apart.
GLUE = HYPHENS | frozenset("&+#'’") | {"'s", "’s", "++"}
#: Characters of formulas, whose tokens are no words.
FORMULA = frozenset("^=<>\\~|")
#: Characters that end a sentence, where no boundaries are set.
FULL_STOPS = frozenset(".!?…。！？।؟")
#: Categories of the characters of emojis, and of what joins and varies these.
PICTURES = frozenset({"So", "Sk", "Cf", "Mn", "Me"})

#: Relations of the parts of one name or word, of what stands beside a sentence, and of what joins
#: a phrase to others.
PARTS = frozenset({"compound", "flat", "goeswith"})
ASIDE = frozenset({"discourse", "vocative", "intj"})
JOINING = frozenset({"case", "cc"})
#: Relations of verbs to what may make a claim of theirs untrue.
BELOW = frozenset({"xcomp", "ccomp", "advcl", "acl", "relcl", "parataxis", "pcomp"})
#: Relations of punctuation that is not read aloud.
SILENT = frozenset({"", "punct", "ROOT"})

_ATTRIBUTES = [
    LOWER, IS_ALPHA, IS_STOP, IS_PUNCT, IS_SPACE, IS_LOWER, ENT_TYPE, POS, SENT_START, HEAD, DEP,
    MORPH, LIKE_URL, LIKE_EMAIL, ORTH, SPACY,
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Texts:
    """Some documents or spans of one vocabulary, laid end to end and read at once."""

    #: The documents or spans.
    units: Sequence[Doc | Span]
    #: The attributes of all tokens. **Shape of each:** ``(tokens,)``
    columns: dict[int, NDArray[np.uint64]]
    #: Where each unit begins and ends.
    bounds: list[tuple[int, int]]
    #: The number of each token's unit. **Shape:** ``(tokens,)``
    text: Integers

    @classmethod
    def of(cls, units: Sequence[Doc | Span]) -> Texts:
        """Read the attributes of the tokens."""
        given: Any = units  # a span has `to_array` too, which its stub lacks
        tables = [unit.to_array(_ATTRIBUTES).reshape(-1, len(_ATTRIBUTES)) for unit in given]
        sizes = list(map(len, tables))
        table = np.concatenate([np.zeros((0, len(_ATTRIBUTES)), dtype=np.uint64), *tables])
        columns = dict(zip(_ATTRIBUTES, np.ascontiguousarray(table.T), strict=True))
        bounds = list(pairwise(np.cumsum([0, *sizes]).tolist()))
        return cls(units, columns, bounds, np.repeat(np.arange(len(sizes)), sizes))

    @cached_property
    def kinds(self) -> dict[str, Booleans]:
        """What the tokens are by their texts, relations and features: each is looked at once.

        **Shape of each:** ``(tokens,)``
        """
        strings: Any = self.units[0].vocab.strings if self.units else {}
        found: dict[str, Booleans] = {}
        for attribute, kinds_of in ((ORTH, form_of), (DEP, relation_of), (MORPH, features_of)):
            keys, places = np.unique(self.columns[attribute], return_inverse=True)
            rows = [[*kinds_of(strings[key]).values()] for key in keys.tolist()]
            table = np.array(rows, dtype=bool).reshape(len(keys), len(kinds_of("")))
            found |= zip(kinds_of(""), table[places.reshape(-1)].T, strict=True)
        return found

    @cached_property
    def heads(self) -> Integers:
        """The token that each depends on, itself if there is none. **Shape:** ``(tokens,)``"""
        own = np.arange(len(self.text))
        to = own + self.columns[HEAD].view(np.int64)
        begins, ends = np.array(self.bounds, dtype=np.int64).reshape(-1, 2)[self.text].T
        return np.where(self.annotated("DEP") & (begins <= to) & (to < ends), to, own)

    @cached_property
    def read(self) -> Booleans:
        """Which tokens are read aloud: no blanks, marks or emojis. **Shape:** ``(tokens,)``

        spaCy counts percent signs and owners' apostrophes among punctuation.
        """
        columns = self.columns
        silent = (columns[IS_PUNCT] > 0) & self.kinds["silent"]
        read: Booleans = (columns[IS_SPACE] == 0) & ~silent & ~self.kinds["picture"]
        return read

    @cached_property
    def addresses(self) -> Booleans:
        """Which tokens are addresses or accounts: they name nobody that a reader knows."""
        columns = self.columns
        return (columns[LIKE_URL] > 0) | (columns[LIKE_EMAIL] > 0) | self.kinds["account"]

    def annotated(self, attribute: str) -> Booleans:
        """Of each token, whether its document has an annotation. **Shape:** ``(tokens,)``"""
        found = [unit.doc.has_annotation(attribute) for unit in self.units]
        return np.array(found, dtype=bool)[self.text]

    def tokens(self, stemmer: Stemmer) -> TextTokens:
        """Read the tokens.

        Words with a meaning are no stop words, and longer than a letter, unless the script has
        one-letter words. Sentence boundaries are those that are set; without any, sentences end
        at full stops.
        """
        columns, kinds, text = self.columns, self.kinds, self.text
        keys, alpha, punct = columns[LOWER], columns[IS_ALPHA] > 0, columns[IS_PUNCT] > 0
        blank = columns[SPACY] > 0
        # "won't" is two tokens, of which neither is a word by itself
        joined = alpha & ~blank & (np.diff(text, append=-1) == 0)
        joined[:-1] &= kinds["alphabetic"][1:]
        stop = (columns[IS_STOP] > 0) | joined | _after(joined)
        # between blanks a hyphen is a dash, which parts what a hyphen joins
        apart = kinds["hyphen"] & _after(blank)
        hyphen, glue = kinds["hyphen"] & ~apart, kinds["glue"] & ~apart
        # nothing joins two texts
        firsts = [begin for begin, end in self.bounds if begin < end]
        hyphen[[end - 1 for begin, end in self.bounds if begin < end]] = False
        hyphen[firsts] = glue[firsts] = False
        number, word = kinds["number"], kinds["lettered"] | kinds["number"]
        meaning = word & ~number & ~stop & ~kinds["letter"]
        begins = columns[SENT_START].astype(np.int64) == 1
        begins = np.where(self.annotated("SENT_START"), begins, _after(punct & kinds["stop"]))
        begins[firsts] = True
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
            tags=columns[POS].astype(np.int64),
            plain=~punct & (columns[IS_SPACE] == 0),
            word=word,
            glue=glue,
            hyphen=hyphen,
            content=meaning & alpha,
            meaning=meaning,
            unit=meaning | number,
            stop=stop,
            capital=(columns[IS_LOWER] == 0) & alpha & ~begins,
            entity=columns[ENT_TYPE] > 0,
        )


def _after(flags: Booleans) -> Booleans:
    """Which tokens are after one that has a flag."""
    moved = np.zeros_like(flags)
    moved[1:] = flags[:-1]
    return moved


def word_keys(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys that tokens of these words have."""
    return np.array([get_string_id(word.lower()) for word in words], dtype=np.uint64)


@lru_cache(REMEMBERED)
def form_of(text: str) -> dict[str, bool]:
    """What a token is by its text."""
    lower, glue = text.lower(), text.lower() in GLUE
    signs = "" if text.isascii() else normalize("NFKC", text)  # units get letters
    word = FORMULA.isdisjoint(text) and text.count("(") == text.count(")") and not glue
    return {
        # a word with a letter, or one with a digit
        "lettered": word and any(c.isalpha() for c in text),
        "number": word and any(c.isdigit() for c in text),
        # what joins its neighbours; the name of a variable or point, which is no content
        "glue": glue,
        "hyphen": text in HYPHENS,
        "letter": len(text) == 1 and text.isascii() and text.isalpha(),
        "alphabetic": text[:1].isalpha(),
        "stop": text[-1:] in FULL_STOPS,
        "question": text == "?",
        # an emoji or a part of one, which is no word
        "picture": bool(signs) and all(category(c) in PICTURES for c in signs),
        # the name of an account; what denies; a form of "do"
        "account": text[:1] == "@",
        "negation": lower in NEGATIONS,
        "did": lower in ("do", "does", "did"),
    }


@lru_cache(REMEMBERED)
def relation_of(name: str) -> dict[str, bool]:
    """What a token is to its head by the name of the relation."""
    plain = name.partition(":")[0]
    return {
        "part": plain in PARTS,
        "aside": plain in ASIDE,
        "joining": plain in JOINING,
        "below": plain in BELOW,
        "silent": name in SILENT,
    }


@lru_cache(REMEMBERED)
def features_of(features: str) -> dict[str, bool]:
    """What a token is by its morphological features, as spaCy writes them."""
    return {
        "finite": "VerbForm=Fin" in features and "Mood=Imp" not in features,
        "negative": "Polarity=Neg" in features,
    }
