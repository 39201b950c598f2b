"""What a shortened sentence cannot lose without saying something else than the text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from .reading import Texts, after, word_keys

__all__ = ["SentenceTrees", "anywhere", "articles_of_few", "inherited"]

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Relations, before any colon, whose word a sentence needs with its head: arguments, auxiliaries
#: and copulas, the parts of one name or verb, what marks the head's own role, negation.
REQUIRED = frozenset({
    "nsubj", "csubj", "nsubjpass", "obj", "dobj", "iobj", "attr", "acomp", "oprd", "agent",
    "cop", "aux", "auxpass", "xcomp", "ccomp", "expl", "case", "mark", "pobj", "pcomp", "prt",
    "fixed", "flat", "compound", "goeswith", "neg", "nummod", "quantmod", "poss",
    "nmod:poss", "obl:agent",
})  # fmt: skip
#: Relations of subjects, of conjunctions, and of whatever says what its head is to others.
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
JOINTS = frozenset({"cc", "preconj"})
FUNCTIONS = JOINTS | {"mark", "case", "prep", "advmod"}
#: Relations that a negation does not reach beyond.
OUTSIDE = frozenset({
    "conj", "cc", "parataxis", "appos", "discourse", "vocative", "det", "punct", "dep", "preconj",
})  # fmt: skip
#: Relations of what a predicate is about.
ARGUMENTS = frozenset({
    "nsubj", "nsubjpass", "csubj", "obj", "dobj", "iobj", "obl", "nmod", "pobj", "prep", "attr",
    "agent", "advmod", "nummod", "det", "amod",
})  # fmt: skip
#: Relations of objects.
OBJECTS = frozenset({"obj", "dobj"})
#: Relations of what a verb says enough with.
COMPLETE = OBJECTS | {"cop", "iobj", "xcomp", "ccomp", "attr", "acomp", "oprd"}
#: Relations of what the parser may take the main clause for, under a condition before it.
CLAUSES = frozenset({"advcl", "ccomp", "parataxis"})
#: Relations of clauses that the sentence judges: "it is illegal *to sell it to children*".
JUDGED = frozenset({"csubj", "csubjpass"})
#: Parts of speech that say little without what follows: "all *you need*", "50% *off shoes*".
VAGUE = frozenset({"PRON", "DET", "NUM", "SYM"})
#: Relations of measures without a preposition: "twice *a day*".
UNMARKED = frozenset({"obl:unmarked", "nmod:unmarked", "npadvmod"})
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5
#: Relations of what a clause is about.
ABOUT = SUBJECTS | {"csubj", "csubjpass", "expl"}

_THE, _TO, _OF, _THAN, _A = word_keys(["the", "to", "of", "than", "a"])
_FEW, _LITTLE = word_keys(["few", "little"])


@dataclass(frozen=True, eq=False)
class SentenceTrees:
    """The sentences of some texts as trees, and what is known of each before it is read.

    **Shape of arrays:** ``(tokens,)``; **of lists:** ``(sentences,)``
    """

    #: The root of each token's sentence.
    roots: Integers
    #: The token that each depends on, the root on itself: what depends on tokens outside of its
    #: sentence depends on the root here.
    heads: Integers
    #: Which tokens stay with their heads.
    needed: Booleans
    #: The marks before and after each quotation, in order.
    quotes: list[tuple[int, int]]
    #: The first token of each sentence, and how many tokens there are.
    begins: list[int]
    #: What it scores beside its words, and more than any part of it scores.
    leads: list[float]
    ceilings: list[float]
    #: The words that stay in any case, and all that it has.
    fewest: list[int]
    words: list[int]

    @classmethod
    def of(cls, texts: Texts, sentences: Integers, values: Floats) -> SentenceTrees:
        """Read the trees, given each token's sentence, ascending from 0, and what it adds.

        **Shape of both:** ``(tokens,)``
        """
        own, to, size = np.arange(len(sentences)), texts.heads, len(sentences)
        begins = np.diff(sentences, prepend=-1) != 0
        root = _roots(texts, sentences, begins)
        roots = root[sentences]
        inner = own != roots
        heads = np.where(inner & (to != own) & (sentences[to] == sentences), to, roots)
        kinds, quotes = texts.kinds, texts.quotations(sentences)
        needed = kinds["kept"] | kinds["mark"] | kinds["quote"] | texts.related(REQUIRED)
        blank = texts.columns["SPACY"] > 0
        needed |= kinds["hyphen"] & blank & after(blank)  # a dash
        for first, last in quotes:
            if not kinds["finite"][first:last].any():  # all of what is no clause stays
                above = heads[first:last]
                needed[first:last] |= (first < above) & (above < last)
        _join(texts, begins, heads, needed)
        for rule in (_inverted, _attached, _clauses, _complements):
            needed |= rule(texts, begins, heads, inner)
        # of each token that which it stays with in any case, nearest to the root
        tops = last_of(np.where(needed & inner, heads, own))
        sums = np.bincount(tops, values, minlength=size)
        gains = np.where(inner, np.maximum(sums, 0.0), 0.0)
        leads = _leads(texts, sentences, root)
        ceilings = sums[root] + leads + np.bincount(sentences, gains) + 1e-9
        fewest = np.bincount(tops[texts.read], minlength=size)[root]
        words = np.bincount(sentences[texts.read], minlength=len(root))
        lists = np.append(np.flatnonzero(begins), size), leads, ceilings, fewest, words
        return cls(roots, heads, needed, quotes, *(of.tolist() for of in lists))

    def place(self, number: int) -> slice:
        """The tokens of a sentence."""
        return slice(*self.begins[number : number + 2])


def _roots(texts: Texts, sentences: Integers, begins: Booleans) -> Integers:
    """The root of each sentence; where it is cut, the token nearest to it, the first of several.

    **Shape:** ``(sentences,)``
    """
    own, to, first = np.arange(len(sentences)), texts.heads, np.flatnonzero(begins)
    outside, whole = (to == own) | (sentences[to] != sentences), texts.columns["HEAD"] == 0
    root, ends = first.copy(), np.append(first[1:], len(own)).tolist()
    for found in (outside, whole):
        last_first = np.flatnonzero(found)[::-1]
        root[sentences[last_first]] = last_first
    cut = np.bincount(sentences[outside], minlength=len(root)) > 1
    cut[sentences[whole]] = False
    for number in np.flatnonzero(cut).tolist():
        start, unit = int(first[number]), int(texts.text[first[number]])
        before = texts.bounds[unit][0]
        span = texts.units[unit][start - before : ends[number] - before]
        root[number] = start + span.root.i - span.start
    return root


def _leads(texts: Texts, sentences: Integers, roots: Integers) -> Floats:
    """What each sentence scores beside its words. **Shape:** ``(sentences,)``"""
    below = texts.heads == roots[sentences]
    below[roots] = False
    refers, about = np.zeros((2, len(roots)), dtype=bool)
    refers[sentences[below & texts.tagged({"PRON"}) & texts.related(SUBJECTS)]] = True
    about[sentences[below & texts.related(ABOUT)]] = True
    about |= texts.tagged({"VERB", ""})[roots]
    text = texts.text[roots]
    leads = LEAD / (1.0 + np.arange(len(roots)) - np.searchsorted(text, text))
    return np.where(refers, leads - PRONOUN, np.where(about, leads, leads - FRAGMENT))


def last_of(above: Integers) -> Integers:
    """Of each token the last one that is reached by going from token to token."""
    while (above != (further := above[above])).any():
        above = further
    return above


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


def _join(texts: Texts, begins: Booleans, heads: Integers, needed: Booleans) -> None:
    """Attach what joins words so that it goes where they go.

    A conjunction depends on the conjunct after it, if any, wherever the parser puts it; a hyphen
    or the sign of degrees and the words around it depend on each other.
    """
    degree = texts.kinds["degree"]
    hyphen = texts.kinds["hyphen"] | degree
    joint = texts.related(JOINTS) & ~hyphen
    conjunct, blank = texts.related({"conj"}), texts.columns["SPACY"] > 0
    hyphen &= degree | ~after(blank)
    hyphen &= ~(begins | np.append(begins[1:], True) | blank)
    for place in np.flatnonzero(hyphen | joint).tolist():
        if hyphen[place]:
            if degree[place] and heads[place + 1] == heads[place]:  # "180 ° C" as two objects
                heads[place + 1] = place
                needed[place + 1] = True
            else:
                _keep_compound(place, heads, needed)
            continue
        head = heads[place]
        if head == place:  # the root of a cut sentence: "*and* Bob dances"
            continue
        for other in takewhile(lambda other: not begins[other], range(place + 1, len(begins))):
            if conjunct[other] and (head in (other, heads[other]) or heads[head] == other):
                heads[place] = other
                needed[place] = True
                break


def _keep_compound(place: int, heads: Integers, needed: Booleans) -> None:
    left, right = place - 1, place + 1
    if heads[left] == heads[right] and left != heads[left]:
        heads[left] = right
    if heads[place] in (left, right):  # "cost-of-living": "of" is no part of "cost"
        needed[place] = True
    for one, other in ((left, right), (right, left)):
        if heads[one] == other:
            above = other
            while above not in (place, heads[above]):
                above = heads[above]
            if above != place:
                heads[place] = one
                needed[one] = needed[place] = True


def _inverted(texts: Texts, begins: Booleans, heads: Integers, inner: Booleans) -> Booleans:
    """Conditions that begin with their verb stay: "*Had the dam burst*, ..."."""
    own = np.arange(len(heads))
    first = np.minimum(own, _first_below(heads, inner))
    opens = (first == own) | texts.related({"aux", "auxpass", "cop"})[first]
    opens &= texts.kinds["finite"][first]
    asked = anywhere(texts.kinds["question"], np.cumsum(begins) - 1)
    rest = texts.related(CLAUSES) & ~inner[heads] & opens[heads] & ~asked
    return np.asarray(rest | (texts.related({"advcl"}) & opens))


def _attached(texts: Texts, begins: Booleans, heads: Integers, inner: Booleans) -> Booleans:
    """Conjuncts of subjects stay ("*Ann and Bob* are twins"), names, superlatives, measures.

    So do particles behind a verb, its object or another particle, which parsers call adverbs, too.
    """
    kinds, distance = texts.kinds, heads - np.arange(len(heads))
    name = kinds["title"] & kinds["title"][heads] & (distance > 0) & (distance <= 3)
    ranking = kinds["ranking"].copy()
    ranking[heads[ranking & texts.related({"advmod"})]] = True  # "*most* common"
    adnominal = texts.related({"amod", "nmod"}) & (ranking | name)
    conjunct = texts.related({"conj"}) & texts.related(SUBJECTS)[heads]
    measure = texts.related({"det"}) & texts.related(UNMARKED)[heads]
    particle = kinds["particle"] & texts.related({"advmod"}) & texts.tagged({"VERB"})[heads]
    beside = after(particle | texts.related(OBJECTS)) & (np.diff(heads, prepend=-1) == 0)
    particle &= beside | (distance == -1)
    return adnominal | conjunct | measure | particle | articles_of_few(texts)


def articles_of_few(texts: Texts) -> Booleans:
    """The articles of "a few" and "a little", which is not few and little."""
    words, found = texts.columns["LOWER"], np.zeros(len(texts.text), dtype=bool)
    found[:-1] = (words[:-1] == _A) & ((words[1:] == _FEW) | (words[1:] == _LITTLE))
    return found


def _clauses(texts: Texts, begins: Booleans, heads: Integers, inner: Booleans) -> Booleans:
    """All of a clause stays that is judged, or that a word denies, asks, excepts or conditions.

    "all *but* useless", "rises *if* it passes", unlike "but he resigned". So does a conjunct that
    is denied, unless it is a clause: "safe for adults *but not for children*".
    """
    kinds, joint = texts.kinds, texts.related(JOINTS)
    exception = kinds["exception"] & texts.related(FUNCTIONS)
    negative = kinds["negation"] | texts.related({"neg"})
    marked = (negative | kinds["asking"]) & ~exception
    exception &= ~(joint & (begins | after(kinds["mark"]) | texts.related({"conj"})[heads]))
    marked |= exception
    own = np.arange(len(heads))
    predicates = last_of(np.where(texts.related(ARGUMENTS) & inner, heads, own))[heads]
    denied, needed = texts.related(JUDGED).copy(), marked.copy()
    denied[predicates[marked]] = True
    needed[predicates[exception]] = True
    clause = texts.tagged({"VERB", "AUX"})
    clause[heads[inner & texts.related(ABOUT)]] = True
    limit = texts.related({"conj"}) & ~clause
    needed[heads[negative & limit[heads]]] = True
    below = inner & ~texts.related(OUTSIDE)
    return needed | (below & inherited(denied, np.where(below, heads, own))[heads])


def _complements(texts: Texts, begins: Booleans, heads: Integers, inner: Booleans) -> Booleans:
    """What words say little without stays: "tomb *of a scribe*", "on strike", "is *bad* news".

    So does what says which is meant: "drivers *under 25*", "all *you need*".
    """

    def having(relations: frozenset[str]) -> Booleans:
        found = np.zeros(len(heads), dtype=bool)
        found[heads[inner & texts.related(relations)]] = True
        return found

    own, words = np.arange(len(heads)), texts.columns["LOWER"]
    first = np.append(words, 0)[_first_below(heads, inner)]
    of_predicate = (own < heads) & (words == _THE) | texts.related({"amod"})
    needed = of_predicate & having(frozenset({"cop"}))[heads] | (inner & (first == _THAN))
    later = inner & (own > heads)
    # a verb without an object says enough with the first of these after it
    shared = texts.related({"conj"}) & texts.tagged({"VERB"})
    lacking = (having(SUBJECTS) | shared) & ~having(COMPLETE)
    enough = texts.related({"obl", "prep"}) | (texts.related({"advcl"}) & (first == _TO))
    places = np.flatnonzero(later & lacking[heads] & enough)
    needed[places[np.unique(heads[places], return_index=True)[1]]] = True
    nominal = texts.related({"nmod"})
    of = texts.related({"prep"}) & (words == _OF) | nominal & (first == _OF)
    which = nominal & texts.tagged({"NUM"})
    which |= texts.related({"nmod", "acl", "relcl"}) & texts.tagged(VAGUE)[heads]
    return np.asarray(needed | (later & (of | which)))


def _first_below(heads: Integers, inner: Booleans) -> Integers:
    """The first dependent of each token; the number of tokens if it has none."""
    first = np.full(len(heads), len(heads))
    np.minimum.at(first, heads[inner], np.flatnonzero(inner))
    return first
