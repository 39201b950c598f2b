"""Reading documents into the arrays that the headline models take."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import accumulate, groupby, pairwise
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.tokens import Doc, Span

from ...arrays import Booleans, Integers
from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens, numbered

__all__ = ["HYPHENS", "MARKS", "NEGATIONS", "Texts", "after"]


#: The number of strings whose kinds are cached.
REMEMBERED = 1 << 16
#: Characters of the longest token that is a word: beyond are keys, hashes and encoded files.
LONGEST_WORD = 100

#: Words that negate: without one, a sentence may say the opposite.
NEGATIONS = frozenset({
    "not", "n't", "n’t", "nt", "never", "no", "nor", "neither", "none", "nobody", "nothing",
    "nowhere", "without", "few", "fewer", "little", "less", "hardly", "barely", "scarcely",
    "seldom", "rarely", "only", "cannot",
})  # fmt: skip
#: Words that weaken a claim, or say how much, beside those that restrict the word next to them.
LIMITS = frozenset({
    "all", "both", "half", "more", "most", "least", "about", "roughly", "approximately", "almost",
    "nearly", "virtually", "mostly", "partly", "sometimes", "just", "too", "yet", "perhaps",
    "maybe", "possibly", "probably", "likely", "unlikely", "allegedly", "reportedly",
    "apparently", "supposedly",
})  # fmt: skip
#: Words that introduce exceptions or conditions: "all *but* two", "*if* it rains".
EXCEPTIONS = frozenset({
    "but", "except", "excluding", "barring", "if", "unless", "provided", "lest",
})  # fmt: skip
#: Marks that stay with what they set off.
MARKS = frozenset({",", ":", ";", "–", "—", "--", *"()[]"})
#: Words that stay with their heads, whatever their relation.
KEPT = NEGATIONS | LIMITS
#: Numbers and letters of the items of lists: before a mark, and with a full stop.
ITEM, DOTTED = re.compile(r"[a-zA-Z]|\d\d?|[ivx]+|[IVX]+"), re.compile(r"([a-z]|[ivx]+)\.")
#: Marks around quotations.
QUOTE_MARKS = frozenset("\"'“”„‘’‚«»")
#: Characters that may join two words into one.
HYPHENS = frozenset("-–/")
#: Tokens that join a word to the one before or after it, beside hyphens.
GLUE = HYPHENS | frozenset("&+#'’°") | {"'s", "’s", "++"}
#: Signs that compare what is beside them, or lead from one to the other: "File > Print".
COMPARING = frozenset({"<", ">", "=", "<=", ">=", "!=", "≤", "≥", "≠"})
#: Characters of formulas, whose tokens are no words.
FORMULA = frozenset("^=<>\\~|")
#: Characters that end a sentence where no boundaries are set.
FULL_STOPS = frozenset(".!?…。！？।؟")
#: Unicode categories of emojis, and of their joiners and modifiers.
PICTURES = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
#: The universal relations that those of spaCy's English models correspond to.
UNIVERSAL = {
    "dobj": "obj", "attr": "obj", "dative": "iobj", "nsubjpass": "nsubj", "csubjpass": "csubj",
    "auxpass": "aux", "acomp": "xcomp", "oprd": "xcomp", "prt": "compound", "quantmod": "fixed",
    "prep": "obl", "agent": "obl:agent", "npadvmod": "obl:unmarked", "poss": "nmod:poss",
    "relcl": "acl", "neg": "advmod", "preconj": "cc", "intj": "discourse",
}  # fmt: skip
#: Parts of speech of nouns, including unknown ones.
NOUNS = frozenset({"NOUN", "PROPN", "X", ""})
#: Relations of punctuation that is not read aloud.
SILENT = frozenset({"", "punct", "ROOT"})
#: Kinds of tokens by their relations to their heads, whole or before a colon.
RELATIONS: dict[str, Set[str]] = {
    **{name: {name} for name in (
        "nsubj", "cop", "aux", "case", "det", "amod", "nmod", "obl", "advmod", "acl", "advcl",
        "conj",
    )},
    "silent": SILENT,
    # what makes a clause of a noun its content; what keeps its conjuncts
    "subordinate": {"mark"},
    "bound": {"nsubj", "compound", "case"},
    # dependents without which a head is incomplete: arguments, auxiliaries and copulas, parts of
    # a name or verb, and words that mark the head's own role
    "required": {
        "nsubj", "csubj", "obj", "iobj", "cop", "aux", "xcomp", "ccomp", "expl", "case", "mark",
        "pobj", "pcomp", "fixed", "flat", "compound", "goeswith", "nummod", "nmod:poss",
        "obl:agent",
    },
    # parts of a name or word; what is beside the sentence proper; what links a phrase to others
    "part": {"compound", "flat", "goeswith"},
    "aside": {"discourse", "vocative"},
    "joining": {"case", "cc"},
    "joint": {"cc"},
    # dependents outside the scope of a negation of their head
    "outside": {
        "conj", "cc", "parataxis", "appos", "discourse", "vocative", "det", "punct", "dep",
    },
    # dependents of a predicate that it may negate; subjects of a clause; objects and other
    # dependents that make a verb complete
    "argument": {
        "nsubj", "csubj", "obj", "iobj", "obl", "nmod", "pobj", "advmod", "nummod", "det", "amod",
    },
    "about": {"nsubj", "csubj", "expl"},
    # clauses that a sentence judges: "it is illegal *to sell it to children*"
    "judged": {"csubj"},
    # measures without a preposition: "twice *a day*"
    "unmarked": {"obl:unmarked", "nmod:unmarked"},
    # dependents that a comma sets off from what they continue, and from what they precede
    "listed": {"appos", "conj", "parataxis"},
    "front": {"advcl", "ccomp", "parataxis", "obl", "advmod", "discourse", "vocative"},
}  # fmt: skip
#: The attributes read of each token; those of `_FLAGS` only as zero or not.
_FLAGS = [
    "IS_ALPHA", "IS_STOP", "IS_PUNCT", "IS_SPACE", "IS_LOWER", "LIKE_URL", "LIKE_EMAIL", "SPACY",
    "ENT_TYPE",
]  # fmt: skip
_ATTRIBUTES = [*_FLAGS, "LOWER", "ORTH", "POS", "MORPH", "HEAD", "DEP", "SENT_START"]
_IDS = [IDS[name] for name in _ATTRIBUTES]


@dataclass(frozen=True, eq=False)
class Texts:
    """Several documents or spans of one vocabulary, end to end in arrays."""

    #: The documents or spans.
    units: Sequence[Doc | Span]
    #: The attributes of all tokens, by spaCy's names. **Shape of each:** ``(tokens,)``
    columns: dict[str, NDArray[np.uint64]]
    #: Where each unit begins and ends.
    bounds: list[tuple[int, int]]
    #: The number of each token's unit. **Shape:** ``(tokens,)``
    text: Integers

    @classmethod
    def of(cls, units: Sequence[Doc | Span]) -> Texts:
        """Read the attributes of the tokens."""
        given: Any = units  # a span has `to_array` too, which its stub lacks
        tables = [unit.to_array(_IDS).reshape(-1, len(_IDS)) for unit in given]
        sizes = list(map(len, tables))
        table = np.concatenate([np.zeros((0, len(_IDS)), dtype=np.uint64), *tables])
        columns = dict(zip(_ATTRIBUTES, np.ascontiguousarray(table.T), strict=True))
        bounds = list(pairwise(accumulate(sizes, initial=0)))
        return cls(units, columns, bounds, np.arange(len(sizes)).repeat(sizes))

    @cached_property
    def kinds(self) -> dict[str, Booleans]:
        """The kinds of tokens, computed once for each distinct form, relation and so on.

        **Shape of each:** ``(tokens,)``
        """
        flags = np.array([self.columns[name] for name in _FLAGS]) > 0
        found: dict[str, Booleans] = dict(zip(_FLAGS, flags, strict=True))
        for of, (names, places) in (
            (form_of, self._forms),
            (features_of, self._different("MORPH")),
            (relation_of, self._different("DEP")),
            (tag_of, self._different("POS")),
        ):
            kinds = names_of(of)
            table = np.frombuffer(b"".join([kinds_of(of, name) for name in names]), dtype=bool)
            found |= zip(kinds, table.reshape(-1, len(kinds)).T[:, places], strict=True)
        return found

    @cached_property
    def _forms(self) -> tuple[list[str], Integers]:
        """The distinct words, and the index of each token's."""
        return self._different("ORTH")

    @cached_property
    def words(self) -> list[str]:
        """The text of each token."""
        words, places = self._forms
        return [*map(words.__getitem__, places.tolist())]

    def _different(self, attribute: str) -> tuple[list[str], Integers]:
        """The distinct strings of an attribute, and the index of each token's."""
        strings: Any = self.units[0].vocab.strings if self.units else {}
        keys = self.columns[attribute]
        places, first, _ = numbered(keys)
        return [strings[key] for key in keys[first].tolist()], places

    @cached_property
    def parsed(self) -> Booleans:
        """Whether each token's document is parsed. **Shape:** ``(tokens,)``"""
        return self._annotated("DEP")

    @cached_property
    def heads(self) -> Integers:
        """The head of each token, itself if it has none. **Shape:** ``(tokens,)``"""
        own = np.arange(len(self.text))
        to = own + self.columns["HEAD"].view(np.int64)
        begins, ends = np.array(self.bounds, dtype=np.int64).reshape(-1, 2).T[:, self.text]
        return np.where(self.parsed & (begins <= to) & (to < ends), to, own)

    @cached_property
    def read(self) -> Booleans:
        """Which tokens are read aloud: no blanks, marks or emojis. **Shape:** ``(tokens,)``

        Percent signs and possessive apostrophes are, though spaCy counts them as punctuation.
        """
        kinds = self.kinds
        silent = kinds["IS_PUNCT"] & kinds["silent"] & ~kinds["SYM"]
        return ~(silent | kinds["IS_SPACE"] | kinds["picture"] | self.items)

    @cached_property
    def items(self) -> Booleans:
        """Which tokens number items: "*a*) Flour", "(*iv*) Rent". **Shape:** ``(tokens,)``"""
        kinds = self.kinds
        first = self.begins | after(self.begins & kinds["IS_PUNCT"])
        marked = after((kinds["listing"] & ~self.begins)[::-1])[::-1]
        return first & (kinds["dotted"] | (kinds["item"] & marked))

    @cached_property
    def begins(self) -> Booleans:
        """Which tokens begin a sentence. **Shape:** ``(tokens,)``

        Boundaries are those that are set; without any, sentences end at full stops. Another begins
        with a capitalised pronoun or determiner after an abbreviation: "in the U.S. *It* ...".
        """
        kinds, set_there = self.kinds, self.columns["SENT_START"] == 1
        stops = kinds["IS_PUNCT"] & kinds["stop"]
        begins = np.where(self._annotated("SENT_START"), set_there, after(stops))
        short = after(kinds["stop"] & kinds["lettered"])
        begins |= short & (kinds["PRON"] | kinds["det"]) & ~kinds["IS_LOWER"]
        begins[[begin for begin, end in self.bounds if begin < end]] = True
        return begins

    @cached_property
    def sentences(self) -> Integers:
        """The number of each token's sentence, ascending from 0. **Shape:** ``(tokens,)``"""
        return self.begins.cumsum() - 1

    @cached_property
    def quotations(self) -> list[tuple[int, int]]:
        """The pairs of quotation marks within sentences, in order and not nested."""
        found: list[tuple[int, int]] = []
        marks = (self.kinds["quote"] & ~self.read).nonzero()[0].tolist()
        for _, own in groupby(marks, self.sentences.__getitem__):
            found += zip(*[own] * 2, strict=False)
        return found

    @cached_property
    def addresses(self) -> Booleans:
        """Which tokens are addresses, accounts or codes: they name nothing that a reader knows."""
        kinds = self.kinds
        return kinds["LIKE_URL"] | kinds["LIKE_EMAIL"] | kinds["account"] | kinds["code"]

    def _annotated(self, attribute: str) -> Booleans:
        found = [unit.doc.has_annotation(attribute) for unit in self.units]
        return np.array(found, dtype=bool)[self.text]

    def tokens(self, stemmer: Stemmer) -> TextTokens:
        """Return the tokens as the models take them.

        Content words are no stop words and no single Latin letters.
        """
        kinds, text, keys = self.kinds, self.text, self.columns["LOWER"]
        alpha, blank = kinds["IS_ALPHA"], kinds["SPACY"]
        # the two tokens of "won't" are no words by themselves
        joined = np.zeros(len(text), dtype=bool)
        joined[:-1] = (alpha & ~blank)[:-1] & kinds["alphabetic"][1:] & (text[1:] == text[:-1])
        stop = kinds["IS_STOP"] | joined | after(joined)
        # a hyphen between blanks is a dash, which separates
        apart = kinds["hyphen"] & after(blank)
        # nothing joins two sentences
        glue = kinds["glue"] & ~(apart | self.begins)
        hyphen = kinds["hyphen"] & glue & np.append(~self.begins, False)[1:]
        number, items = kinds["number"] & ~self.items, self.items
        word = number | (kinds["lettered"] & ~items)
        meaning = word & ~number & ~stop & ~kinds["letter"]
        words, places = self._forms
        stems = stemmer.keys(map(str.lower, words))[places]
        return TextTokens(
            text=text,
            sentences=self.sentences,
            keys=keys,
            stems=np.where(meaning, stems, keys),
            tags=self.columns["POS"].astype(np.int64),
            plain=~(kinds["IS_PUNCT"] | kinds["IS_SPACE"] | items),
            word=word,
            glue=glue,
            hyphen=hyphen,
            content=meaning & alpha,
            meaning=meaning,
            unit=meaning | number,
            stop=stop,
            capital=alpha & ~(kinds["IS_LOWER"] | self.begins),
            entity=kinds["ENT_TYPE"],
        )


