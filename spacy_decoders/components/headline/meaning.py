"""What a shortened sentence cannot lose without saying something else than the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.headline.stems import word_keys
from .reading import Texts, after

__all__ = ["SentenceTrees", "anywhere", "inherited"]

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5

_THE, _OF, _THAN = word_keys(["the", "of", "than"])


@dataclass(frozen=True, eq=False)
class SentenceTrees:
    """The sentences of some texts as trees of groups of tokens, which stay or go together."""

    #: The root of each token's sentence, and the token that each depends on, the root on itself.
    roots: list[int]
    heads: list[int]
    #: Whether each token is read aloud, and whether it is an article.
    read: list[bool]
    articles: list[bool]
    #: The group of each token, numbered from 0 in each sentence.
    groups: list[int]
    #: Of each group: the earlier one that it depends on, -1 if it has the root; what it adds to
    #: its sentence; and how many words it has.
    parents: list[int]
    scores: list[float]
    sizes: list[int]
    #: The first token and the first group of each sentence, and how many there are of each.
    begins: list[int]
    firsts: list[int]
    #: Of each sentence, more than any part of it scores.
    ceilings: list[float]
    #: The words that stay in any case, those of its first group, and all that it has.
    fewest: list[int]
    words: list[int]

    @classmethod
    def of(cls, texts: Texts, values: Floats) -> SentenceTrees:
        """Read the trees, given what each token adds to its sentence. **Shape:** ``(tokens,)``

        What depends on tokens outside of its sentence depends on the root here.
        """
        sentences, to, size = texts.sentences, texts.heads, len(texts.text)
        own, begins = np.arange(size), texts.begins
        # where a sentence is cut, the first word whose head is outside is its root
        root = np.lexsort((depths_of(to), texts.columns["HEAD"] != 0, sentences))[begins]
        inner = own != root[sentences]
        inside = inner & (to != own) & (sentences[to] == sentences)
        heads = np.where(inside, to, root[sentences])
        needed = _joined(texts, begins, heads)
        first = own.copy()  # of each token and those that depend on it
        np.minimum.at(first, heads[inner], own[inner])
        needed |= _dependents(texts, heads, inner, first) | _clauses(texts, heads, inner, first)
        for low, high in texts.quotations:
            if not texts.kinds["finite"][low:high].any():  # all of what is no clause stays
                above = heads[low:high]
                needed[low:high] |= (low < above) & (above < high)
        tops = last_of(np.where(needed & inner, heads, own))
        # by sentences, and from the root down
        nodes = (tops == own).nonzero()[0]
        above = _above(texts, heads, inner)
        nodes = nodes[np.lexsort((depths_of(above)[nodes], sentences[nodes]))]
        number = np.zeros(size, dtype=np.int64)
        number[nodes] = np.arange(len(nodes))
        groups = number[tops]
        sizes = np.bincount(groups[texts.read], minlength=len(nodes))
        scores: Any = np.bincount(groups, values, minlength=len(nodes))
        firsts = number[root]
        scores[firsts] += _leads(texts, root)
        least = np.maximum(scores, 0.0)
        least[firsts] = scores[firsts]
        ceilings = np.bincount(sentences[nodes], least, minlength=len(root)) + 1e-9
        words = np.bincount(sentences[texts.read], minlength=len(root))
        parents = groups[above[nodes]] - firsts[sentences[nodes]]
        parents[firsts] = -1
        lists = (
            root[sentences], heads, texts.read, texts.kinds["det"],
            groups - firsts[sentences], parents, scores, sizes,
            np.append(begins.nonzero()[0], size), np.append(firsts, len(nodes)),
            ceilings, sizes[firsts], words,
        )  # fmt: skip
        return cls(*(of.tolist() for of in lists))

    def place(self, number: int) -> slice:
        """The tokens of a sentence."""
        return slice(*self.begins[number : number + 2])


def _leads(texts: Texts, roots: Integers) -> Floats:
    """What each sentence scores beside its words. **Shape:** ``(sentences,)``"""
    sentences, kinds = texts.sentences, texts.kinds
    below = texts.heads == roots[sentences]
    below[roots] = False
    refers, about = np.zeros((2, len(roots)), dtype=bool)
    refers[sentences[below & kinds["PRON"] & kinds["nsubj"]]] = True
    about[sentences[below & kinds["about"]]] = True
    about |= kinds["predicate"][roots]
    text = texts.text[roots]
    leads = LEAD / (1.0 + np.arange(len(roots)) - np.searchsorted(text, text))
    return np.where(refers, leads - PRONOUN, np.where(about, leads, leads - FRAGMENT))


def last_of(above: Integers) -> Integers:
    """Of each token the last one that is reached by going from token to token."""
    while (above != (further := above[above])).any():
        above = further
    return above


def depths_of(heads: Integers) -> Integers:
    """How far each token is from the root, which depends on itself."""
    depths: Integers = (heads != np.arange(len(heads))).astype(np.int64)
    while (heads != (further := heads[heads])).any():
        depths, heads = depths + depths[heads], further
    return depths


def anywhere(flags: Booleans, groups: Integers) -> Booleans:
    """Of each token whether any of its group has a flag; groups are numbered in order."""
    found = np.zeros(groups[-1] + 1 if len(groups) else 0, dtype=bool)
    found[groups[flags]] = True
    return found[groups]


def inherited(flags: Booleans, above: Integers) -> Booleans:
    """Which tokens, or any that they reach by going from token to token, have a flag."""
    while (above != above[above]).any():  # of each token the one at twice the distance
        flags = flags | flags[above]
        above = above[above]
    return flags | flags[above]


def _joined(texts: Texts, begins: Booleans, heads: Integers) -> Booleans:
    """Attach what joins words so that it goes where they go; which tokens stay with their heads.

    What a hyphen or the sign of degrees joins is one word: all of it depends on its token nearest
    to the root. A conjunction depends on the conjunct after it, wherever the parser puts it.
    """
    kinds, size, own = texts.kinds, len(heads), np.arange(len(heads))
    blank, degree = kinds["SPACY"], kinds["degree"]
    joins = (degree | (kinds["hyphen"] & ~after(blank))) & ~blank
    joins &= ~begins
    joins[:-1] &= ~begins[1:]
    joins[-1:] = False
    part = np.zeros(size, dtype=bool)
    if joins.any():
        apart = ~(joins | after(joins))
        nearest = np.minimum.reduceat(depths_of(heads) * size + own, apart.nonzero()[0]) % size
        top = nearest[apart.cumsum() - 1]
        part = top != own
        heads[part] = top[part]
    conjunct = kinds["conj"]
    joint = (kinds["joint"] & (heads != own) & ~part).nonzero()[0]
    if not len(joint):
        return part
    head, above = heads[joint], heads[heads][joint]
    # the next of the conjuncts that depend on the same as it
    other = _next(heads, joint, conjunct)
    other = np.where(conjunct[above] & (above > joint), above, other)
    other = np.where(conjunct[head] & (head > joint), head, other)
    joint, other = joint[other > joint], other[other > joint]
    heads[joint], part[joint] = other, True
    return part


def _above(texts: Texts, heads: Integers, inner: Booleans) -> Integers:
    """What each token leaves with: its head, or the conjunct that ends its list.

    "Ann, Bob, and Eve" may become "Ann" or "Ann and Eve", but not "Ann, Bob".
    """
    last, conjunct = np.zeros(len(heads), dtype=bool), inner & texts.kinds["conj"]
    last[heads[texts.kinds["joint"]]] = True
    others = (conjunct & ~last).nonzero()[0]
    found = _next(heads, others, conjunct & last)
    above = heads.copy()
    above[others] = np.where(found == others, heads[others], found)
    return above


def _next(heads: Integers, of: Integers, flags: Booleans) -> Integers:
    """The next token with a flag after each, and the same head; itself where there is none."""
    size, among = len(heads), flags.nonzero()[0]
    if not len(of) or not len(among):
        return of
    keys = np.append(np.sort(heads[among] * size + among), size * size)
    found = keys[np.searchsorted(keys, heads[of] * size + of)]
    return np.where(found // size == heads[of], found % size, of)


def _dependents(texts: Texts, heads: Integers, inner: Booleans, first: Integers) -> Booleans:
    """What stays with its head wherever that stays."""
    kinds, own, words = texts.kinds, np.arange(len(heads)), texts.columns["LOWER"]
    behind, begins = inner & (heads < own), words[first]

    def having(kind: str) -> Booleans:
        found = np.zeros(len(heads), dtype=bool)
        found[heads[inner & kinds[kind]]] = True
        return found

    ranking = kinds["ranking"].copy()
    ranking[heads[ranking & kinds["advmod"]]] = True  # "*most* common"
    name = kinds["title"] & kinds["title"][heads] & (heads > own)
    stays = (
        kinds["required"] | kinds["kept"] | kinds["mark"] | kinds["hyphen"] | kinds["quote"],
        kinds["conj"] & (kinds["nsubj"] | kinds["compound"])[heads],  # "*Ann and Bob* are twins"
        kinds["det"] & kinds["unmarked"][heads],  # "twice *a* day"
        texts.articles_of_few,
        (kinds["amod"] | kinds["nmod"]) & (ranking | name),
        behind & kinds["particle"] & kinds["advmod"] & kinds["VERB"][heads],
        # "is *the* best", "is *bad* news"
        ((own < heads) & (words == _THE) | kinds["amod"]) & having("cop")[heads],
        inner & (begins == _THAN),
        behind & (kinds["nmod"] | kinds["obl"]) & (begins == _OF),  # "tomb *of a scribe*"
        behind & kinds["nmod"] & kinds["NUM"],  # "drivers *under 25*"
        behind & (kinds["nmod"] | kinds["acl"]) & kinds["vague"][heads],  # "all *you need*"
    )
    # what has no object says enough with the first of these after it: "went *on strike*"
    enough = (kinds["obl"] | kinds["advcl"]) & ~having("complete")[heads]
    places = (behind & enough).nonzero()[0][::-1]
    needed, following = np.logical_or.reduce(stays), np.zeros(len(heads), dtype=np.int64)
    following[heads[places]] = places  # the first of each head is the last that is written
    needed[following[heads[places]]] = True
    return np.asarray(needed)


def _clauses(texts: Texts, heads: Integers, inner: Booleans, first: Integers) -> Booleans:
    """All of a clause stays that is judged, or that a word denies, asks, excepts or conditions.

    "all *but* useless", "rises *if* it passes", unlike "but he resigned". So do conditions that
    begin with their verb ("*Had the dam burst*, ..."), and a conjunct without a verb that is
    denied: "safe for adults *but not for children*".
    """
    kinds = texts.kinds
    joint, conjunct, negative = kinds["joint"], kinds["conj"], kinds["negation"]
    exception = kinds["exception"]
    marked = (negative | kinds["asking"]) & ~exception
    exception = exception & ~(joint & (texts.begins | conjunct[heads]))
    marked |= exception
    own = np.arange(len(heads))
    predicates = last_of(np.where(kinds["argument"] & inner, heads, own))[heads]
    denied, needed = kinds["judged"].copy(), marked.copy()
    denied[predicates[marked]] = True
    needed[predicates[exception]] = True
    needed[heads[negative & (conjunct & ~kinds["VERB"])[heads]]] = True
    opens = ((first == own) | (kinds["aux"] | kinds["cop"])[first]) & kinds["finite"][first]
    needed |= kinds["advcl"] & opens
    below = inner & ~kinds["outside"]
    return needed | (below & inherited(denied, np.where(below, heads, own))[heads])
