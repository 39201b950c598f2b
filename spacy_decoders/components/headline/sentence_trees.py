"""Sentences as trees of words that stay or go together, read from a parsed text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, IS_PUNCT, IS_SPACE, IS_STOP, LIKE_EMAIL, LIKE_URL, LOWER, ORTH
from spacy.tokens import Span, Token

from ...decoders.path import SubtreeProblem, TreeKnapsack
from ...errors import InfeasibleError
from .headlines import capitalised
from .meaning import HYPHENS, MARKS, TIMES, needed_tokens
from .reading import Texts, is_picture

__all__ = ["SentenceTree", "is_word", "lead_of", "token_values", "written"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What a word costs: the selection of words must expect it in the title more often than this.
COST = 0.06
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5
#: Relations of what a clause is about begin so; those of greetings and of who is greeted.
SUBJECTS = ("nsubj", "csubj", "expl")
ADDRESSING = frozenset({"vocative", "discourse", "intj"})
#: Relations of punctuation that is not read aloud.
SILENT = frozenset({"", "punct", "ROOT"})
#: Punctuation that no blank precedes.
CLOSING = frozenset({",", ":", ";", ")"})


def is_word(token: Token) -> bool:
    """Whether it is read: spaCy counts percent signs and owners' apostrophes among punctuation."""
    silent = token.is_space or (token.is_punct and token.dep_ in SILENT)
    return not silent and not is_picture(token.text)


def lead_of(root: Token, number: int) -> float:
    """What a sentence with this root scores beside its words, the one of this number."""
    lead = LEAD / (1.0 + number)
    subjects = [child for child in root.children if child.dep_.startswith(SUBJECTS)]
    if any(child.dep_.startswith("nsubj") and _is_pronoun(child) for child in subjects):
        return lead - PRONOUN
    return lead if subjects or root.pos_ in ("VERB", "") else lead - FRAGMENT


def _is_pronoun(token: Token) -> bool:
    return token.pos_ == "PRON" or token.tag_ == "PRP"