def after(flags: Booleans) -> Booleans:
    """Which tokens follow one that has a flag."""
    moved = np.zeros(len(flags), dtype=bool)
    moved[1:] = flags[:-1]
    return moved


def form_of(text: str) -> dict[str, bool]:
    """The kinds of a token by its text."""
    lower, glue = text.lower(), text.lower() in GLUE
    signs = "" if text.isascii() or text == "°" else normalize("NFKC", text)  # "℃" gets letters
    code = len(text) > LONGEST_WORD
    word = FORMULA.isdisjoint(text) and not (glue or code)
    return {
        # words with a letter, and with a digit
        "lettered": word and any(c.isalpha() for c in text),
        "number": word and any(c.isdigit() for c in text),
        # what joins its neighbours; names of variables or points, which are no content words
        "glue": glue,
        "hyphen": text in HYPHENS,
        "degree": text == "°",
        "comparing": text in COMPARING,
        "letter": len(text) == 1 and text.isascii() and text.isalpha(),
        # of a script with capitals; those without them mostly have no blanks between words
        "alphabetic": text[:1].isalpha() and text[:1].lower() != text[:1].upper(),
        "stop": text[-1:] in FULL_STOPS,
        "question": text == "?",
        "mark": text in MARKS,
        "quote": text in QUOTE_MARKS,
        # an emoji, or part of one
        "picture": bool(signs) and all(category(c) in PICTURES for c in signs),
        # names of accounts; keys and encoded files
        "account": text[:1] == "@",
        "code": code,
        "negation": lower in NEGATIONS,
        "exception": lower in EXCEPTIONS,
        "kept": lower in KEPT,
        "did": lower in ("do", "does", "did"),
        "item": bool(ITEM.fullmatch(text)),
        "dotted": bool(DOTTED.fullmatch(text)),
        "listing": text in (".", ":", ")", "]"),
        "comma": text == ",",
    }


