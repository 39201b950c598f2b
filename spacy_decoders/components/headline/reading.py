"""Reading a Doc into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    ENT_TYPE,
    HEAD,
    IS_ALPHA,
    IS_LOWER,
    IS_PUNCT,
    IS_SPACE,
    IS_STOP,
    LENGTH,
    LOWER,
    POS,
    SENT_START,
)
from spacy.parts_of_speech import IDS
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from ...models.headline.phrases import Traits
from ...models.headline.stems import Stemmer
from ...models.headline.words import Words

__all__ = ["needed_after", "read_traits", "read_words", "word_keys"]

_ATTRIBUTES = [
    LOWER, IS_ALPHA, IS_STOP, IS_PUNCT, IS_SPACE, IS_LOWER, LENGTH, ENT_TYPE, POS, SENT_START,
]  # fmt: skip
_KINDS = {IDS["NOUN"]: 1, IDS["PROPN"]: 2, IDS["VERB"]: 3, IDS["ADJ"]: 4}
#: Single letters of the Latin script: names of variables and points, no content.
_LETTERS = np.array([get_string_id(c) for c in "abcdefghijklmnopqrstuvwxyz"], dtype=np.uint64)
#: Tokens that join their neighbours into one word, and those that are part of the word before.
_HYPHENS = frozenset("-–/")
_GLUE = _HYPHENS | frozenset("—&+#'’") | {"'s", "’s", "++", "--"}
#: Characters of formulas, whose tokens are no words.
_FORMULA = frozenset("^=<>\\~|")
#: Characters that end a sentence, where no boundaries are set.
_FULL_STOPS = frozenset(".!?…。！？।؟")


def read_words(unit: Doc | Span, stemmer: Stemmer) -> Words:
    """Read a document or a span.

    Content words are alphabetic, not stop words, and longer than a letter, unless the script has
    one-letter words. Sentence boundaries are those that are set; without any, sentences end at
    full stops.
    """
    doc = unit if isinstance(unit, Doc) else unit.doc
    given: Any = unit  # a span has `to_array` too, which its stub lacks
    table = given.to_array(_ATTRIBUTES)
    if not len(table):
        table = np.zeros((0, len(_ATTRIBUTES)), dtype=np.uint64)
    lower, alpha, stop, punct, space, small, length, entity, pos, starts = table.T
    keys = np.ascontiguousarray(lower)
    content = (alpha > 0) & (stop == 0)
    single = np.flatnonzero(content & (length == 1))
    content[single[np.isin(keys[single], _LETTERS)]] = False
    if doc.has_annotation("SENT_START"):
        begins = starts.astype(np.int64) == 1
    else:
        begins = _after_full_stops(unit, punct)
    begins[:1] = True
    kinds = np.zeros(len(keys), dtype=np.int8)
    for tag, kind in _KINDS.items():
        kinds[pos == tag] = kind
    return Words(
        keys,
        _stem_keys(keys, content, doc.vocab.strings, stemmer),
        content,
        (punct == 0) & (space == 0),
        np.cumsum(begins) - 1,
        (small == 0) & (alpha > 0) & ~begins,
        entity > 0,
        kinds,
    )


def read_traits(
    unit: Doc | Span,
    words: Words,
    auxiliaries: NDArray[np.uint64],
    openers: NDArray[np.uint64],
) -> Traits:
    """Read what phrases need beside the words.

    Parameters
    ----------
    unit, words
        The text, and what `read_words` made of it.
    auxiliaries
        Keys of prepositions and articles.
    openers
        Keys of function words that titles begin with.
    """
    doc = unit if isinstance(unit, Doc) else unit.doc
    given: Any = unit
    count = len(words.keys)
    table = given.to_array([IS_STOP, POS, HEAD]) if count else np.zeros((0, 3), dtype=np.uint64)
    keys, places = np.unique(words.keys, return_inverse=True)
    texts = [doc.vocab.strings[key] for key in keys.tolist()]
    kinds = np.array([_kind(text) for text in texts], dtype=np.int8)[places.reshape(-1)]
    stop = table[:, 0] > 0
    word, number = kinds > 0, kinds == 2
    names = np.array([not text.isalpha() and len(text) > 1 for text in texts], dtype=bool)
    meaning = words.content | (names[places.reshape(-1)] & (kinds == 1) & ~stop)
    own = np.arange(count)
    heads = np.clip(own + table[:, 2].view(np.int64), 0, max(0, count - 1))
    parsed = doc.has_annotation("DEP")
    hyphens = np.array([text in _HYPHENS for text in texts], dtype=bool)[places.reshape(-1)]
    return Traits(
        word,
        kinds < 0,
        hyphens,
        meaning | number,
        meaning,
        word & ~stop,
        word & np.isin(words.keys, openers),
        np.isin(words.keys, auxiliaries),
        stop,
        table[:, 1].astype(np.int64),
        heads if parsed else own,
        parsed,
    )


def _kind(text: str) -> int:
    """-1 for what joins words, 0 for punctuation, 1 for words, 2 for those with a digit."""
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


def _stem_keys(
    keys: NDArray[np.uint64],
    content: NDArray[np.bool_],
    strings: Any,
    stemmer: Stemmer,
) -> NDArray[np.uint64]:
    """The stems of the content words as keys, each different word stemmed once."""
    stems = keys.copy()
    different, inverse = np.unique(keys[content], return_inverse=True)
    words = [strings[key] for key in different.tolist()]
    of_word = [get_string_id(stem) for stem in stemmer.stems(words)]
    stems[content] = np.array(of_word, dtype=np.uint64)[inverse.reshape(-1)]
    return stems


def needed_after(unit: Doc | Span) -> NDArray[np.int64]:
    """The place of the word after each token that a phrase cannot end without, or -1.

    It is the head of a part of a noun compound, and the object of a verb; nothing without a parse.
    **Shape:** ``(tokens,)``
    """
    tokens = list(unit)
    needs = np.full(len(tokens), -1, dtype=np.int64)
    for place, token in enumerate(tokens):
        head = token.head.i - token.i + place
        relation = token.dep_.partition(":")[0]
        if relation in ("compound", "flat", "goeswith") and place < head:
            needs[place] = max(needs[place], head)
        if relation in ("flat", "goeswith", "obj", "dobj", "ccomp") and 0 <= head < place:
            needs[head] = max(needs[head], place)
    return np.where(needs < len(tokens), needs, -1)