def token_values(texts: Texts, chances: Floats) -> Floats:
    """What each token adds to a sentence that keeps it, given how likely it is in the title.

    **Shape of both:** ``(tokens,)``
    """
    beside, silent = texts.having(DEP, ADDRESSING.__contains__, SILENT.__contains__)
    read = (texts[IS_SPACE] == 0) & ~((texts[IS_PUNCT] > 0) & silent)
    read &= ~texts.having(ORTH, is_picture)
    address = (texts[LIKE_URL] > 0) | (texts[LIKE_EMAIL] > 0)
    aside = (texts[IS_STOP] > 0) | beside | texts.having(LOWER, TIMES.__contains__)
    values = np.where(aside, 0.0, chances) - COST
    # an address names nobody that a reader knows
    return np.where(read, np.where(address, -1.0, values), 0.0)


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """A sentence as a tree of words that stay or go together."""

    #: The sentence.
    tokens: Sequence[Token]
    #: The tree of groups of tokens of which none can stay without the others.
    problem: SubtreeProblem
    #: The places of the tokens of each group, ascending.
    groups: list[list[int]]
    #: For each required word the groups that have it.
    wanted: list[frozenset[int]]
    #: Numbers of words that the sentence can be shortened to, ascending.
    sizes: list[int]

    @classmethod
    def of(
        cls, sentence: Span, values: Floats, lead: float, required: Sequence[str]
    ) -> SentenceTree:
        """Read a sentence.

        Parameters
        ----------
        sentence
            One of a parsed text.
        values
            What each token adds. **Shape:** ``(tokens,)``
        lead
            What it scores beside.
        required
            Lower-cased words, all of which it has.
        """
        tokens, begin = list(sentence), sentence.start
        root = sentence.root.i - begin
        heads = [token.head.i - begin for token in tokens]
        for place, head in enumerate(heads):  # one tree, whatever the parser made of it
            if head == place or not 0 <= head < len(tokens):
                heads[place] = root
        needed = needed_tokens(tokens, heads, root)
        children: list[list[int]] = [[] for _ in tokens]
        for place, head in enumerate(heads):
            if place != root:
                children[head].append(place)
        groups, parents, number = [[root]], [-1], {root: 0}
        order = [root]
        for head in order:
            for place in children[head]:
                own = number[head]
                if not needed[place]:
                    parents.append(own)
                    groups.append([])
                    own = len(parents) - 1
                number[place] = own
                groups[own].append(place)
                order.append(place)
        scores = np.array([values[group].sum() for group in groups])
        scores[0] += lead
        counts = np.array([is_word(token) for token in tokens])
        problem = SubtreeProblem(scores, parents, [int(counts[group].sum()) for group in groups])
        wanted = [
            frozenset(number[place] for place, token in enumerate(tokens) if token.lower_ == word)
            for word in required
        ]
        return cls(tokens, problem, list(map(sorted, groups)), wanted, _attainable(problem))

    def limit(self) -> float:
        """More than any part scores."""
        scores = self.problem.scores
        return float(scores[0] + np.maximum(scores[1:], 0.0).sum()) + 1e-9

    def shortened(
        self, least: int, most: int, max_chars: int | None
    ) -> tuple[float, float, list[Token]]:
        """The best part with so many words, its score, and a bound on that of all of them.

        The tokens are none if no part was found, and the bound minus infinity if there is none.
        """
        problem = self.problem
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
            sizes.insert(0, self._characters())
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

    def _characters(self) -> Integers:
        """What each group takes at least, in characters with blanks."""
        lengths = np.zeros(len(self.tokens), dtype=np.int64)
        blank = False
        for place in range(len(self.tokens) - 1, -1, -1):
            token = self.tokens[place]
            # a blank follows a word, or else the punctuation after it
            blank = bool(token.whitespace_) or blank
            if is_word(token):
                lengths[place] = len(token.text) + blank
                blank = False
        return np.array([lengths[group].sum() for group in self.groups])

    def chosen(self, nodes: list[int]) -> list[Token]:
        """The tokens of a headline, in order."""
        tokens = self.tokens
        kept = {place for node in nodes for place in self.groups[node]}
        for (place,) in (group for group in self.groups if len(group) == 1):
            # a mark of the whole sentence stays where the words around it do
            if tokens[place].text in MARKS:
                around = place - 1 in kept and not kept.isdisjoint(range(place + 1, place + 4))
                kept = kept | {place} if around else kept - {place}
        kept -= {
            place
            for place in kept
            if tokens[place].text in HYPHENS and not {place - 1, place + 1} <= kept
        }
        words = [place for place in sorted(kept) if is_word(tokens[place])]
        found: list[Token] = []
        for place in sorted(kept) if words else ():
            token = tokens[place]
            between = words[0] < place and (place < words[-1] or token.text == ")")
            # marks stay with what they set off, one between two words
            marks = token.text in MARKS and found and (token.text == "(" or is_word(found[-1]))
            if is_word(token) or (between and (token.text in HYPHENS or marks)):
                found.append(token)
        brackets = {"(", ")"}
        whole = len(brackets & {token.text for token in found}) != 1
        return [token for token in found if whole or token.text not in brackets]


def written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    parts: list[str] = []
    for token, following in zip_longest(tokens, tokens[1:]):
        blank = " " if following is None or following.i > token.i + 1 else token.whitespace_
        if token.text == "(" or (following is not None and _follows_closely(following)):
            blank = ""
        parts.append(token.text + blank)
    return capitalised("".join(parts))


def _follows_closely(token: Token) -> bool:
    """Whether no blank precedes it, even where words between are left out."""
    return token.text in CLOSING or (token.text in ("'", "’", "'s", "’s") and is_word(token))


def _attainable(problem: SubtreeProblem) -> list[int]:
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
