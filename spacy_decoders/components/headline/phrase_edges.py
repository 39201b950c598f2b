"""Which phrases of a text can stand by themselves, by its parse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    DEP,
    HEAD,
    IS_PUNCT,
    IS_SPACE,
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

from ...models.headline.meaning import (
    CONDITIONS,
    GREETINGS,
    LIMITS,
    NEGATIONS,
    QUANTITIES,
    VAGUE,
)
from ...models.headline.phrases import Phrases
from .reading import Texts, among, word_keys

__all__ = ["PhraseEdges", "phrase_edges"]

#: A text with fewer blanks than this share of its tokens is in a language that has none.
BLANKS = 0.2


class PhraseEdges(NamedTuple):
    """Where phrases of a text can begin and end."""

    #: The place of the word after each token that a phrase cannot end without, or less than 0.
    #: **Shape:** ``(tokens,)``
    needs: NDArray[np.int64]
    #: Which tokens no phrase begins with. **Shape:** ``(tokens,)``
    bad: NDArray[np.bool_]
    #: Before which tokens a word is cut. **Shape:** ``(tokens + 1,)``
    cut: NDArray[np.bool_]
    #: Before each token, the number of addresses and labels, from any one on.
    #: **Shape:** ``(tokens + 1,)``
    addresses: NDArray[np.int64]
    #: The token that each depends on, which may be outside of the text; without a parse the
    #: next one. **Shape:** ``(tokens,)``
    heads: NDArray[np.int64]
    #: Where a phrase whose other words depend on this token begins at the latest: with the
    #: subject of a verb that has one; less than 0 where none is a headline. **Shape:**
    #: ``(tokens,)``
    since: NDArray[np.int64]
    #: Before each token, the number of those that name something alone, from any one on.
    #: **Shape:** ``(tokens + 1,)``
    telling: NDArray[np.int64]
    #: Which tokens are nouns or numbers. **Shape:** ``(tokens,)``
    nouns: NDArray[np.bool_]
    #: Before each token, the number of finite verbs, and of verbs, from any one on.
    #: **Shape:** ``(tokens + 1,)``
    finite: NDArray[np.int64]
    verbs: NDArray[np.int64]
    #: Which tokens are below what may make a claim about them untrue: a negation, another clause,
    #: a question. **Shape:** ``(tokens,)``
    governed: NDArray[np.bool_]
    #: Which tokens are prepositions or conjunctions of what stands after them. **Shape:**
    #: ``(tokens,)``
    joining: NDArray[np.bool_]
    #: Which tokens are modifiers of a noun behind them. **Shape:** ``(tokens,)``
    describing: NDArray[np.bool_]
    #: Where a clause with this head begins, and the last token that it cannot end before;
    #: -1 for the beginning where the text does not assert it. **Shape:** ``(tokens,)``
    opening: NDArray[np.int64]
    until: NDArray[np.int64]
    #: Whether there is a tree.
    parsed: bool

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

    def constituents(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The head of each phrase that is one: a noun phrase, or a clause with its subject.

        A clause is one that the text asserts, whole from the beginning of its sentence, with all
        that may make it untrue; other phrases have no finite verb, and no verb at all below what
        may make it untrue. The head is -1 for phrases that cannot stand by themselves, of
        which two words depend on others outside, and for greetings, times and words that name
        nothing.
        """
        from ...models.headline.kernels.phrases import phrase_heads

        heads = phrase_heads(self.heads, self.needs, starts, ends)
        good = self.allow(starts, ends) & (starts <= self.since[heads])
        good &= self.telling[ends] > self.telling[starts]
        # a noun phrase ends with a noun: "gene mutated" has lost what the gene is mutated in
        good &= self.nouns[ends - 1] | (heads == ends - 1) | ~self.nouns[heads]
        # nor does a clause begin with what has lost its preposition, as "1969" of "In 1969 men
        # landed", or its adjective, as "rain" of "Heavy rain fell"
        before = np.maximum(starts - 1, 0)
        of_before = self.heads[before]
        lost = self.joining[before] | (self.describing[before] & ~self.nouns[heads])
        lost &= (of_before >= starts) & (of_before < ends) & (of_before != heads)
        good &= ~lost | (starts == 0)
        clause = (self.finite[ends] > self.finite[starts]) | (self.since[heads] < heads)
        asserted = (starts == self.opening[heads]) & (ends > self.until[heads])
        free = ~self.governed[heads] | (self.verbs[ends] == self.verbs[starts])
        good &= np.where(clause & self.parsed, asserted, free)
        return np.where(good, heads, -1)

    def candidates(self, phrases: Phrases) -> NDArray[np.int64]:
        """The phrases that headlines may have: with no stem twice.

        These are constituents, if there is a parse; else what can stand by itself, if anything
        does.
        """
        starts, ends = phrases.starts, phrases.ends
        heads = self.constituents(starts, ends)
        fresh = ~phrases.occurrences.repeats
        whole = np.zeros(len(phrases), dtype=bool)
        whole[phrases.occurrences.phrase[heads >= 0]] = True
        if not whole.any() and not self.parsed:
            whole[phrases.occurrences.phrase[self.allow(starts, ends)]] = True
        if not whole.any() and not self.parsed:
            whole[:] = True
        return np.flatnonzero(fresh & whole)


