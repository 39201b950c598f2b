"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc

from ...certificate import Certificate
from ...errors import ProblemError
from .headlines import Headline
from .sentence_trees import ScoredTokens, SentenceTree, is_word, written

__all__ = ["USUAL_WORDS", "ShortSentences"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)


class SentencePlace(NamedTuple):
    """Where a sentence is in its text, and how many are before it."""

    begin: int
    end: int
    number: int


@dataclass(frozen=True, eq=False)
class ShortSentences:
    """Shortens the sentences of a text, and ranks them."""

    #: Those of a parsed document or span.
    tokens: ScoredTokens
    #: Words of the result; where no sentence can have so many, the largest number below them.
    least: int
    most: int
    #: The most characters, or None.
    max_chars: int | None
    #: Lower-cased words that the result must have.
    required: tuple[str, ...]
    #: Whether more than `most` words are allowed where nothing shorter is feasible.
    stretched: bool = False
    _trees: dict[int, SentenceTree] = field(default_factory=dict, init=False, repr=False)

    def write(self, count: int) -> list[Headline]:
        """Return up to `count` sentences, each shortened in the best way, the best first.

        The certificates compare with the best short sentence of the whole text.
        """
        unit = self.tokens.unit
        doc = unit if isinstance(unit, Doc) else unit.doc
        if not doc.has_annotation("DEP"):
            if not any(is_word(token) for token in list(unit)):
                return []
            raise ProblemError(
                "mode: 'sentence' shortens sentences along their trees, and the document has "
                "none; add a parser before this component."
            )
        sentences = self._sentences()
        headlines, bound = self._best(sentences, self.least, self.most, count, False)
        if headlines:
            return headlines
        undecided = bound > -np.inf
        sizes = sorted({size for sentence in sentences for size in self._tree(sentence).sizes})
        limits = [size for size in reversed(sizes) if size < self.least]
        if self.stretched:
            limits += [size for size in sizes if size > self.most]
        for size in limits:
            headlines, bound = self._best(sentences, size, size, count, undecided)
            if headlines:
                return headlines
            undecided |= bound > -np.inf
        return []

    def _sentences(self) -> list[SentencePlace]:
        """The sentences that have words, all that are required among them."""
        given: Any = self.tokens.unit  # a span has sentences too, which its stub lacks
        origin = 0 if isinstance(given, Doc) else given.start
        facts, found = self.tokens.facts, []
        for number, sentence in enumerate(given.sents):
            begin, end = sentence.start - origin, sentence.end - origin
            known = not self.required or set(self.required) <= set(facts.lower[begin:end])
            if known and facts.read[begin:end].any():
                found.append(SentencePlace(begin, end, number))
        return found

    def _tree(self, sentence: SentencePlace) -> SentenceTree:
        if sentence.number not in self._trees:
            self._trees[sentence.number] = self.tokens.tree(*sentence, self.required)
        return self._trees[sentence.number]

    def _best(
        self,
        sentences: Sequence[SentencePlace],
        least: int,
        most: int,
        count: int,
        undecided: bool,
    ) -> tuple[list[Headline], float]:
        """The best headlines with so many words, and a bound on them.

        There is no bound if it is `undecided` whether other lengths, which come first, have any.
        The sentences that could be best come first: most are never read as trees.
        """
        found: list[tuple[float, int, str, list[int]]] = []
        bounds: list[float] = [np.inf if undecided else -np.inf]
        ceilings = np.array([self.tokens.ceiling(*sentence, most) for sentence in sentences])
        for place in np.argsort(-ceilings, kind="stable").tolist():
            ranked = sorted((entry[0] for entry in found), reverse=True)
            least_wanted = ranked[count - 1] if len(ranked) >= count else -np.inf
            if ceilings[place] < least_wanted:
                bounds.append(ceilings[place])
                break
            tree = self._tree(sentences[place])
            if not any(least <= size <= most for size in tree.sizes):
                continue
            limit = tree.limit()
            if limit < least_wanted:
                bounds.append(limit)
                continue
            score, bound, tokens = tree.shortened(least, most, self.max_chars)
            bounds.append(bound)
            if tokens:
                found.append((score, place, written(tokens), [token.i for token in tokens]))
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        headlines = [
            Headline(text, indices, [], _certificate(score, max(bounds)), "sentence")
            for score, _, text, indices in found[:count]
        ]
        return headlines, max(bounds)


def _certificate(score: float, bound: float) -> Certificate:
    """Certify a sentence by a bound for all sentences."""
    scale = abs(score) + 1.0
    return Certificate.from_bound("TreeKnapsack", score, bound, tolerance=1e-9, scale=scale)
