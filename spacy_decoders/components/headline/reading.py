"""Reading documents into the arrays of the headline models."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Doc, Span

from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens, numbered

__all__ = ["HYPHENS", "MARKS", "NEGATIONS", "Texts", "after"]

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Strings whose kinds are remembered.
REMEMBERED = 1 << 16

#: Words under which a sentence no longer follows from its shorter version.
NEGATIONS = frozenset({
    "not", "n't", "n’t", "nt", "never", "no", "nor", "neither", "none", "nobody", "nothing",
    "nowhere", "without", "few", "fewer", "little", "less", "hardly", "barely", "scarcely",
    "seldom", "rarely", "only", "cannot",
})  # fmt: skip
#: Words that limit what they modify, or say which or how many.
LIMITS = frozenset({
    "more", "least", "most", "almost", "nearly", "some", "many", "several", "half", "all", "both",
    "part", "partly", "mostly", "sometimes", "roughly", "approximately", "virtually", "just",
    "perhaps", "maybe", "possibly", "probably", "likely", "unlikely", "allegedly", "reportedly",
    "apparently", "supposedly", "former", "late", "alleged", "suspected", "accused", "fake",
    "false", "supposed", "potential", "possible", "proposed", "planned", "attempted", "failed",
    "acting", "vice", "non", "impossible", "too", "yet", "over", "up", "about", "around", "last",
    "next", "this", "that", "these", "those", "any", "every", "each", "either", "another",
    "above", "below", "under",
})  # fmt: skip
#: Words that make another verb of the verb before them: "the deal fell *through*".
PARTICLES = frozenset({
    "across", "ahead", "along", "apart", "aside", "away", "back", "behind", "by", "down",
    "forward", "in", "off", "on", "out", "through", "together",
})  # fmt: skip
#: Words that make an exception or a condition of what they mark: "all but two", "if it rains".
EXCEPTIONS = frozenset({
    "but", "except", "excluding", "barring", "if", "unless", "provided", "lest",
})  # fmt: skip
#: Marks that stay with what they set off.
MARKS = frozenset({",", ":", ";", "–", "—", "--", "(", ")"})
#: Words that stay with their heads, whatever the relation.
KEPT = NEGATIONS | LIMITS
#: Marks around quotations.
QUOTE_MARKS = frozenset("\"'“”„‘’‚«»")
#: What may join two words to one.
HYPHENS = frozenset("-–/")
#: What joins a word to the word before or the next, hyphens apart.
GLUE = HYPHENS | frozenset("&+#'’°") | {"'s", "’s", "++"}
#: Characters of formulas, whose tokens are no words.
FORMULA = frozenset("^=<>\\~|")
#: Characters that end a sentence, where no boundaries are set.
FULL_STOPS = frozenset(".!?…。！？।؟")
#: Categories of the characters of emojis, and of what joins and varies these.
PICTURES = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
#: What relations of spaCy's English models are among the universal ones.
UNIVERSAL = {
    "dobj": "obj", "attr": "obj", "dative": "iobj", "nsubjpass": "nsubj", "csubjpass": "csubj",
    "auxpass": "aux", "acomp": "xcomp", "oprd": "xcomp", "prt": "compound", "quantmod": "fixed",
    "prep": "obl", "agent": "obl:agent", "npadvmod": "obl:unmarked", "poss": "nmod:poss",
    "relcl": "acl", "neg": "advmod", "preconj": "cc", "intj": "discourse",
}  # fmt: skip
#: Relations of punctuation that is not read aloud.
SILENT = frozenset({"", "punct", "ROOT"})

#: More than any part of speech is as a number.
_TAGS = max(PARTS_OF_SPEECH.values()) + 1
_ATTRIBUTES = [
    "LOWER", "IS_ALPHA", "IS_STOP", "IS_PUNCT", "IS_SPACE", "IS_LOWER", "ENT_TYPE", "POS",
    "SENT_START", "HEAD", "DEP", "MORPH", "LIKE_URL", "LIKE_EMAIL", "ORTH", "SPACY",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Texts:
    """Some documents or spans of one vocabulary, laid end to end and read at once."""

    #: The documents or spans.
    units: Sequence[Doc | Span]
    #: The attributes of all tokens by their names in spaCy. **Shape of each:** ``(tokens,)``
    columns: dict[str, NDArray[np.uint64]]
    #: Where each unit begins and ends.
    bounds: list[tuple[int, int]]
    #: The number of each token's unit. **Shape:** ``(tokens,)``
    text: Integers

    @classmethod
    def of(cls, units: Sequence[Doc | Span]) -> Texts:
        """Read the attributes of the tokens."""
        given: Any = units  # a span has `to_array` too, which its stub lacks
        ids = [IDS[name] for name in _ATTRIBUTES]
        tables = [unit.to_array(ids).reshape(-1, len(ids)) for unit in given]
        sizes = list(map(len, tables))
        table = np.concatenate([np.zeros((0, len(ids)), dtype=np.uint64), *tables])
        columns = dict(zip(_ATTRIBUTES, np.ascontiguousarray(table.T), strict=True))
        bounds = list(pairwise(np.cumsum([0, *sizes]).tolist()))
        return cls(units, columns, bounds, np.repeat(np.arange(len(sizes)), sizes))

    @cached_property
    def kinds(self) -> dict[str, Booleans]:
        """What the tokens are by their texts and features: each is looked at once.

        **Shape of each:** ``(tokens,)``
        """
        found: dict[str, Booleans] = {}
        different = (form_of, self._forms), (features_of, self._different("MORPH"))
        for of, (names, places) in different:
            bits = np.array([kinds_of(of, name) for name in names], dtype=np.int64)[places]
            found |= {kind: bits & (1 << n) > 0 for n, kind in enumerate(of(""))}
        return found

    @cached_property
    def _forms(self) -> tuple[list[str], Integers]:
        """The different words as they are written, and the place of each token's."""
        return self._different("ORTH")

    @cached_property
    def _relations(self) -> tuple[list[tuple[str, str]], Integers]:
        """The different relations, whole and without what follows a colon; that of each token."""
        names, places = self._different("DEP")
        names = [UNIVERSAL.get(name, name) for name in names]
        return [(name, name.partition(":")[0]) for name in names], places

    def related(self, relations: Set[str]) -> Booleans:
        """Which tokens have one of these relations to their heads. **Shape:** ``(tokens,)``"""
        asked = frozenset(relations)
        if asked not in self._related:
            names, places = self._relations
            self._related[asked] = ~np.array([*map(asked.isdisjoint, names)], dtype=bool)[places]
        return self._related[asked]

    @cached_property
    def _related(self) -> dict[Set[str], Booleans]:
        """What was asked for; the rules of meaning ask for some relations again and again."""
        return {}

    def tagged(self, tags: Set[str]) -> Booleans:
        """Which tokens have one of these parts of speech. **Shape:** ``(tokens,)``"""
        among = np.zeros(_TAGS, dtype=bool)
        among[[*map(PARTS_OF_SPEECH.__getitem__, tags)]] = True
        return among[self.columns["POS"]]

    def _different(self, attribute: str) -> tuple[list[str], Integers]:
        """The different strings of an attribute, and the place of each token's among these."""
        strings: Any = self.units[0].vocab.strings if self.units else {}
        keys = self.columns[attribute]
        places, first, _ = numbered(keys)
        return [strings[key] for key in keys[first].tolist()], places

    @cached_property
    def heads(self) -> Integers:
        """The token that each depends on, itself if there is none. **Shape:** ``(tokens,)``"""
        own = np.arange(len(self.text))
        to = own + self.columns["HEAD"].view(np.int64)
        begins, ends = np.array(self.bounds, dtype=np.int64).reshape(-1, 2)[self.text].T
        return np.where(self.annotated("DEP") & (begins <= to) & (to < ends), to, own)

    @cached_property
    def read(self) -> Booleans:
        """Which tokens are read aloud: no blanks, marks or emojis. **Shape:** ``(tokens,)``

        spaCy counts percent signs and owners' apostrophes among punctuation.
        """
        columns = self.columns
        silent = (columns["IS_PUNCT"] > 0) & self.related(SILENT) & ~self.tagged({"SYM"})
        read: Booleans = (columns["IS_SPACE"] == 0) & ~silent & ~self.kinds["picture"]
        return read

    @cached_property
    def sentences(self) -> Integers:
        """The number of each token's sentence, ascending from 0. **Shape:** ``(tokens,)``

        Boundaries are those that are set; without any, sentences end at full stops.
        """
        begins = self.columns["SENT_START"].astype(np.int64) == 1
        stops = after((self.columns["IS_PUNCT"] > 0) & self.kinds["stop"])
        begins = np.where(self.annotated("SENT_START"), begins, stops)
        begins |= np.diff(self.text, prepend=-1) > 0
        return np.cumsum(begins) - 1

    @cached_property
    def quotations(self) -> list[tuple[int, int]]:
        """The marks around what a sentence quotes, in order; none within others."""
        found: list[tuple[int, int]] = []
        marks = np.flatnonzero(self.kinds["quote"] & ~self.read)
        for own in np.split(marks, np.flatnonzero(np.diff(self.sentences[marks])) + 1):
            found += zip(own[::2].tolist(), own[1::2].tolist(), strict=False)
        return found

    @cached_property
    def addresses(self) -> Booleans:
        """Which tokens are addresses or accounts: they name nobody that a reader knows."""
        columns = self.columns
        return (columns["LIKE_URL"] > 0) | (columns["LIKE_EMAIL"] > 0) | self.kinds["account"]

    def annotated(self, attribute: str) -> Booleans:
        """Of each token, whether its document has an annotation. **Shape:** ``(tokens,)``"""
        found = [unit.doc.has_annotation(attribute) for unit in self.units]
        return np.array(found, dtype=bool)[self.text]

    def tokens(self, stemmer: Stemmer) -> TextTokens:
        """Read the tokens.

        Words with a meaning are no stop words, and longer than a letter, unless the script has
        one-letter words.
        """
        columns, kinds, text = self.columns, self.kinds, self.text
        keys, alpha, punct = columns["LOWER"], columns["IS_ALPHA"] > 0, columns["IS_PUNCT"] > 0
        blank = columns["SPACY"] > 0
        # "won't" is two tokens, of which neither is a word by itself
        joined = alpha & ~blank & (np.diff(text, append=-1) == 0)
        joined[:-1] &= kinds["alphabetic"][1:]
        stop = (columns["IS_STOP"] > 0) | joined | after(joined)
        # between blanks a hyphen is a dash, which parts what a hyphen joins
        apart = kinds["hyphen"] & after(blank)
        hyphen, glue = kinds["hyphen"] & ~apart, kinds["glue"] & ~apart
        begins = np.diff(self.sentences, prepend=-1) > 0
        # nothing joins two texts
        firsts = [begin for begin, end in self.bounds if begin < end]
        hyphen[[end - 1 for begin, end in self.bounds if begin < end]] = False
        hyphen[firsts] = glue[firsts] = False
        number, word = kinds["number"], kinds["lettered"] | kinds["number"]
        meaning = word & ~number & ~stop & ~kinds["letter"]
        words, places = self._forms
        stems = stemmer.keys(map(str.lower, words))[places]
        return TextTokens(
            text=text,
            sentences=self.sentences,
            keys=keys,
            stems=np.where(meaning, stems, keys),
            tags=columns["POS"].astype(np.int64),
            plain=~punct & (columns["IS_SPACE"] == 0),
            word=word,
            glue=glue,
            hyphen=hyphen,
            content=meaning & alpha,
            meaning=meaning,
            unit=meaning | number,
            stop=stop,
            capital=(columns["IS_LOWER"] == 0) & alpha & ~begins,
            entity=columns["ENT_TYPE"] > 0,
        )