def features_of(features: str) -> dict[str, bool]:
    """The kinds of a token by its morphological features, as spaCy writes them."""
    return {
        "finite": "VerbForm=Fin" in features and "Mood=Imp" not in features,
        "single": "Number=Sing" in features,
        "negative": "Polarity=Neg" in features,
        # interrogative and relative pronouns; superlatives and ordinals
        "asking": "PronType=Int" in features or "PronType=Rel" in features,
        "ranking": "Degree=Sup" in features or "NumType=Ord" in features,
    }


def relation_of(name: str) -> dict[str, bool]:
    """The kinds of a token by its relation to its head."""
    whole = UNIVERSAL.get(name, name)
    names = {whole, whole.partition(":")[0]}
    return {kind: not names.isdisjoint(of) for kind, of in RELATIONS.items()}


def tag_of(tag: str) -> dict[str, bool]:
    """The kinds of a token by its part of speech."""
    names = ("VERB", "AUX", "ADJ", "NUM", "PRON", "PROPN", "INTJ", "SYM")
    return {name: tag == name for name in names} | {
        # nouns; what a noun phrase may end with; heads of clauses, including unknown ones
        "noun": tag in NOUNS,
        "last": tag in NOUNS | {"NUM", "SYM"},
        "predicate": tag in ("VERB", ""),
    }


@cache
def names_of(of: Callable[[str], dict[str, bool]]) -> list[str]:
    """The names of the kinds by texts, features, relations or parts of speech."""
    return list(of(""))


@lru_cache(REMEMBERED)
def kinds_of(of: Callable[[str], dict[str, bool]], name: str) -> bytes:
    """Whether a text, relation and so on is of each of these kinds, one byte each."""
    return bytes(of(name).values())
