"""Which phrases of a text can stand by themselves, by its parse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    DEP,
    HEAD,
    LIKE_EMAIL,
    LIKE_URL,
    LOWER,
    MORPH,
    ORTH,
    POS,
    PREFIX,
    SENT_START,
)
from spacy.parts_of_speech import IDS
from spacy.strings import get_string_id

from ...models.headline.meaning import NEGATIONS
from ...models.headline.phrases import Phrases
from .reading import Texts, among, word_keys

__all__ = ["MOST_CANDIDATES", "PhraseEdges", "phrase_edges"]

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Candidates of a very long text; as many leave open whether one left out is better.
MOST_CANDIDATES = 20_000
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
_KINDS = (PARTS, OBJECTS, SUBJECTS, ASIDE, JOINING, BELOW)
#: Tags of what names things, and of what noun phrases end with.
_NOUNS, _LAST = (
    np.array([IDS[tag] for tag in tags], dtype=np.uint64)
    for tags in (("NOUN", "PROPN", "X", ""), ("NOUN", "PROPN", "X", "", "NUM", "SYM"))
)
_NEGATIONS, _DO = np.sort(word_keys(sorted(NEGATIONS))), np.sort(word_keys(["do", "does", "did"]))
#: How names of accounts begin, and how questions end.
_ACCOUNT, _QUESTION = (np.uint64(get_string_id(sign)) for sign in "@?")


class PhraseEdges(NamedTuple):
    """Where phrases can begin and end, for the tokens of all texts end to end."""

    #: The token that each depends on. **Shape of all:** ``(tokens,)``
    heads: Integers
    #: The place of the word after each token that a phrase cannot end without, or -1.
    needs: Integers
    #: Which tokens no phrase begins with.
    bad: Booleans
    #: Which tokens a phrase can be made of words that depend on: nouns, verbs without a subject.
    named: Booleans
    #: Which tokens are nouns, and which noun phrases end with.
    nouns: Booleans
    last: Booleans
    #: Which tokens are below what may make a claim about them untrue: a negation, another clause,
    #: a question.
    governed: Booleans
    #: The number of tokens before each that no phrase has, addresses and finite verbs, and of
    #: verbs. **Shape:** ``(tokens + 1,)``
    excluded: Integers
    verbs: Integers

    def whole(self, starts: Integers, ends: Integers, parsed: bool) -> Booleans:
        """Which spans can stand by themselves: noun phrases and verbs with what they govern."""
        from ...models.headline.kernels.phrases import phrase_heads

        good = self.excluded[ends] == self.excluded[starts]
        if not parsed:
            return np.asarray(good)
        heads = phrase_heads(self.heads, self.needs, starts, ends)
        good &= (heads >= 0) & ~self.bad[starts] & self.named[heads]
        # "gene mutated" has lost what the gene is mutated in
        good &= self.last[ends - 1] | (heads == ends - 1) | ~self.nouns[heads]
        good &= ~self.governed[heads] | (self.verbs[ends] == self.verbs[starts])
        return np.asarray(good)

    def candidates(self, phrases: Phrases, begin: int, parsed: bool) -> Integers:
        """The phrases of the text that begins there that headlines may have.

        They have no stem twice. All of them are candidates where nothing is parsed or excluded.
        Of a very long text the rarer ones are left out.
        """
        whole = np.zeros(len(phrases), dtype=bool)
        good = self.whole(phrases.starts + begin, phrases.ends + begin, parsed)
        whole[phrases.phrase[good]] = True
        if not whole.any() and not parsed:
            whole[:] = True
        found = np.flatnonzero(~phrases.repeats & whole)
        order = np.argsort(-phrases.counts[found], kind="stable")
        return np.sort(found[order[:MOST_CANDIDATES]])


def phrase_edges(texts: Texts) -> PhraseEdges:
    """Read which phrases of the texts can stand by themselves."""
    heads, tags, parsed = texts[HEAD].astype(np.int64), texts[POS], texts.parsed
    count = len(heads)
    own = np.arange(count)
    to = own + heads
    ends = np.repeat([end for _, end in texts.bounds], [b - a for a, b in texts.bounds])
    before = (to > own) & (to < ends)
    above = np.clip(to, 0, max(0, count - 1))
    relations, places = np.unique(texts[DEP], return_inverse=True)
    kinds = np.array([_kinds(texts.strings[key]) for key in relations.tolist()], dtype=bool)
    part, of_object, subject, aside, joining, below = kinds.reshape(-1, len(_KINDS))[
        places.reshape(-1)
    ].T
    features, places = np.unique(texts[MORPH], return_inverse=True)
    forms = np.array([_form(texts.strings[key]) for key in features.tolist()], dtype=bool)
    finite, past, negative = forms.reshape(-1, 3)[places.reshape(-1)].T
    denying = negative | among(texts[LOWER], _NEGATIONS)
    needs = np.where(part & before, to, -1)
    objects = np.flatnonzero(of_object & (to >= texts.begins) & (to < own))
    np.maximum.at(needs, to[objects], objects)

    noun, verb = np.isin(tags, _NOUNS), tags == IDS["VERB"]
    name = tags == IDS["PROPN"]
    bad = (tags == IDS["INTJ"]) | (joining & before)
    bad[1:] |= name[1:] & name[:-1] & ((heads[1:] == -1) | (heads[:-1] == 1))
    # what is negated before the phrase begins would say the contrary
    bad[above[denying & before]] = True
    governed, asking = _governed(texts, above, below, denying)
    lacking = np.zeros(count, dtype=bool)
    lacking[above[subject]] = True
    named = (noun | (verb & ~past & ~below & ~lacking)) & ~aside & ~asking
    address = (texts[LIKE_URL] > 0) | (texts[LIKE_EMAIL] > 0) | (texts[PREFIX] == _ACCOUNT)
    excluded, verbs = (
        np.concatenate([[0], np.cumsum(of)])
        for of in (address | (parsed & (finite | (tags == IDS["AUX"]))), verb)
    )
    return PhraseEdges(
        to, needs, bad, named, noun, np.isin(tags, _LAST), governed, excluded, verbs
    )


def _governed(
    texts: Texts, above: Integers, below: Booleans, denying: Booleans
) -> tuple[Booleans, Booleans]:
    """Which tokens are in another's clause, below a negation, or in a question; which do ask."""
    sentence = np.cumsum(texts[SENT_START].astype(np.int64) == 1)
    asked = np.unique(sentence[texts[ORTH] == _QUESTION])
    found = below | np.isin(sentence, asked)
    found[above[denying]] = True
    while len(above):  # of each token the ancestor at twice the distance
        found = found | found[above]
        further = above[above]
        if (further == above).all():
            break
        above = further
    # verbs behind "did" are easily taken for nouns
    return found, np.isin(sentence, np.intersect1d(asked, sentence[among(texts[LOWER], _DO)]))


def _kinds(relation: str) -> list[bool]:
    """Whether a relation is of each kind."""
    name = relation if relation in PARTS else relation.partition(":")[0]
    return [name in kind for kind in _KINDS]


def _form(features: str) -> tuple[bool, bool, bool]:
    """Whether features are those of a finite verb, of a past participle, of a negation."""
    given: Any = set(features.split("|"))
    return (
        "VerbForm=Fin" in given and "Mood=Imp" not in given,
        {"VerbForm=Part", "Tense=Past"} <= given,
        "Polarity=Neg" in given,
    )
