"""Which phrases of a text can stand by themselves, by its parse."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, LIKE_EMAIL, LIKE_URL, LOWER, MORPH, ORTH, POS, PREFIX, SENT_START
from spacy.parts_of_speech import IDS

from ...models.headline.phrases import inside
from .meaning import NEGATIONS
from .reading import Texts

__all__ = ["whole_phrases"]

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Relations to a head after the word, without which it can't end a phrase, and to one before
#: it that can't end one without the word.
PARTS = frozenset({"compound", "flat", "goeswith", "nmod:desc"})
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
#: Tags of what names things, and of what noun phrases end with.
_NOUNS, _LAST = (
    np.array([IDS[tag] for tag in tags], dtype=np.uint64)
    for tags in (("NOUN", "PROPN", "X", ""), ("NOUN", "PROPN", "X", "", "NUM", "SYM"))
)


def whole_phrases(texts: Texts, starts: Integers, ends: Integers) -> Booleans:
    """Which spans can stand by themselves: noun phrases and verbs with what they govern.

    Where nothing is parsed all can, but for addresses and names of accounts.

    **Shape of starts, ends and result:** ``(spans,)``
    """
    to, tags = texts.heads, texts[POS]
    own = np.arange(len(to))
    part, of_object, subject, aside, joining, below = texts.having(
        DEP,
        lambda name: name in PARTS or _plain(name) in PARTS,
        *(
            lambda name, kind=kind: _plain(name) in kind
            for kind in (OBJECTS, SUBJECTS, ASIDE, JOINING, BELOW)
        ),
    )
    noun, verb, name = np.isin(tags, _NOUNS), tags == IDS["VERB"], tags == IDS["PROPN"]
    finite, past, negative = texts.having(MORPH, _is_finite, _is_past, _is_negative)
    denying = negative | texts.having(LOWER, NEGATIONS.__contains__)
    governed, hidden = _governed(texts, to, below, denying)

    # addresses, and finite verbs
    excluded = (texts[LIKE_URL] > 0) | (texts[LIKE_EMAIL] > 0)
    excluded |= texts.having(PREFIX, "@".__eq__)
    excluded |= texts.parsed & (finite | (tags == IDS["AUX"]))
    # what is negated before the phrase begins would say the contrary
    before = to > own
    bad = (tags == IDS["INTJ"]) | (joining & before)
    bad[1:] |= name[1:] & name[:-1] & ((to[1:] == own[:-1]) | (to[:-1] == own[1:]))
    bad[to[denying & before]] = True
    lacking = np.zeros(len(own), dtype=bool)
    lacking[to[subject]] = True
    named = (noun | (verb & ~past & ~below & ~lacking)) & ~aside & ~hidden
    # the place of the word after each token that a phrase cannot end without
    needs = np.where(part & before, to, -1)
    objects = np.flatnonzero(of_object & (to < own))
    np.maximum.at(needs, to[objects], objects)

    excluded, verbs = (np.append(0, np.cumsum(of)) for of in (excluded, verb))
    good: Booleans = excluded[ends] == excluded[starts]
    parsed = np.flatnonzero(good & texts.parsed[starts] & ~bad[starts])
    good &= ~texts.parsed[starts]
    starts, ends = starts[parsed], ends[parsed]
    head = _heads(to, needs, starts, ends)
    fits = (head >= 0) & named[head]
    # "gene mutated" has lost what the gene is mutated in
    fits &= np.isin(tags[ends - 1], _LAST) | (head == ends - 1) | ~noun[head]
    good[parsed] = fits & (~governed[head] | (verbs[ends] == verbs[starts]))
    return good


def _heads(to: Integers, needs: Integers, starts: Integers, ends: Integers) -> Integers:
    """The token of each span that all its others depend on; -1 if it lacks something.

    So it does if two of its words depend on others outside of it, or if a word needs one behind
    its end.
    """
    if not len(starts):
        return starts
    places, rows = inside(starts, ends)
    low, high = (np.repeat(of, ends - starts) for of in (starts, ends))
    outside = (to[places] < low) | (to[places] >= high) | (to[places] == places)
    heads = np.add.reduceat(np.where(outside, places, 0), rows)
    alone = np.add.reduceat(outside.astype(np.int64), rows) == 1
    return np.where(alone & (np.maximum.reduceat(needs[places], rows) < ends), heads, -1)


def _governed(
    texts: Texts, above: Integers, below: Booleans, denying: Booleans
) -> tuple[Booleans, Booleans]:
    """Which tokens are in another's clause, denied or asked; which verbs look like nouns there."""
    begins = texts[SENT_START].astype(np.int64) == 1
    sentence = np.cumsum(begins)
    asked = np.unique(sentence[texts.having(ORTH, "?".__eq__)])
    found = below | np.isin(sentence, asked)
    found[above[denying]] = True
    while len(above):  # of each token the ancestor at twice the distance
        found = found | found[above]
        further = above[above]
        if (further == above).all():
            break
        above = further
    # verbs behind "did", or "should" of a condition, are easily taken for nouns
    did = sentence[texts.having(LOWER, {"do", "does", "did"}.__contains__)]
    supposed = sentence[begins & (texts[POS] == IDS["AUX"])]
    hidden = np.append(np.intersect1d(asked, did), np.setdiff1d(supposed, asked))
    return found, np.isin(sentence, hidden)


@lru_cache(256)
def _plain(relation: str) -> str:
    return relation.partition(":")[0]


def _is_finite(features: str) -> bool:
    return "VerbForm=Fin" in features and "Mood=Imp" not in features


def _is_past(features: str) -> bool:
    return "VerbForm=Part" in features and "Tense=Past" in features


def _is_negative(features: str) -> bool:
    return "Polarity=Neg" in features
