"""Reading a Doc into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

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
    ORTH,
    POS,
    PREFIX,
    SENT_START,
    SPACY,
)
from spacy.parts_of_speech import IDS
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from ...models.headline.phrases import Phrases, Traits
from ...models.headline.stems import Stemmer
from ...models.headline.words import Words

__all__ = [
    "among",
    "PhraseEdges",
    "Texts",
    "read_traits",
    "read_words",
    "whole_occurrences",
    "word_keys",
]

#: A text with fewer blanks than this share of its tokens is in a language that has none.
BLANKS = 0.2

_ATTRIBUTES = [
    LOWER, IS_ALPHA, IS_STOP, IS_PUNCT, IS_SPACE, IS_LOWER, LENGTH, ENT_TYPE, POS, SENT_START,
    HEAD, DEP, MORPH, LIKE_URL, LIKE_EMAIL, PREFIX, ORTH, SPACY,
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


@dataclass(frozen=True, eq=False)
class Texts:
    """Some documents or spans of one vocabulary, laid end to end and read at once.

    Attributes
    ----------
    units
        The documents or spans.
    columns
        The attributes of all tokens. **Shape:** ``(attributes, tokens)``
    bounds
        Where each unit begins and ends.
    """

    units: Sequence[Doc | Span]
    columns: NDArray[np.uint64]
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
        """Read what phrases need beside the words; see :func:`read_traits`."""
        keys, (distinct, places) = self[LOWER], self.lowered
        kinds, joins, named = (of[places] for of in _traits(distinct, self.strings))
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

    def edges(self) -> list[PhraseEdges]:
        """Read which phrases can stand by themselves."""
        strings, heads = self.strings, self[HEAD].astype(np.int64)
        count, first = len(heads), np.zeros(len(heads) + 1, dtype=bool)
        first[[begin for begin, _ in self.bounds]] = True
        own, ends = (
            np.arange(count),
            np.repeat([end for _, end in self.bounds], [b - a for a, b in self.bounds]),
        )
        relations, places = np.unique(self[DEP], return_inverse=True)
        part, of_object, of_clause = _relations_of(relations, strings)[places.reshape(-1)].T
        to, needs = own + heads, np.full(count, -1)
        later = np.flatnonzero(part & (to > own) & (to < ends))
        needs[later] = to[later]
        earlier = np.flatnonzero(of_object & (to >= self.begins) & (to < own))
        np.maximum.at(needs, to[earlier], earlier)
        features, places = np.unique(self[MORPH], return_inverse=True)
        verbs = np.array([_verb(morph, strings) for morph in features.tolist()], dtype=np.int64)
        kinds = verbs[places.reshape(-1)]
        # a participle that a phrase begins with has lost its subject and its auxiliary, and
        # what is negated before the phrase begins would say the contrary
        bad = (kinds == _FINITE) | ((kinds == _PAST) & (heads == 0) & self.parsed)
        before, left = (to > own) & (to < ends), np.zeros(count, dtype=bool)
        left[to[of_clause & before]] = True
        bad |= ((kinds == _PAST) | (kinds == _PRESENT)) & left
        bad[to[(kinds == _NOT) & before]] = True
        name = self[POS] == IDS["PROPN"]
        within = name[1:] & name[:-1] & ((heads[1:] == -1) | (heads[:-1] == 1))
        bad[1:] |= within & ~first[1:-1]
        blanks, cut = self._cuts(first)
        bad |= cut[:-1] | cut[1:]
        address = (self[LIKE_URL] > 0) | (self[LIKE_EMAIL] > 0) | (self[PREFIX] == _ACCOUNT)
        opens = first[:-1] | (self[SENT_START].astype(np.int64) == 1)
        opens[1:] |= address[:-1] | (self[IS_SPACE][:-1] > 0)
        address[:-1] |= opens[:-1] & (self[ORTH][1:] == _COLON) & ~first[1:-1]
        addresses = np.concatenate([[0], np.cumsum(address)])
        letters = np.concatenate([[0], np.cumsum(self[LENGTH].astype(np.int64))])
        return [
            PhraseEdges(
                needs[begin:end] - begin,
                bad[begin:end],
                cut[begin : end + 1],
                addresses[begin : end + 1],
                letters[begin : end + 1],
                blank,
            )
            for (begin, end), blank in zip(self.bounds, blanks, strict=True)
        ]

    def _cuts(self, first: NDArray[np.bool_]) -> tuple[list[bool], NDArray[np.bool_]]:
        """Which units have blanks between words, and before which tokens a word is cut."""
        spaced = np.concatenate([[0], np.cumsum(self[SPACY] > 0)])
        blanks = [
            end - begin < 2 or bool(spaced[end] - spaced[begin] >= BLANKS * (end - begin))
            for begin, end in self.bounds
        ]
        near = np.repeat(blanks, [b - a for a, b in self.bounds])
        left = np.flatnonzero((self[SPACY] == 0) & near & ~first[1:])
        left = left[left + 1 < len(near)]
        cut = np.zeros(len(near) + 1, dtype=bool)
        words, places = np.unique(
            self[ORTH][np.concatenate([left, left + 1])], return_inverse=True
        )
        texts = [self.strings[word] for word in words.tolist()]
        begin, end = (
            np.array([bool(text) and text[at].isalpha() for text in texts], dtype=bool)
            for at in (0, -1)
        )
        before, after = places.reshape(2, -1)
        cut[left + 1] = end[before] & begin[after]
        return blanks, cut


class PhraseEdges(NamedTuple):
    """Where phrases of a text can begin and end.

    Attributes
    ----------
    needs
        The place of the word after each token that a phrase cannot end without, or less than 0.
        **Shape:** ``(tokens,)``
    bad
        Which tokens no phrase begins with. **Shape:** ``(tokens,)``
    cut
        Before which tokens a word is cut. **Shape:** ``(tokens + 1,)``
    addresses, letters
        Before each token, the number of addresses and labels, and of characters in tokens, from
        any one on. **Shape:** ``(tokens + 1,)``
    blanks
        Whether the text is in a language with blanks between words.
    """

    needs: NDArray[np.int64]
    bad: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    addresses: NDArray[np.int64]
    letters: NDArray[np.int64]
    blanks: bool

    def allow(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which occurrences of phrases can stand by themselves.

        They have the head of each part of a noun compound and the object of each verb that they
        end with, don't begin with a finite verb that is no imperative, with a participle whose
        subject or auxiliary stands before it, with what is negated before it, or within a name,
        have neither addresses, names of accounts nor labels such as "Email:", and don't end
        within what is written as one word, or begin with a part of such a one, as "gonna" has.
        """
        good = (self.needs[ends - 1] < ends) & ~self.bad[starts] & ~self.cut[ends]
        return np.asarray(good & (self.addresses[ends] == self.addresses[starts]))

    def candidates(self, phrases: Phrases) -> NDArray[np.int64]:
        """The phrases that headlines may have: with no stem twice, and able to stand if any is."""
        fresh = ~phrases.occurrences.repeats
        whole = np.zeros(len(phrases), dtype=bool)
        places = self.allow(phrases.starts, phrases.ends)
        whole[phrases.occurrences.phrase[places]] = True
        left = np.flatnonzero(fresh & whole)
        return left if len(left) else np.flatnonzero(fresh)


