"""Sentences as trees of words that stay or go together, read from a parsed text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_STOP
from spacy.tokens import Span, Token

from ...decoders.path import SubtreeProblem, TreeKnapsack
from ...errors import InfeasibleError
from .headlines import capitalised
from .meaning import HYPHENS, MARKS, needed_tokens
from .reading import Texts

__all__ = ["SentenceTree", "lead_of", "token_values", "written"]

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

#: What a word costs: the selection of words must expect it in the title more often than this.
COST = 0.06
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5
#: Relations of what a clause is about begin so.
SUBJECTS = ("nsubj", "csubj", "expl")
#: What no blank precedes, even where words between are left out.
CLOSING = frozenset({",", ":", ";", ")", "'", "’", "'s", "’s"})


def lead_of(root: Token, number: int) -> float:
    """What a sentence with this root scores beside its words, the one of this number."""
    lead, about = LEAD / (1.0 + number), False
    for child in root.children:
        relation = child.dep_
        if relation.startswith("nsubj") and (child.pos_ == "PRON" or child.tag_ == "PRP"):
            return lead - PRONOUN
        about |= relation.startswith(SUBJECTS)
    return lead if about or root.pos_ in ("VERB", "") else lead - FRAGMENT


def token_values(texts: Texts, chances: Floats) -> Floats:
    """What each token adds to a sentence that keeps it, given how likely it is in the title.

    **Shape of both:** ``(tokens,)``
    """
    aside = (texts.columns[IS_STOP] > 0) | texts.relations["aside"]
    values = np.where(aside, 0.0, chances) - COST
    # an address names nobody that a reader knows
    return np.where(texts.read, np.where(texts.addresses, -1.0, values), 0.0)


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """A sentence as a tree of words that stay or go together, not read before that is worth it."""

    #: The sentence, of a parsed text.
    span: Span
    #: What each token adds, and whether it is a word. **Shape of both:** ``(tokens,)``
    values: Floats
    words: Booleans
    #: What the sentence scores beside.
    lead: float
    #: Lower-cased words, all of which it has.
    required: tuple[str, ...]

    def ceiling(self, most: int) -> float:
        """More than any `most` words of it score, whatever its tree."""
        best = np.sort(self.values)[-most:]
        return float(best[best > 0].sum()) + self.lead + 1e-9

    @cached_property
    def tokens(self) -> list[Token]:
        """Its tokens."""
        return list(self.span)

    @property
    def groups(self) -> list[list[int]]:
        """The places of the tokens of each group, of which none can stay without the others."""
        return self._tree[0]

    @cached_property
    def problem(self) -> SubtreeProblem:
        """The tree of groups."""
        groups, parents = self._tree
        scores = np.array([self.values[group].sum() for group in groups])
        scores[0] += self.lead
        return SubtreeProblem(scores, parents, [int(self.words[of].sum()) for of in groups])

    @cached_property
    def sizes(self) -> list[int]:
        """Numbers of words that the sentence can be shortened to, ascending."""
        return _attainable(self.problem)

    @cached_property
    def _tree(self) -> tuple[list[list[int]], list[int]]:
        """The groups, and the parent of each."""
        tokens, begin = self.tokens, self.span.start
        root = self.span.root.i - begin
        heads = [token.head.i - begin for token in tokens]
        for place, head in enumerate(heads):  # one tree, whatever the parser made of it
            if head == place or not 0 <= head < len(tokens):
                heads[place] = root
        needed = needed_tokens(tokens, heads, root)
        children: list[list[int]] = [[] for _ in tokens]
        for place, head in enumerate(heads):
            if place != root:
                children[head].append(place)
        groups, parents, number, order = [[root]], [-1], {root: 0}, [root]
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
        return list(map(sorted, groups)), parents

    def shortened(
        self, least: int, most: int, max_chars: int | None
    ) -> tuple[float, float, list[Token]]:
        """The best part with so many words, its score, and a bound on that of all of them.

        The tokens are none if no part was found, and the bound minus infinity if there is none.
        """
        problem = self.problem
        sizes: list[Any] = [problem.sizes]
        low, high = [least], [most]
        numbers = np.arange(len(problem.parents))
        # for each required word the groups that have it; that of the root always stays
        having = [
            frozenset(
                number
                for number, group in enumerate(self.groups)
                if any(self.tokens[place].lower_ == word for place in group)
            )
            for word in self.required
        ]
        wanted = {groups for groups in having if 0 not in groups}
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

    def _characters(self) -> list[int]:
        """What each group takes at least, in characters with blanks."""
        lengths = np.zeros(len(self.tokens), dtype=np.int64)
        blank = False
        for place in range(len(self.tokens) - 1, -1, -1):
            token = self.tokens[place]
            # a blank follows a word, or else the punctuation after it
            blank = bool(token.whitespace_) or blank
            if self.words[place]:
                lengths[place] = len(token.text) + blank
                blank = False
        return [int(lengths[group].sum()) for group in self.groups]

    def chosen(self, nodes: list[int]) -> list[Token]:
        """The tokens of a headline, in order."""
        tokens, read, groups = self.tokens, self.words, self.groups
        kept = {place for node in nodes for place in groups[node]}
        for place, *others in groups:
            # a mark of the whole sentence stays where the words around it do
            if not others and tokens[place].text in MARKS:
                around = place - 1 in kept and not kept.isdisjoint(range(place + 1, place + 4))
                kept = kept | {place} if around else kept - {place}
        # the second of two commas goes with the first, wherever the parser puts it
        kept -= {
            place
            for before, place in pairwise(sorted(kept))
            if "," == tokens[place].text == tokens[before + 1].text
            and before + 1 < place
            and tokens[place].head.i < tokens[place].i  # those of a list belong to what follows
        }
        words = [place for place in sorted(kept) if read[place]]
        found: list[int] = []
        for place in sorted(kept) if words else ():
            text = tokens[place].text
            between = words[0] < place and (place < words[-1] or text == ")")
            if text in HYPHENS:  # a mark stays with what it joins or sets off
                stays = {place - 1, place + 1}.issubset(words)
            else:  # one between two words
                stays = text in MARKS and bool(found) and (text == "(" or read[found[-1]])
            if read[place] or (between and stays):
                found.append(place)
        brackets = {tokens[place].text for place in found} & {"(", ")"}
        lone = brackets if len(brackets) == 1 else set[str]()
        return [tokens[place] for place in found if tokens[place].text not in lone]


def written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    parts: list[str] = []
    for token, following in zip_longest(tokens, tokens[1:]):
        blank = " " if following is None or following.i > token.i + 1 else token.whitespace_
        if token.text == "(" or (following is not None and following.text in CLOSING):
            blank = ""
        parts.append(token.text + blank)
    return capitalised("".join(parts))


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
