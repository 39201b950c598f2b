"""Sentences as trees of words that stay or go together, read from a parsed text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    DEP,
    HEAD,
    IS_PUNCT,
    IS_SPACE,
    IS_STOP,
    LIKE_EMAIL,
    LIKE_NUM,
    LIKE_URL,
    LOWER,
    MORPH,
    ORTH,
    POS,
    PREFIX,
    SPACY,
    TAG,
)
from spacy.parts_of_speech import IDS
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span, Token

from ...decoders.path import SubtreeProblem, TreeKnapsack
from ...errors import InfeasibleError
from ...models.headline.meaning import TIMES, attach_conjuncts, set_off, words_of_meaning
from ...models.headline.words import TokenFacts
from .reading import Texts, among

if TYPE_CHECKING:
    from ...models.headline.compression import Compression

__all__ = ["ScoredTokens", "SentenceTree", "is_word", "token_facts", "written"]

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What a word costs: the selection of words must expect it in the title more often than this.
COST = 0.06
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5
#: Relations of what a clause is about begin so.
SUBJECTS = ("nsubj", "csubj", "expl")
#: Punctuation that is read aloud; "#" is before a number.
SIGNS = frozenset("%‰&§@")
#: Punctuation that no blank precedes.
CLOSING = frozenset({",", ":", ";", ")"})
#: A relation that is always required.
REQUIRED_PART = "fixed"


def _keys(words: Iterable[str]) -> NDArray[np.uint64]:
    return np.sort(np.array([get_string_id(word) for word in words], dtype=np.uint64))


_TIMES = _keys(TIMES)
#: Punctuation that may be read aloud, and what may join two words to one.
_SIGNS, _HYPHENS, _DEGREE = _keys(SIGNS | set("'’#")), _keys("-–/"), _keys("°")
#: Relations of greetings and of who is greeted.
_ADDRESSING = _keys(("vocative", "discourse", "intj"))
#: Words of talk between "I" and "you".
_TALK = _keys(("i", "you", "me", "my", "your", "we", "us", "our"))
#: Tags of English words that ask or begin a relative clause; others have their kind of pronoun.
_ASKING_TAGS = _keys(("WDT", "WP", "WP$", "WRB"))
_PERSONAL, _ADJECTIVE = _keys(("PRP",)), _keys(("amod",))
#: Relations of what may be a part of its head's name.
_PARTS_OF_NAMES = _keys(("amod", "nmod"))


def token_facts(texts: Texts) -> list[TokenFacts]:
    """Read what short sentences and the judge of headlines need of each text."""
    strings, columns = texts.strings if texts.units else {}, texts

    def by_value(attribute: int, test: Callable[[str], bool]) -> Booleans:
        """Whether the value of each token passes a test."""
        keys, places = np.unique(columns[attribute], return_inverse=True)
        passed = np.array([test(strings[key]) for key in keys.tolist()], dtype=bool)
        return passed[places.reshape(-1)]

    punct, space = columns[IS_PUNCT] > 0, columns[IS_SPACE] > 0
    address = (columns[LIKE_URL] > 0) | (columns[LIKE_EMAIL] > 0)
    read = ~(punct | space)
    ends = [end for _, end in texts.bounds]
    for place in np.flatnonzero(punct & among(columns[ORTH], _SIGNS)).tolist():
        number = bisect_right(ends, place)
        read[place] = is_word(texts.units[number][place - texts.bounds[number][0]])
    # a hyphen is inside of a compound
    tight = columns[SPACY] == 0
    hyphen = punct & among(columns[ORTH], _HYPHENS) & tight
    hyphen[1:] &= tight[:-1]
    hyphen[[begin for begin, end in texts.bounds if begin < end]] = False
    joining = hyphen | (columns[ORTH] == _DEGREE)
    # "Central" belongs to the name of a bank
    own, upper = np.arange(len(punct)), by_value(PREFIX, str.isupper)
    to = own + columns[HEAD].view(np.int64)
    named = among(columns[DEP], _PARTS_OF_NAMES) & upper & (to > own) & (to <= own + 3)
    named &= upper[np.clip(to, 0, max(0, len(own) - 1))]
    stop, addressed = columns[IS_STOP] > 0, among(columns[DEP], _ADDRESSING)
    like_num, kinds = columns[LIKE_NUM] > 0, columns[POS]
    pronoun = (kinds == IDS["PRON"]) | (columns[TAG] == _PERSONAL)
    arrays: dict[str, Any] = {
        "kinds": kinds,
        "heads": to - texts.begins,
        "read": read,
        "content": ~(stop | among(columns[LOWER], _TIMES) | addressed),
        "stop": stop,
        "punct": punct,
        "space": space,
        "address": address,
        "odd": address | ~by_value(PREFIX, str.isalnum) | (kinds == IDS["X"]),
        "talk": among(columns[LOWER], _TALK),
        "subjects": by_value(DEP, lambda relation: relation.startswith(SUBJECTS)),
        "pronouns": by_value(DEP, lambda relation: relation.startswith("nsubj")) & pronoun,
        "parts": joining | named,
        "joining": joining,
        "like_number": like_num,
        "numbers": like_num | (kinds == IDS["NUM"]),
        "asking": among(columns[TAG], _ASKING_TAGS) | by_value(MORPH, _asks),
        "ranks": (columns[DEP] == _ADJECTIVE) & by_value(MORPH, _ranks),
    }
    lower = [strings[key] for key in columns[LOWER].tolist()]
    relations = [strings[key] for key in columns[DEP].tolist()]
    return [
        TokenFacts(
            lower[begin:end],
            relations[begin:end],
            **{name: array[begin:end] for name, array in arrays.items()},
        )
        for begin, end in texts.bounds
    ]


@dataclass(frozen=True, eq=False)
class ScoredTokens:
    """The tokens of a parsed text, and what each adds to a sentence that keeps it."""

    #: The document or span.
    unit: Doc | Span
    #: What is known of its tokens.
    facts: TokenFacts
    #: **Shape:** ``(tokens,)``
    scores: Floats
    #: What a sentence costs that has each token as its root. **Shape:** ``(tokens,)``
    costs: Floats

    @classmethod
    def of(cls, unit: Doc | Span, facts: TokenFacts, chances: Floats) -> ScoredTokens:
        """Score the tokens; `chances` say how likely each is in the title."""
        # an address names nobody that a reader knows
        price = np.where(facts.address, 1.0, COST)
        scores = np.where(facts.read, chances * facts.content - price, 0.0)
        complete = np.isin(facts.kinds, (IDS["VERB"], IDS[""]))
        costs = np.where(complete, 0.0, FRAGMENT)
        for kind, cost in ((facts.subjects, 0.0), (facts.pronouns, PRONOUN)):
            heads = facts.heads[kind & (facts.heads != np.arange(len(kind)))]
            costs[heads[(heads >= 0) & (heads < len(costs))]] = cost
        return cls(unit, facts, scores, costs)

    def roots(self, begin: int, end: int) -> Integers:
        """The tokens of a sentence whose heads are not in it; one should be enough."""
        heads, own = self.facts.heads[begin:end], np.arange(begin, end)
        return np.flatnonzero((heads == own) | (heads < begin) | (heads >= end)) + begin

    def lead(self, root: int, number: int) -> float:
        """What a sentence scores beside its words, the one of this number in the text."""
        return LEAD / (1.0 + number) - float(self.costs[root])

    def ceiling(self, begin: int, end: int, number: int, most: int) -> float:
        """More than any `most` words of a sentence score, whatever its tree."""
        scores = self.scores[begin:end]
        best = np.partition(scores, -most)[-most:] if len(scores) > most else scores
        return float(best[best > 0].sum()) + self.lead(self.roots(begin, end)[0], number) + 1e-9

    def tree(self, begin: int, end: int, number: int, required: Sequence[str]) -> SentenceTree:
        """Read the tree of a sentence, the one of this number in the text."""
        from ...models.headline.compression import compression

        own, facts = slice(begin, end), self.facts
        lower, plain, read = facts.lower[own], facts.relations[own], facts.read[own]
        roots = self.roots(begin, end)
        parsed = facts.heads[own] - begin
        parsed[roots - begin] = roots[0] - begin  # one tree, whatever the parser made of it
        scores = self.scores[own].copy()
        scores[roots[0] - begin] += self.lead(roots[0], number)
        relations = [
            REQUIRED_PART if part else relation
            for part, relation in zip(facts.parts[own].tolist(), plain, strict=True)
        ]
        heads = parsed.copy()
        tied = attach_conjuncts(heads, plain)
        _keep_compounds(facts.joining[own], heads, relations)
        for place in (place for place, word in enumerate(lower) if word == "&"):
            if relations[heads[place]] == "conj":  # of one name: "Marks & Spencer"
                relations[heads[place]] = REQUIRED_PART
        meaning = words_of_meaning(lower, heads, plain, facts.numbers[own], facts.asking[own])
        needed = tied | facts.ranks[own] | meaning
        tree = compression(heads, relations, needed, scores, read.astype(np.int64))
        wanted = [
            frozenset(
                node
                for node, group in enumerate(tree.groups)
                if any(lower[place] == word for place in group.tolist())
            )
            for word in required
        ]
        sizes = attainable_sizes(tree.problem)
        return SentenceTree(self, begin, end, parsed, tree, wanted, sizes)


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """A sentence as a tree of words that stay or go together."""

    #: The text, and where the sentence is in it.
    tokens: ScoredTokens
    begin: int
    end: int
    #: As parsed, within the sentence.
    heads: Integers
    #: The groups and their tree.
    compression: Compression
    #: For each required word the groups that have it.
    wanted: list[frozenset[int]]
    #: Numbers of words that the sentence can be shortened to.
    sizes: list[int]

    def limit(self) -> float:
        """More than any part scores."""
        problem = self.compression.problem
        other = problem.scores[1:]
        return float(problem.scores[0] + other[other > 0].sum()) + 1e-9

    def shortened(
        self, least: int, most: int, max_chars: int | None
    ) -> tuple[float, float, list[Token]]:
        """The best part with so many words, its score, and a bound on that of all of them.

        The tokens are none if no part was found, and the bound minus infinity if there is none.
        """
        problem = self.compression.problem
        sizes, low, high = [problem.sizes], [least], [most]
        numbers = np.arange(len(problem.parents))
        wanted = {groups for groups in self.wanted if 0 not in groups}  # the root always stays
        # words that one group alone has are counted together: all of these groups must stay
        alone = frozenset[int]().union(*(groups for groups in wanted if len(groups) == 1))
        apart = [groups for groups in wanted if not groups & alone]
        for groups, count in [(alone, len(alone)), *((of, 1) for of in apart)]:
            if count:
                sizes.append(np.isin(numbers, list(groups)).astype(np.int64))
                low.append(count)
                high.append(len(groups))
        if max_chars is not None:
            sizes.insert(0, self.weights())
            low.insert(0, 0)
            high.insert(0, max_chars + 1)  # no blank follows the last word
        limited = SubtreeProblem(problem.scores, problem.parents, np.column_stack(sizes))
        bound = -np.inf
        while True:
            try:
                solution = TreeKnapsack().decode(limited, high, low)
            except InfeasibleError:
                return -np.inf, bound, []
            certificate, tokens = solution.certificate, self.chosen(solution.nodes.tolist())
            assert certificate.score is not None
            assert certificate.bound is not None
            bound = max(bound, certificate.bound)  # the first one is the largest
            if max_chars is None or len(written(tokens)) <= max_chars:
                return certificate.score, bound, tokens
            # with its commas it is too long
            high[0] = int(limited.sizes[solution.nodes, 0].sum()) - 1

    def weights(self) -> Integers:
        """What each group takes at least, in characters with blanks and what sets it off."""
        facts, unit = self.tokens.facts, self.tokens.unit
        read = [*facts.read[self.begin : self.end].tolist(), True]
        tokens = [unit[place] for place in range(self.begin, self.end)]
        # a blank follows a word, or else the punctuation after it
        blanks = [False] * len(read)
        for place in range(len(tokens) - 1, -1, -1):
            blanks[place] = bool(tokens[place].whitespace_)
            blanks[place] |= not read[place + 1] and blanks[place + 1]
        found, seen = [], set[int]()
        for group in self.compression.groups:
            words = [place for place in group.tolist() if read[place]]
            # two groups may have a mark in common
            marks = {*self.marks({*self.compression.groups[0].tolist(), *words})} - seen
            seen |= marks
            size = sum(len(tokens[place].text) + blanks[place] for place in words)
            found.append(size + sum(len(tokens[place].text) for place in marks))
        return np.array(found, dtype=np.int64)

    def marks(self, inside: set[int]) -> list[int]:
        """What sets off the kept tokens."""
        own, facts = slice(self.begin, self.end), self.tokens.facts
        words = [place for place in sorted(inside) if facts.read[self.begin + place]]
        return set_off(words, facts.lower[own], self.heads, facts.relations[own], facts.read[own])

    def chosen(self, nodes: list[int]) -> list[Token]:
        """The tokens of a headline, in order."""
        own, facts = slice(self.begin, self.end), self.tokens.facts
        read, joining = facts.read[own], facts.joining[own]
        groups = self.compression.groups
        inside = {place for node in nodes for place in groups[node].tolist()}
        words = sorted(place for place in inside if read[place])
        if not words:
            return []
        # punctuation goes, but for what is inside of a compound of which both parts stay
        kept = {place for place in inside if joining[place] and {place - 1, place + 1} <= inside}
        commas = self.marks(inside)
        unit: Any = self.tokens.unit
        return [unit[self.begin + place] for place in sorted({*words, *kept, *commas})]


def written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    parts: list[str] = []
    for place, token in enumerate(tokens):
        following: Any = tokens[place + 1] if place + 1 < len(tokens) else None
        adjacent = following is not None and following.i == token.i + 1
        blank = token.whitespace_ if adjacent else " "
        if token.text == "(" or (following is not None and following.text in CLOSING):
            blank = ""
        elif (
            following is not None
            and following.text in ("'", "’", "'s", "’s")
            and is_word(following)
        ):
            blank = ""  # of an owner, even where words between are left out
        parts.append(token.text + ("" if following is None else blank))
    text = "".join(parts).strip()
    return text[:1].upper() + text[1:] if text.split(" ")[0].islower() else text


def attainable_sizes(problem: SubtreeProblem) -> list[int]:
    """All sizes that subtrees have, ascending."""
    sizes = problem.sizes.tolist()
    bits = [1 << size for size in sizes]
    for node in range(len(sizes) - 1, 0, -1):
        parent, sums = int(problem.parents[node]), 0
        for size in range(bits[node].bit_length()):
            if bits[node] >> size & 1:
                sums |= bits[parent] << size
        bits[parent] |= sums
    return [size for size in range(bits[0].bit_length()) if bits[0] >> size & 1]


def _ranks(features: str) -> bool:
    """Whether a word with such features says which of several: "highest", "third"."""
    return "Degree=Sup" in features or "NumType=Ord" in features


def _keep_compounds(joining: Booleans, heads: Integers, relations: list[str]) -> None:
    """Make the parts around a hyphen or a degree sign depend on each other, to stay together."""
    for place in np.flatnonzero(joining[1:-1]).tolist():
        left, right = place, place + 2
        if heads[left] == heads[right] and left != heads[left]:
            heads[left] = right
        for one, other in ((left, right), (right, left)):
            if heads[one] == other:
                relations[one] = REQUIRED_PART


def is_word(token: Token) -> bool:
    """Whether it is read: spaCy counts percent signs and ampersands among punctuation."""
    if not token.is_punct:
        return not token.is_space
    if token.text in "'’":  # of a plural's owner
        return token.dep_ == "case" or token.tag_ == "POS"
    if token.text == "#":
        return token.i + 1 < len(token.doc) and token.nbor().like_num
    return token.text in SIGNS and token.dep_ != "punct"


def _asks(features: str) -> bool:
    """Whether a word with such features asks, or begins a relative clause."""
    kinds = dict(part.split("=") for part in features.split("|") if "=" in part)
    return not {"Int", "Rel"}.isdisjoint(kinds.get("PronType", "").split(","))
