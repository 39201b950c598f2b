"""Reading a Doc into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Sequence
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
    LIKE_URL,
    LOWER,
    MORPH,
    POS,
    PREFIX,
    SENT_START,
    SPACY,
)
from spacy.parts_of_speech import IDS
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from ...models.headline.phrases import Traits
from ...models.headline.stems import Stemmer
from ...models.headline.words import Words

__all__ = [
    "among",
    "has_blanks",
    "letter_counts",
    "read_traits",
    "read_words",
    "whole_occurrences",
    "word_keys",
]

#: A text with fewer blanks than this share of its tokens is in a language that has none.
BLANKS = 0.2

_ATTRIBUTES = [
    LOWER, IS_ALPHA, IS_STOP, IS_PUNCT, IS_SPACE, IS_LOWER, LENGTH, ENT_TYPE, POS, SENT_START,
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
_GLUE = _HYPHENS | frozenset("—&+#'’") | {"'s", "’s", "++", "--"}
#: Characters of formulas, whose tokens are no words.
_FORMULA = frozenset("^=<>\\~|")
#: Words whose traits are kept before the cache is emptied.
_CACHE_SIZE = 20_000
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
    if len(single):
        content[single[among(keys[single], _LETTERS)]] = False
    if doc.has_annotation("SENT_START"):
        begins = starts.astype(np.int64) == 1
    else:
        begins = _after_full_stops(unit, punct)
    begins[:1] = True
    stems = keys.copy()
    stems[content] = stemmer.keys(keys[content].tolist(), doc.vocab.strings)
    return Words(
        keys,
        stems,
        content,
        (punct == 0) & (space == 0),
        np.cumsum(begins) - 1,
        (small == 0) & (alpha > 0) & ~begins,
        entity > 0,
        _KINDS[pos.astype(np.intp)],
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
        Keys of function words that titles begin with, ascending.
    """
    doc = unit if isinstance(unit, Doc) else unit.doc
    given: Any = unit
    count = len(words.keys)
    table = given.to_array([IS_STOP, POS, HEAD]) if count else np.zeros((0, 3), dtype=np.uint64)
    kinds, joins, named = _traits(words.keys, doc.vocab.strings)
    stop = table[:, 0] > 0
    word, number = kinds > 0, kinds == 2
    meaning = words.content | (named & (kinds == 1) & ~stop)
    own = np.arange(count)
    heads = np.clip(own + table[:, 2].view(np.int64), 0, max(0, count - 1))
    parsed = doc.has_annotation("DEP")
    return Traits(
        word,
        kinds < 0,
        joins,
        meaning | number,
        meaning,
        word & ~stop,
        word & among(words.keys, openers),
        among(words.keys, np.sort(auxiliaries)),
        stop,
        table[:, 1].astype(np.int64),
        heads if parsed else own,
        parsed,
    )


#: What is known of words that were read, by their keys: kind, whether it is a hyphen, and a name.
_known: dict[int, tuple[int, bool, bool]] = {}


def _traits(
    keys: NDArray[np.uint64], strings: Any
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.bool_]]:
    """The kind of each word, whether it joins its neighbours, whether it has other signs."""
    if len(_known) >= _CACHE_SIZE:
        _known.clear()
    rows = []
    for key in keys.tolist():
        row = _known.get(key)
        if row is None:
            text = strings[key]
            row = (_kind(text), text in _HYPHENS, not text.isalpha() and len(text) > 1)
            _known[key] = row
        rows.append(row)
    table = np.array(rows, dtype=np.int8).reshape(-1, 3)
    return table[:, 0], table[:, 1] > 0, table[:, 2] > 0


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


def among(keys: NDArray[np.uint64], ascending: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each key is among some that are in order."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=bool)
    place = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[place] == keys)


def has_blanks(unit: Doc | Span) -> bool:
    """Whether the text is in a language with blanks between words."""
    given: Any = unit
    return len(unit) < 2 or int(given.to_array([SPACY]).sum()) >= BLANKS * len(unit)


