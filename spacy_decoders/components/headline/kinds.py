"""What tokens are by their forms, relations and features, each string being looked at once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple
from unicodedata import category, normalize

from .meaning import NEGATIONS, TIMES

__all__ = ["Features", "Form", "Relation", "features_of", "form_of", "relation_of"]

#: Strings whose kinds are remembered.
REMEMBERED = 1 << 16

#: Hyphens, dashes, and whatever joins a word to the word before or the next.
HYPHENS = frozenset("-–/")
DASHES = frozenset("-–—")
GLUE = HYPHENS | frozenset("—&+#'’") | {"'s", "’s", "++", "--"}
#: Characters of formulas, whose tokens are no words.
FORMULA = frozenset("^=<>\\~|")
#: Single letters of the Latin script: names of variables and points, no content.
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
#: Characters that end a sentence, where no boundaries are set.
FULL_STOPS = frozenset(".!?…。！？।؟")
#: Categories of the characters of emojis, and of what joins and varies these.
PICTURES = frozenset({"So", "Sk", "Cf", "Mn", "Me"})

#: Relations to a head after the word, without which it can't end a phrase, and to one before
#: it that can't end one without the word.
PARTS = frozenset({"compound", "flat", "goeswith"})
OBJECTS = frozenset({"flat", "goeswith", "obj", "dobj", "ccomp", "xcomp", "prt", "attr", "acomp"})
#: Those of subjects and auxiliaries, of what stands beside a sentence, and of what joins a phrase
#: to others.
SUBJECTS = frozenset({
    "nsubj", "nsubjpass", "csubj", "csubjpass", "expl", "aux", "auxpass",
})  # fmt: skip
ASIDE = frozenset({"discourse", "vocative", "intj"})
JOINING = frozenset({"case", "cc"})
#: Relations of verbs to what may make a claim of theirs untrue.
BELOW = frozenset({"xcomp", "ccomp", "advcl", "acl", "relcl", "parataxis", "pcomp"})
#: Relations of punctuation that is not read aloud.
SILENT = frozenset({"", "punct", "ROOT"})


class Form(NamedTuple):
    """What a token is by its text."""

    #: Whether it is a word with a letter, or one with a digit.
    lettered: Any
    number: Any
    #: Whether it joins its neighbours, as a hyphen or a dash, or is a single letter.
    glue: Any
    hyphen: Any
    dash: Any
    letter: Any
    #: Whether it begins with a letter, ends a sentence or asks.
    alphabetic: Any
    stop: Any
    question: Any
    #: Whether it is an emoji or a part of one, which is no word, and often one of several tokens.
    picture: Any
    #: Whether it is the name of an account, denies, says when, or is a form of "do".
    account: Any
    negation: Any
    time: Any
    did: Any


@lru_cache(REMEMBERED)
def form_of(text: str) -> Form:
    """What a token is by its text."""
    lower, glue = text.lower(), text.lower() in GLUE
    signs = "" if text.isascii() or text == "°" else normalize("NFKC", text)  # units get letters
    word = text.isalpha() or (
        FORMULA.isdisjoint(text) and text.count("(") == text.count(")") and not glue
    )
    return Form(
        lettered=word and any(c.isalpha() for c in text),
        number=word and any(c.isdigit() for c in text),
        glue=glue,
        hyphen=text in HYPHENS,
        dash=text in DASHES,
        letter=lower in LETTERS,
        alphabetic=text[:1].isalpha(),
        stop=text[-1:] in FULL_STOPS,
        question=text == "?",
        picture=bool(signs) and all(category(c) in PICTURES for c in signs),
        account=text[:1] == "@",
        negation=lower in NEGATIONS,
        time=lower in TIMES,
        did=lower in ("do", "does", "did"),
    )


class Relation(NamedTuple):
    """What a token is to its head."""

    part: Any
    of_object: Any
    subject: Any
    aside: Any
    joining: Any
    below: Any
    silent: Any


@lru_cache(REMEMBERED)
def relation_of(name: str) -> Relation:
    """What a token is to its head by the name of the relation."""
    plain = name.partition(":")[0]
    return Relation(
        part=plain in PARTS or name == "nmod:desc",
        of_object=plain in OBJECTS,
        subject=plain in SUBJECTS,
        aside=plain in ASIDE,
        joining=plain in JOINING,
        below=plain in BELOW,
        silent=name in SILENT,
    )


class Features(NamedTuple):
    """What a token is by its morphological features."""

    finite: Any
    negative: Any


@lru_cache(REMEMBERED)
def features_of(features: str) -> Features:
    """What a token is by its features, as spaCy writes them."""
    return Features(
        finite="VerbForm=Fin" in features and "Mood=Imp" not in features,
        negative="Polarity=Neg" in features,
    )