def after(flags: Booleans) -> Booleans:
    """Which tokens are after one that has a flag."""
    moved = np.zeros_like(flags)
    moved[1:] = flags[:-1]
    return moved


def form_of(text: str) -> dict[str, bool]:
    """What a token is by its text."""
    lower, glue = text.lower(), text.lower() in GLUE
    signs = "" if text.isascii() or text == "°" else normalize("NFKC", text)  # "℃" gets letters
    word = FORMULA.isdisjoint(text) and text.count("(") == text.count(")") and not glue
    return {
        # a word with a letter, or one with a digit
        "lettered": word and any(c.isalpha() for c in text),
        "number": word and any(c.isdigit() for c in text),
        # what joins its neighbours; the name of a variable or point, which is no content
        "glue": glue,
        "hyphen": text in HYPHENS,
        "degree": text == "°",
        "letter": len(text) == 1 and text.isascii() and text.isalpha(),
        "alphabetic": text[:1].isalpha(),
        "title": text[:1].isupper(),
        "stop": text[-1:] in FULL_STOPS,
        "question": text == "?",
        "mark": text in MARKS,
        "quote": text in QUOTE_MARKS,
        # an emoji or a part of one, which is no word
        "picture": bool(signs) and all(category(c) in PICTURES for c in signs),
        # the name of an account; what denies, excepts or stays; a form of "do"
        "account": text[:1] == "@",
        "negation": lower in NEGATIONS,
        "exception": lower in EXCEPTIONS,
        "kept": lower in KEPT,
        "particle": lower in PARTICLES,
        "did": lower in ("do", "does", "did"),
    }


def features_of(features: str) -> dict[str, bool]:
    """What a token is by its morphological features, as spaCy writes them."""
    return {
        "finite": "VerbForm=Fin" in features and "Mood=Imp" not in features,
        "negative": "Polarity=Neg" in features,
        # pronouns that ask or begin a relative clause; superlatives and ordinals
        "asking": "PronType=Int" in features or "PronType=Rel" in features,
        "ranking": "Degree=Sup" in features or "NumType=Ord" in features,
    }


@lru_cache(REMEMBERED)
def kinds_of(of: Callable[[str], dict[str, bool]], text: str) -> int:
    """The kinds of a text or of features, as the bits of a number."""
    return sum(flag << number for number, flag in enumerate(of(text).values()))