def letter_counts(
    unit: Doc | Span, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The characters of the tokens of each span of a text. **Shape:** ``(n,)``"""
    given: Any = unit
    sums = np.concatenate([[0], np.cumsum(given.to_array([LENGTH]).astype(np.int64))])
    return np.asarray(sums[ends] - sums[starts])


def whole_occurrences(
    unit: Doc | Span, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which occurrences of phrases can stand by themselves.

    They have the head of each part of a noun compound and the object of each verb that they end
    with, don't begin with a finite verb that is no imperative or within a name, have neither
    addresses nor names of accounts, and don't end within what is written as one word, or begin
    with a part of such a one, as "gonna" has.
    """
    given: Any = unit
    count, strings = len(unit), unit.vocab.strings
    table = given.to_array([DEP, HEAD, MORPH, POS, LIKE_URL, LIKE_EMAIL, PREFIX]).reshape(count, 7)
    heads = table[:, 1].astype(np.int64)
    needs = np.array(_needed_after(table[:, 0].tolist(), heads.tolist(), strings))
    kinds = np.array([_verb(morph, strings) for morph in table[:, 2].tolist()])
    # a participle that the sentence begins with has lost its subject and its auxiliary
    bad = (kinds == _FINITE) | ((kinds == _PAST) & (heads == 0) & _is_parsed(unit))
    name = table[:, 3] == IDS["PROPN"]
    bad[1:] |= name[1:] & name[:-1] & ((heads[1:] == -1) | (heads[:-1] == 1))
    cut = _cuts(unit)
    bad |= cut[:-1] | cut[1:]
    address = (table[:, 4] > 0) | (table[:, 5] > 0) | (table[:, 6] == _ACCOUNT)
    before = np.concatenate([[0], np.cumsum(address)])
    good = (needs[ends - 1] < ends) & ~bad[starts] & ~cut[ends]
    return np.asarray(good & (before[ends] == before[starts]))


def _is_parsed(unit: Doc | Span) -> bool:
    return (unit if isinstance(unit, Doc) else unit.doc).has_annotation("DEP")


def _needed_after(relations: list[int], offsets: list[int], strings: Any) -> list[int]:
    """The place of the word after each token that a phrase cannot end without, or -1."""
    needs = [-1] * len(relations)
    for place, (key, offset) in enumerate(zip(relations, offsets, strict=True)):
        relation = _relations.get(key)
        if relation is None:
            name = strings[key].partition(":")[0]
            relation = _relations[key] = (name in _PARTS, name in _OBJECTS)
        head = place + offset
        if relation[0] and place < head < len(needs):
            needs[place] = max(needs[place], head)
        if relation[1] and 0 <= head < place:
            needs[head] = max(needs[head], place)
    return needs


def _verb(morph: int, strings: Any) -> int:
    """Whether features are those of a finite verb that is no imperative, or a past participle."""
    found = _verbs.get(morph)
    if found is None:
        features = strings[morph].split("|")
        finite = "VerbForm=Fin" in features and "Mood=Imp" not in features
        past = "VerbForm=Part" in features and "Tense=Past" in features
        found = _verbs[morph] = _FINITE if finite else _PAST if past else 0
    return found


def _cuts(unit: Doc | Span) -> NDArray[np.bool_]:
    """Before which tokens a word is cut; the last entry is the end."""
    given: Any = unit
    cut = np.zeros(len(unit) + 1, dtype=bool)
    if has_blanks(unit):
        for place in np.flatnonzero(given.to_array([SPACY])[:-1] == 0).tolist():
            left, right = unit[place].text, unit[place + 1].text
            cut[place + 1] = left[-1].isalpha() and right[0].isalpha()
    return cut


#: Relations to a head after the word, without which it can't end a phrase, and to one before
#: it that can't end one without the word.
_PARTS = frozenset({"compound", "flat", "goeswith"})
_OBJECTS = frozenset({"flat", "goeswith", "obj", "dobj", "ccomp"})
#: What is known of labels and features that were read, by their keys.
_relations: dict[int, tuple[bool, bool]] = {}
_verbs: dict[int, int] = {}
#: Kinds of verbs.
_FINITE, _PAST = 1, 2
#: How names of accounts begin.
_ACCOUNT = np.uint64(get_string_id("@"))
