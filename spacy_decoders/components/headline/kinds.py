"""What tokens are by their forms, relations and features, each string being looked at once."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category, normalize

from .meaning import NEGATIONS

__all__ = ["features_of", "form_of", "relation_of"]

#: Strings whose kinds are remembered.
REMEMBERED = 1 << 16

#: Hyphens, dashes, and whatever joins a word to the word before or the next.
HYPHENS = frozenset("-–/")
DASHES = frozenset("-–—")
GLUE = HYPHENS | frozenset("—&+#'’") | {"'s", "’s", "++"}
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


@lru_cache(REMEMBERED)
def form_of(text: str) -> dict[str, bool]:
    """What a token is by its text."""
    lower, glue = text.lower(), text.lower() in GLUE
    signs = "" if text.isascii() else normalize("NFKC", text)  # units get letters
    word = text.isalpha() or (
        FORMULA.isdisjoint(text) and text.count("(") == text.count(")") and not glue
    )
    return {
        # a word with a letter, or one with a digit
        "lettered": word and any(c.isalpha() for c in text),
        "number": word and any(c.isdigit() for c in text),
        # what joins its neighbours, as a hyphen or a dash does; a single letter
        "glue": glue,
        "hyphen": text in HYPHENS,
        "dash": text in DASHES,
        "letter": lower in LETTERS,
        "alphabetic": text[:1].isalpha(),
        "stop": text[-1:] in FULL_STOPS,
        "question": text == "?",
        # an emoji or a part of one, which is no word, and often one of several tokens
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
        "object": plain in OBJECTS,
        "subject": plain in SUBJECTS,
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
