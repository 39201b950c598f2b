"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product, zip_longest
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Span, Token

from ...certificate import Certificate
from ...decoders.path import SubtreeProblem, TreeKnapsack
from ...errors import InfeasibleError, ProblemError
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised, limits_of
from .meaning import HYPHENS, MARKS, DependencyTree

__all__ = ["headlines_of_sentences", "sentences_of", "written"]

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5
#: The most ways to choose, of the places that required words have, one for each.
MOST_WAYS = 1000
#: Relations of what a clause is about begin so.
SUBJECTS = ("nsubj", "csubj", "expl")
#: Marks that a headline may have.
ALL_MARKS = MARKS | HYPHENS
#: What no blank precedes, even where words between are left out.
CLOSING = frozenset({",", ":", ";", ")", "'", "’", "'s", "’s"})


def headlines_of_sentences(scored: ScoredUnit, options: HeadlineOptions) -> list[Headline]:
    """Shorten the sentences of a parsed text; the best, best first.

    Where no sentence can have as many words, the largest number below is taken; where the length
    is automatic, else the least above. The certificates compare with the best short sentence of
    the whole text.
    """
    if not scored.unit.doc.has_annotation("DEP"):
        if not scored.words.any():
            return []
        raise ProblemError(
            "mode: 'sentence' shortens sentences along their trees, and the document has "
            "none; add a parser before this component."
        )
    sentences, bound = sentences_of(scored, options), -np.inf
    for least, most in _lengths(sentences, options):
        headlines, bound = _best(sentences, least, most, options.n_best, bound)
        if headlines:
            return headlines
        if bound > -np.inf:  # whether so many words fit `max_chars` is left open
            bound = np.inf
    return []


def _lengths(
    sentences: Sequence[SentenceTree], options: HeadlineOptions
) -> Iterator[tuple[int, int]]:
    """The least and the most words that are tried, one pair after the other."""
    least, most = limits_of(options, USUAL_WORDS)
    yield least, most
    longest = max((int(sentence.words.sum()) for sentence in sentences), default=0)
    yield from ((size, size) for size in range(min(least - 1, longest), 0, -1))
    if options.length == "auto":
        smallest = {sentence.smallest for sentence in sentences}
        yield from ((size, size) for size in sorted(smallest) if size > most)


def sentences_of(scored: ScoredUnit, options: HeadlineOptions) -> list[SentenceTree]:
    """The sentences that have words, all that are required among them."""
    unit: Any = scored.unit  # a span has sentences too, which its stub lacks
    found = []
    required = [*{word.lower(): None for word in options.required or ()}]
    for number, whole in enumerate(unit.sents):
        begin, end = max(0, whole.start - scored.origin), whole.end - scored.origin
        span, words = unit[begin:end], scored.words[begin:end]
        lower = {token.lower_ for token in span} if required else set()
        if words.any() and lower.issuperset(required):
            values, lead = scored.values[begin:end], _lead_of(span.root, number)
            found.append(SentenceTree(span, values, words, lead, required, options.max_chars))
    return found


def _lead_of(root: Token, number: int) -> float:
    """What a sentence with this root scores beside its words, the one of this number."""
    lead, about = LEAD / (1.0 + number), False
    for child in root.children:
        relation = child.dep_
        if relation.startswith("nsubj") and (child.pos_ == "PRON" or child.tag_ == "PRP"):
            return lead - PRONOUN
        about |= relation.startswith(SUBJECTS)
    return lead if about or root.pos_ in ("VERB", "") else lead - FRAGMENT


