"""Which phrases of a text can stand by themselves, by its parse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import POS, SENT_START
from spacy.parts_of_speech import IDS

from ...models.headline.phrases import inside
from .reading import Texts

__all__ = ["whole_phrases"]

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

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
    to, tags = texts.heads, texts.columns[POS]
    own = np.arange(len(to))
    forms, relations, features = texts.forms, texts.relations, texts.features
    noun, verb, name = np.isin(tags, _NOUNS), tags == IDS["VERB"], tags == IDS["PROPN"]
    denying = features["negative"] | forms["negation"]
    governed, hidden = _governed(texts, to, denying)

    # addresses, and finite verbs
    excluded = texts.addresses | (texts.parsed & (features["finite"] | (tags == IDS["AUX"])))
    # what is negated before the phrase begins would say the contrary
    before = to > own
    bad = (tags == IDS["INTJ"]) | (relations["joining"] & before)
    bad[1:] |= name[1:] & name[:-1] & ((to[1:] == own[:-1]) | (to[:-1] == own[1:]))
    bad[to[denying & before]] = True
    lacking = np.zeros(len(own), dtype=bool)
    lacking[to[relations["subject"]]] = True
    named = noun | (verb & ~lacking)
    named &= ~relations["aside"] & ~hidden
    # the place of the word after each token that a phrase cannot end without
    needs = np.where(relations["part"] & before, to, -1)
    objects = np.flatnonzero(relations["object"] & (to < own))
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


def _governed(texts: Texts, above: Integers, denying: Booleans) -> tuple[Booleans, Booleans]:
    """Which tokens are in another's clause, denied or asked; which verbs look like nouns there."""
    forms, begins = texts.forms, texts.columns[SENT_START].astype(np.int64) == 1
    sentence = np.cumsum(begins)
    asked = np.unique(sentence[forms["question"]])
    found = texts.relations["below"] | np.isin(sentence, asked)
    found[above[denying]] = True
    while len(above):  # of each token the ancestor at twice the distance
        found = found | found[above]
        further = above[above]
        if (further == above).all():
            break
        above = further
    # verbs behind "did", or "should" of a condition, are easily taken for nouns
    supposed = sentence[begins & (texts.columns[POS] == IDS["AUX"])]
    did = np.intersect1d(asked, sentence[forms["did"]])
    hidden = np.append(did, np.setdiff1d(supposed, asked))
    return found, np.isin(sentence, hidden)
