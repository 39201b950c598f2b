"""Which tokens of a sentence stay together, so that its shorter versions mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ...models.headline.stems import word_keys
from .reading import Texts, after

__all__ = ["SentenceTrees", "anywhere", "inherited", "salutations"]


#: The bonus of the first sentence, which falls with the position of a sentence.
LEAD = 0.5
#: The cost of a pronoun as the subject, which refers to another sentence, and of a fragment: a
#: sentence with neither a subject nor a verb as its root.
PRONOUN, FRAGMENT = 0.5, 0.5

_ARTICLES = word_keys(["a", "an", "the"])
_THE, _OF, _THAN, _TO, _BETWEEN = word_keys(["the", "of", "than", "to", "between"])


@dataclass(frozen=True, eq=False)
class SentenceTrees:
    """The sentences of some texts as trees whose nodes are groups of tokens that stay together."""

    #: The head of each token; a root is its own head.
    heads: list[int]
    #: The group of each token, numbered from 0 in each sentence; group 0 has the root.
    groups: list[int]
    #: For each group its parent, an earlier group (-1 for the root's), its score, and its number
    #: of words.
    parents: list[int]
    scores: list[float]
    sizes: list[int]
    #: The first token and the first group of each sentence; a last item has the totals.
    begins: list[int]
    firsts: list[int]
    #: An upper bound on the scores of all parts of each sentence.
    ceilings: list[float]
    #: The number of words of each sentence.
    words: list[int]

    @classmethod
    def of(cls, texts: Texts, values: Floats) -> SentenceTrees:
        """Build the trees from the score of each token. **Shape of the scores:** ``(tokens,)``

        A token whose head is outside of its sentence is attached to the root.
        """
        sentences, to, size = texts.sentences, texts.heads, len(texts.text)
        own, begins = np.arange(size), texts.begins
        # a span may cut a sentence: the first word whose head is outside is its root
        root = np.lexsort((depths_of(to), texts.columns["HEAD"] != 0, sentences))[begins]
        inner = own != root[sentences]
        inside = inner & (to != own) & (sentences[to] == sentences)
        heads = np.where(inside, to, root[sentences])
        needed = _joined(texts, begins, heads)
        first = own.copy()  # the first of each token and its dependents
        np.minimum.at(first, heads[inner], own[inner])
        needed |= _dependents(texts, heads, inner, first) | _clauses(texts, heads, inner, first)
        for low, high in texts.quotations:
            if not texts.kinds["finite"][low:high].any():  # no clause: it stays whole
                above = heads[low:high]
                needed[low:high] |= (low < above) & (above < high)
        tops = last_of(np.where(needed & inner, heads, own))
        # sentence by sentence, parents first
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
            heads, groups - firsts[sentences], parents, scores, sizes,
            np.append(begins.nonzero()[0], size), np.append(firsts, len(nodes)), ceilings, words,
        )  # fmt: skip
        return cls(*(of.tolist() for of in lists))

    def place(self, number: int) -> slice:
        """The tokens of a sentence, by its number."""
        return slice(*self.begins[number : number + 2])


def _leads(texts: Texts, roots: Integers) -> Floats:
    """The score of each sentence beyond that of its words. **Shape:** ``(sentences,)``"""
    sentences, kinds = texts.sentences, texts.kinds
    below = texts.heads == roots[sentences]
    below[roots] = False
    refers, about = np.zeros((2, len(roots)), dtype=bool)
    refers[sentences[below & kinds["PRON"] & kinds["nsubj"]]] = True
    about[sentences[below & kinds["about"]]] = True
    about |= kinds["predicate"][roots]
    text = texts.text[roots]
    leads = LEAD / (1.0 + np.arange(len(roots)) - np.searchsorted(text, text))
    leads[salutations(texts)[roots]] = -LEAD
    return np.where(refers, leads - PRONOUN, np.where(about, leads, leads - FRAGMENT))


def salutations(texts: Texts) -> Booleans:
    """Which tokens are in fragments that a comma ends, not the text: "Dear Ann,"."""
    comma, sentences = texts.kinds["comma"], texts.sentences
    comma = comma | (after(comma) & texts.kinds["IS_SPACE"])
    last = np.append((np.diff(sentences) > 0) & (np.diff(texts.text) == 0), False)[: len(comma)]
    return anywhere(comma & last, sentences) & ~anywhere(texts.kinds["finite"], sentences)


def last_of(above: Integers) -> Integers:
    """Follow links from token to token; return where each token ends up."""
    while (above != (further := above[above])).any():
        above = further
    return above


def depths_of(heads: Integers) -> Integers:
    """The number of arcs between each token and its root, which is its own head."""
    depths: Integers = (heads != np.arange(len(heads))).astype(np.int64)
    while (heads != (further := heads[heads])).any():
        depths, heads = depths + depths[heads], further
    return depths


def anywhere(flags: Booleans, groups: Integers) -> Booleans:
    """For each token whether any token of its group has a flag; group numbers are ascending."""
    found = np.zeros(groups[-1] + 1 if len(groups) else 0, dtype=bool)
    found[groups[flags]] = True
    return found[groups]


def inherited(flags: Booleans, above: Integers) -> Booleans:
    """Which tokens have a flag, or reach one that does by following links."""
    while (above != above[above]).any():  # each round doubles the distance of the links
        flags = flags | flags[above]
        above = above[above]
    return flags | flags[above]


def _joined(texts: Texts, begins: Booleans, heads: Integers) -> Booleans:
    """Reattach, in place, tokens that join words; return those that stay with their heads.

    What a hyphen, a degree sign or a comparison joins is one word. A conjunction is attached to
    the conjunct after it, and a sign of comparison to the word, whatever its head.
    """
    kinds, own = texts.kinds, np.arange(len(heads))
    joins = (kinds["degree"] | (kinds["hyphen"] & ~after(kinds["SPACY"]))) & ~kinds["SPACY"]
    comparing = kinds["comparing"] & kinds["SPACY"] & after(kinds["SPACY"])
    joins |= comparing
    joins &= ~begins & np.append(~begins, False)[1:]
    signs = (joins & comparing).nonzero()[0]
    signs = signs[~np.isin(signs, heads)]
    heads[signs] = signs + 1
    word = (~(joins | after(joins))).cumsum()
    part: Booleans = (word[heads] == word) & (heads != own)
    conjunct = kinds["conj"]
    joint = (kinds["joint"] & (heads != own) & ~part).nonzero()[0]
    head, above = heads[joint], heads[heads][joint]
    # the next conjunct with the same head
    other = _next(heads, joint, conjunct)
    other = np.where(conjunct[above] & (above > joint), above, other)
    other = np.where(conjunct[head] & (head > joint), head, other)
    joint, other = joint[other > joint], other[other > joint]
    heads[joint], part[joint] = other, True
    return part


def _above(texts: Texts, heads: Integers, inner: Booleans) -> Integers:
    """The token without which each token is dropped: its head, or the last conjunct of its list.

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
    """For each token the next one that has a flag and the same head; itself if there is none."""
    size, among = len(heads), flags.nonzero()[0]
    if not len(of) or not len(among):
        return of
    keys = np.append(np.sort(heads[among] * size + among), size * size)
    found = keys[np.searchsorted(keys, heads[of] * size + of)]
    return np.where(found // size == heads[of], found % size, of)


def _dependents(texts: Texts, heads: Integers, inner: Booleans, first: Integers) -> Booleans:
    """Which tokens stay wherever their heads stay.

    What restricts a word stays with it, if no mark sets it off: without it, more would be said
    ("patients *with asthma*"). Names need no restriction, and a singular noun with an article
    remains true without one: a judge in Boston is a judge.
    """
    kinds, own, words = texts.kinds, np.arange(len(heads)), texts.columns["LOWER"]
    behind, begins = inner & (heads < own), words[first]

    def having(flags: Booleans) -> Booleans:
        found = np.zeros(len(heads), dtype=bool)
        found[heads[inner & flags]] = True
        return found

    predicate, article = having(kinds["cop"]), kinds["det"] & np.isin(words, _ARTICLES)
    free = kinds["single"] & (having(article) | kinds["PROPN"]) & ~having(kinds["ranking"])
    set_off = behind & (kinds["mark"] | after(kinds["mark"]))[first]
    # words of degree: "*fairly* safe", "*twice* as much", "*ten years* ago"
    degree = (kinds["advmod"] | kinds["unmarked"]) & ((abs(heads - own) == 1) | ~predicate[heads])
    degree &= ~(kinds["VERB"] | kinds["AUX"] | kinds["noun"])[heads]
    restricting = kinds["amod"] | degree | (kinds["det"] & ~article)
    restricting |= kinds["acl"] & having(kinds["subordinate"])  # "the wish *that he stays*"
    restricting |= (kinds["nmod"] | kinds["acl"]) & ~(behind & free[heads])
    restricting |= kinds["unmarked"] & kinds["NUM"]  # "May *2021*"
    types = texts.columns["ENT_TYPE"]
    name = np.append(True, types[1:] != types[:-1])[: len(types)].cumsum()
    # the first complement of a verb or adjective, and adverbs before it: "put it *back to use*"
    complement = behind & (kinds["obl"] | kinds["advcl"]) & ~set_off
    complement &= ~(predicate & ~kinds["ADJ"])[heads]
    places, following = complement.nonzero()[0][::-1], np.full(len(heads), len(heads))
    following[heads[places]] = places  # in reverse, so the first of each head is written last
    adverb = behind & kinds["advmod"] & kinds["VERB"][heads] & ~set_off
    phrase = behind & (kinds["nmod"] | kinds["obl"])
    stays = (
        kinds["required"] | kinds["kept"] | kinds["mark"] | kinds["hyphen"] | kinds["quote"],
        restricting & ~set_off,
        (types > 0) & (name == name[heads]),
        (complement & (own == following[heads])) | (adverb & (own < following[heads])),
        # "*Ann and Bob* are twins", "between 3 *and 5* percent", "at *or above* 9"
        kinds["conj"] & (kinds["bound"] | kinds["NUM"] | having(words == _BETWEEN))[heads],
        # "twice *a* day", "is *the* best", "*a* few"
        article & (kinds["unmarked"][heads] | (predicate[heads] & (words == _THE))),
        article & after(kinds["negation"][::-1])[::-1],
        inner & (begins == _THAN),
        # "would *rather* resign than pay"
        kinds["advmod"] & having((begins == _THAN) & (first < own))[heads],
        # "tomb *of a scribe*"
        phrase & ((begins == _OF) | (begins == _TO)),
    )
    return np.asarray(np.logical_or.reduce(stays))


def _clauses(texts: Texts, heads: Integers, inner: Booleans, first: Integers) -> Booleans:
    """Which tokens stay because their clause is whole or absent.

    Such are clauses that a sentence judges, and those with a word that negates, asks, or makes an
    exception or a condition: "all *but* useless", "rises *if* it passes". So are conditions that
    begin with their verb ("*Had the dam burst*, ...") and conjuncts without a verb that "but" or a
    negation sets against others: "all *but one*", "safe for adults, *not for children*".
    """
    kinds = texts.kinds
    joint, conjunct, negative = kinds["joint"], kinds["conj"], kinds["negation"]
    clause = conjunct & kinds["VERB"]
    clause[heads[conjunct[heads] & kinds["about"]]] = True
    exception = kinds["exception"] & ~(joint & (texts.begins | clause[heads]))
    marked = negative | kinds["asking"] | exception
    own = np.arange(len(heads))
    predicates = last_of(np.where(kinds["argument"] & inner, heads, own))[heads]
    denied, needed = kinds["judged"].copy(), marked.copy()
    denied[predicates[marked]] = True
    needed[predicates[exception | (negative & (conjunct & ~clause)[heads])]] = True
    opens = ((first == own) | (kinds["aux"] | kinds["cop"])[first]) & kinds["finite"][first]
    needed |= kinds["advcl"] & opens
    below = inner & ~kinds["outside"]
    return needed | (below & inherited(denied, np.where(below, heads, own))[heads])