def phrase_edges(texts: Texts) -> list[PhraseEdges]:
    """Read which phrases of each text can stand by themselves."""
    strings, heads = texts.strings, texts[HEAD].astype(np.int64)
    count, first = len(heads), np.zeros(len(heads) + 1, dtype=bool)
    first[[begin for begin, _ in texts.bounds]] = True
    own, ends = (
        np.arange(count),
        np.repeat([end for _, end in texts.bounds], [b - a for a, b in texts.bounds]),
    )
    relations_of = texts[DEP]
    relations, places = np.unique(relations_of, return_inverse=True)
    kinds_of = _relations_of(relations, strings)[places.reshape(-1)]
    part, of_object, of_clause, subject, aside, joining, modifier, describing, below, _ = (
        kinds_of.T
    )
    to, needs = own + heads, np.full(count, -1)
    after, before = (to >= texts.begins) & (to < own), (to > own) & (to < ends)
    later = np.flatnonzero(part & before)
    needs[later] = to[later]
    counted = among(texts[LOWER], _QUANTITIES)
    earlier = np.flatnonzero((of_object | (modifier & counted[np.clip(to, 0, count - 1)])) & after)
    np.maximum.at(needs, to[earlier], earlier)
    features, places = np.unique(texts[MORPH], return_inverse=True)
    verbs = np.array([_verb(morph, strings) for morph in features.tolist()], dtype=np.int64)
    kinds = verbs[places.reshape(-1)]
    # a participle that a phrase begins with has lost its subject and its auxiliary, and
    # what is negated before the phrase begins would say the contrary
    bad = (kinds == _FINITE) | ((kinds == _PAST) & (heads == 0) & texts.parsed)
    left = np.zeros(count, dtype=bool)
    left[to[of_clause & before]] = True
    tags = texts[POS]
    bad |= ((kinds == _PAST) | (kinds == _PRESENT) | (tags == IDS["VERB"])) & left
    denying = ((kinds == _NOT) | among(texts[LOWER], _NEGATIONS)) & texts.parsed
    bad[to[denying & before]] = True
    governed, asking = _governed(texts, np.clip(to, 0, max(0, count - 1)), below, denying)
    name = tags == IDS["PROPN"]
    within = name[1:] & name[:-1] & ((heads[1:] == -1) | (heads[:-1] == 1))
    bad[1:] |= within & ~first[1:-1]
    cut = _cuts(texts, first)
    bad |= cut[:-1] | cut[1:]
    greeting = (tags == IDS["INTJ"]) | (among(texts[LOWER], _GREETINGS) & texts.parsed)
    bad |= greeting | (joining & before)
    address = (texts[LIKE_URL] > 0) | (texts[LIKE_EMAIL] > 0) | (texts[PREFIX] == _ACCOUNT)
    opens = first[:-1] | (texts[SENT_START].astype(np.int64) == 1)
    opens[1:] |= address[:-1] | (texts[IS_SPACE][:-1] > 0)
    address[:-1] |= opens[:-1] & (texts[ORTH][1:] == _COLON) & ~first[1:-1]
    noun = np.isin(tags, _NOUNS)
    # a noun phrase is of nouns, or of a verb without a subject; a clause has its subject
    headed = noun | ((tags == IDS["VERB"]) & (kinds != _PAST))
    headed &= ~asking
    since = np.where((headed & ~aside & (noun | ~below)) | ~texts.parsed, own, -1)
    of_verb = np.flatnonzero(subject & before & ~noun[np.clip(to, 0, count - 1)])
    since[to[of_verb]] = count
    np.minimum.at(since, to[of_verb], of_verb)
    telling = (np.isin(tags, _TELLING) & ~among(texts[LOWER], _VAGUE)) | ~texts.parsed
    to = np.where(texts.parsed, to, own + 1)
    fixed = ((kinds == _FINITE) | (tags == IDS["AUX"])) & texts.parsed
    verb = (tags == IDS["VERB"]) & texts.parsed
    addresses, finite, verbs, told = (
        np.concatenate([[0], np.cumsum(of)]) for of in (address, fixed, verb, telling)
    )
    noun |= np.isin(tags, _NUMBERS)
    opening, until = _clauses(texts, to, kinds_of[:, 9] | _spliced(to, relations_of, subject))
    return [
        PhraseEdges(
            needs[begin:end] - begin,
            bad[begin:end],
            cut[begin : end + 1],
            addresses[begin : end + 1],
            to[begin:end] - begin,
            since[begin:end] - begin,
            told[begin : end + 1],
            noun[begin:end],
            finite[begin : end + 1],
            verbs[begin : end + 1],
            governed[begin:end],
            (joining & before)[begin:end],
            (describing & before)[begin:end],
            opening[begin:end] - begin,
            until[begin:end] - begin,
            bool(end > begin and texts.parsed[begin]),
        )
        for begin, end in texts.bounds
    ]