def read_words(unit: Doc | Span, stemmer: Stemmer) -> Words:
    """Read the words of a document or a span; see :meth:`Texts.words`."""
    return Texts.of([unit]).words(stemmer)[0]


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
    return Texts.of([unit]).traits(words.content, auxiliaries, openers)[0]


def whole_occurrences(
    unit: Doc | Span, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which occurrences of phrases can stand by themselves; see :meth:`PhraseEdges.allow`."""
    return Texts.of([unit]).edges()[0].allow(starts, ends)


def _doc(unit: Doc | Span) -> Doc:
    return unit if isinstance(unit, Doc) else unit.doc


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


def _relations_of(keys: NDArray[np.uint64], strings: Any) -> NDArray[np.bool_]:
    """Whether relations are those of parts, of objects, of clauses. **Shape:** ``(n, 3)``"""
    names = [strings[key].partition(":")[0] for key in keys.tolist()]
    kinds = (_PARTS, _OBJECTS, _CLAUSES)
    return np.array([[name in kind for kind in kinds] for name in names], bool).reshape(-1, 3)


def _verb(morph: int, strings: Any) -> int:
    """Whether features are those of a finite verb that is no imperative, a participle, or not."""
    found = _verbs.get(morph)
    if found is None:
        features = strings[morph].split("|")
        finite = "VerbForm=Fin" in features and "Mood=Imp" not in features
        past = "VerbForm=Part" in features and "Tense=Past" in features
        present = "VerbForm=Ger" in features or "VerbForm=Part" in features
        kind = _FINITE if finite else _PAST if past else _PRESENT * present
        found = _verbs[morph] = _NOT if "Polarity=Neg" in features else kind
    return found


#: Relations to a head after the word, without which it can't end a phrase, and to one before
#: it that can't end one without the word.
_PARTS = frozenset({"compound", "flat", "goeswith"})
_OBJECTS = frozenset({"flat", "goeswith", "obj", "dobj", "ccomp"})
#: Relations of what a verb has in a clause, and lacks in a phrase that it begins.
_CLAUSES = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl", "aux", "auxpass"})
#: What is known of features that were read, by their keys.
_verbs: dict[int, int] = {}
#: Kinds of verbs, and negations.
_FINITE, _PAST, _PRESENT, _NOT = 1, 2, 3, 4
#: How names of accounts begin.
_ACCOUNT = np.uint64(get_string_id("@"))
#: What follows a label.
_COLON = np.uint64(get_string_id(":"))