def _best(
    sentences: Sequence[SentenceTree], least: int, most: int, n_best: int, bound: float
) -> tuple[list[Headline], float]:
    """The best headlines with so many words, and a bound on them, at least the one given.

    The sentences that could be best come first: most are never read as trees.
    """
    found: list[tuple[float, int, list[Token]]] = []  # minus the score, the place, the tokens
    ceilings = np.array([sentence.ceiling(most) for sentence in sentences])
    for place in np.argsort(-ceilings, kind="stable").tolist():
        if len(found) >= n_best and ceilings[place] < -found[n_best - 1][0]:
            bound = max(bound, ceilings[place])
            break
        score, own, tokens = sentences[place].shortened(least, most)
        bound = max(bound, own)
        if tokens:
            found.append((-score, place, tokens))
            found.sort()
    headlines = []
    for loss, _, tokens in found[:n_best]:
        certificate = Certificate.from_bound(
            "TreeKnapsack", -loss, bound, tolerance=1e-9, scale=abs(loss) + 1.0
        )
        indices = [token.i for token in tokens]
        headlines.append(Headline(written(tokens), indices, [], certificate, "sentence"))
    return headlines, bound


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """A sentence of a parsed text, not read as a tree before that is worth it."""

    span: Span
    #: What each token adds, and whether it is a word. **Shape of both:** ``(tokens,)``
    values: Floats
    words: Booleans
    #: What the sentence scores beside.
    lead: float
    #: Lower-cased words that must stay, all of which it has, and the most characters.
    required: Sequence[str]
    max_chars: int | None

    def ceiling(self, most: int) -> float:
        """More than any `most` words of it score, whatever its tree."""
        best = np.sort(self.values)[-most:]
        return float(best[best > 0].sum()) + self.lead + 1e-9

    @cached_property
    def problems(self) -> list[tuple[list[list[int]], SubtreeProblem]]:
        """The groups of tokens that stay or go together, and the tree of these groups.

        Where a required word stands in several places, there is a tree for each.
        """
        tree = DependencyTree(self.span)
        places = [[i for i, of in enumerate(tree.words) if of == word] for word in self.required]
        ways = prod(map(len, places))
        if ways > MOST_WAYS:
            raise ProblemError(
                f"required: {ways:,} choices of places where a sentence has these words, of which "
                f"at most {MOST_WAYS:,} are tried; leave out the most frequent of them."
            )
        # a word takes at least its own characters and its blank
        span: Any = self.span  # it has `to_array` too, which its stub lacks
        lengths = span.to_array([LENGTH, SPACY]).astype(np.int64).sum(axis=1)
        sizes = np.stack([lengths, np.ones_like(lengths)], axis=1) * self.words[:, None]
        if self.max_chars is None:
            sizes = sizes[:, 1:]
        problems = []
        for wanted in product(*places):
            groups, parents = tree.groups(wanted)
            scores = np.array([self.values[group].sum() for group in groups])
            scores[0] += self.lead
            table = [sizes[group].sum(axis=0) for group in groups]
            problems.append((groups, SubtreeProblem(scores, parents, table)))
        return problems

    @property
    def smallest(self) -> int:
        """The fewest words that it can be shortened to."""
        return min(int(problem.sizes[0, -1]) for _, problem in self.problems)

    def shortened(self, least: int, most: int) -> tuple[float, float, list[Token]]:
        """The best part with so many words, its score, and a bound on that of all of them.

        The tokens are none if no part was found, and the bound minus infinity if there is none.
        """
        best: tuple[float, list[Token]] = -np.inf, []
        bound, limit = -np.inf, self.max_chars
        for groups, problem in self.problems:
            # no blank follows the last word
            high, low = ([most], [least]) if limit is None else ([limit + 1, most], [0, least])
            while True:
                try:
                    solution = TreeKnapsack().decode(problem, high, low)
                except InfeasibleError:
                    break
                certificate: Any = solution.certificate
                bound = max(bound, certificate.bound)
                tokens = self.chosen(groups, solution.nodes.tolist())
                if limit is None or len(written(tokens)) <= limit:
                    best = max(best, (certificate.score, tokens), key=itemgetter(0))
                    break
                # with its commas it is too long
                high[0] = int(problem.sizes[solution.nodes, 0].sum()) - 1
        return best[0], bound, best[1]

    def chosen(self, groups: list[list[int]], nodes: list[int]) -> list[Token]:
        """The tokens of a headline of some of the groups, in order."""
        tokens, read, root = list(self.span), self.words, self.span.root
        kept = {place for node in nodes for place in groups[node]}
        words = [place for place in sorted(kept) if read[place]]
        found: list[int] = []
        for place in sorted(kept) if words else ():
            text, last = tokens[place].text, found[-1] if found else 0
            if read[place]:
                found.append(place)
            elif text in ALL_MARKS and words[0] < place and (place < words[-1] or text == ")"):
                if text in HYPHENS or tokens[place].head == root:
                    stays = {place - 1, place + 1} <= kept
                else:
                    # the second of two commas goes with the first and what was between them
                    closing = text == "," and tokens[place].head.i < tokens[place].i
                    gone = closing and last + 1 < place and tokens[last + 1].text == ","
                    stays = not gone and (text == "(" or read[last])
                if stays:
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