def _clauses(
    texts: Texts,
    to: NDArray[np.int64],
    whole: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where clauses that the text asserts begin, by their heads, and what they end after."""
    count = len(to)
    own, to = np.arange(count), np.clip(to, 0, max(0, count - 1))
    starts = texts[SENT_START].astype(np.int64) == 1
    starts[[begin for begin, end in texts.bounds if begin < end]] = True
    sentence = np.cumsum(starts) - 1
    asked = np.isin(sentence, sentence[texts[ORTH] == _QUESTION])
    skipped = among(texts[LOWER], _ARTICLES) | (texts[IS_PUNCT] > 0) | (texts[IS_SPACE] > 0)
    first = np.full(int(starts.sum()), count)
    np.minimum.at(first, sentence[~skipped], own[~skipped])
    opening = np.where((to == own) & ~asked & texts.parsed, first[sentence], -1)
    # a condition's clause, hearsay behind the claim, a preposition such as "without"
    limiting = among(texts[LOWER], _LIMITING) & (to != own)
    needed = whole | limiting
    needed[to[limiting]] |= to[to[limiting]] != to[limiting]
    until, places = own.copy(), np.flatnonzero(needed & (to != own))
    while True:
        before = until.copy()
        np.maximum.at(until, to[places], before[places])
        if (before == until).all():
            return opening, until


def _spliced(
    to: NDArray[np.int64], relations: NDArray[np.uint64], subject: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which clauses follow another without a conjunction: "It works, a neighbour claimed"."""
    own, above = np.zeros(len(to), dtype=bool), np.clip(to, 0, max(0, len(to) - 1))
    own[above[subject]] = True
    own[above[relations == _CC]] = False
    return np.asarray(own & (relations == _CONJ))


def _governed(
    texts: Texts, to: NDArray[np.int64], below: NDArray[np.bool_], denying: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which tokens are in another's clause, below a negation, or in a question; which do ask."""
    sentence = np.cumsum(texts[SENT_START].astype(np.int64) == 1)
    asked = np.unique(sentence[texts[ORTH] == _QUESTION])
    found = (below | np.isin(sentence, asked)) & texts.parsed
    found[to[denying]] = True
    # verbs behind "did" are easily taken for nouns
    asked = np.intersect1d(asked, sentence[among(texts[LOWER], _DO)])
    above = to
    while len(above):  # of each token the ancestor at twice the distance
        found = found | found[above]
        further = above[above]
        if (further == above).all():
            break
        above = further
    return found, np.isin(sentence, asked) & texts.parsed


def _cuts(texts: Texts, first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Before which tokens a word is cut."""
    spaced = np.concatenate([[0], np.cumsum(texts[SPACY] > 0)])
    blanks = [
        end - begin < 2 or bool(spaced[end] - spaced[begin] >= BLANKS * (end - begin))
        for begin, end in texts.bounds
    ]
    near = np.repeat(blanks, [b - a for a, b in texts.bounds])
    left = np.flatnonzero((texts[SPACY] == 0) & near & ~first[1:])
    left = left[left + 1 < len(near)]
    cut = np.zeros(len(near) + 1, dtype=bool)
    words, places = np.unique(texts[ORTH][np.concatenate([left, left + 1])], return_inverse=True)
    written = [texts.strings[word] for word in words.tolist()]
    begin, end = (
        np.array([bool(text) and text[at].isalpha() for text in written], dtype=bool)
        for at in (0, -1)
    )
    before, after = places.reshape(2, -1)
    cut[left + 1] = end[before] & begin[after]
    return cut


def _relations_of(keys: NDArray[np.uint64], strings: Any) -> NDArray[np.bool_]:
    """Whether relations are of the kinds below, in that order. **Shape:** ``(n, 10)``"""
    names = [strings[key] for key in keys.tolist()]
    names = [name if name in _PARTS else name.partition(":")[0] for name in names]
    kinds = (
        _PARTS, _OBJECTS, _CLAUSES, _SUBJECTS, _ASIDE, _JOINING, _MODIFIERS, _DESCRIBING, _BELOW,
        _WHOLE,
    )  # fmt: skip
    return np.array([[name in kind for kind in kinds] for name in names], bool).reshape(-1, 10)


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
_PARTS = frozenset({"compound", "flat", "goeswith", "nmod:desc"})
_OBJECTS = frozenset({
    "flat", "goeswith", "obj", "dobj", "ccomp", "xcomp", "prt", "attr", "acomp",
})  # fmt: skip
#: Relations of what a verb has in a clause, and lacks in a phrase that it begins.
_CLAUSES = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl", "aux", "auxpass"})
#: Those of subjects, of what stands beside a sentence, of what joins a phrase to others, of what
#: follows a noun, and of what stands before it.
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_ASIDE = frozenset({"discourse", "vocative", "intj"})
_JOINING = frozenset({"case", "cc"})
_MODIFIERS = frozenset({"nmod", "prep"})
_DESCRIBING = frozenset({"amod", "compound", "nummod"})
#: Relations of what a clause does not say the same without.
_WHOLE = frozenset({
    "obj", "dobj", "iobj", "attr", "acomp", "xcomp", "ccomp", "csubj", "parataxis", "nummod",
    "prt", "neg", "cop", "aux", "auxpass", "expl", "dep",
})  # fmt: skip
#: Relations of verbs to what may make a claim of theirs untrue.
_BELOW = frozenset({"xcomp", "ccomp", "advcl", "acl", "relcl", "parataxis", "pcomp"})
_NUMBERS = np.array([IDS["NUM"], IDS["SYM"]], dtype=np.uint64)
#: Tags of what names things; of words that are not tagged, too.
_NOUNS = np.array([IDS[tag] for tag in ("NOUN", "PROPN", "X", "")], dtype=np.uint64)
_TELLING = np.array(
    [IDS[tag] for tag in ("NOUN", "PROPN", "VERB", "ADJ", "X", "")], dtype=np.uint64
)
_VAGUE, _QUANTITIES, _GREETINGS, _NEGATIONS = (
    np.sort(word_keys(sorted(of))) for of in (VAGUE, QUANTITIES, GREETINGS, NEGATIONS)
)
#: What is known of features that were read, by their keys.
_verbs: dict[int, int] = {}
#: Kinds of verbs, and negations.
_FINITE, _PAST, _PRESENT, _NOT = 1, 2, 3, 4
#: How names of accounts begin.
_ACCOUNT = np.uint64(get_string_id("@"))
#: What follows a label.
_COLON = np.uint64(get_string_id(":"))
_ARTICLES = np.sort(word_keys(["the", "a", "an", "and", "but"]))
_LIMITING = np.sort(
    word_keys(sorted((NEGATIONS | LIMITS | CONDITIONS) - {"no", "last", "next", "up", "over"}))
)
_CC, _CONJ = (np.uint64(get_string_id(name)) for name in ("cc", "conj"))
_DO = np.sort(word_keys(["do", "does", "did"]))
_QUESTION = np.uint64(get_string_id("?"))
