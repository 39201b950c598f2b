"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...certificate import Certificate
from ...errors import ProblemError
from .headlines import Headline
from .sentence_trees import SentenceTree, lead_of, written

__all__ = ["USUAL_WORDS", "ShortSentences"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)


@dataclass(frozen=True, eq=False)
class ShortSentences:
    """Shortens the sentences of a text, and ranks them."""

    #: A document or span.
    unit: Doc | Span
    #: What each token adds to a sentence that keeps it, and whether it is a word.
    #: **Shape of both:** ``(tokens,)``
    values: NDArray[np.float64]
    words: NDArray[np.bool_]
    #: Words of the result; where no sentence can have so many, the largest number below them.
    least: int
    most: int
    #: The most characters, or None.
    max_chars: int | None
    #: Lower-cased words that the result must have.
    required: tuple[str, ...]
    #: Whether more than `most` words are allowed where nothing shorter is feasible.
    stretched: bool = False

    def write(self, count: int) -> list[Headline]:
        """Return up to `count` sentences, each shortened in the best way, the best first.

        The certificates compare with the best short sentence of the whole text.
        """
        unit = self.unit
        doc = unit if isinstance(unit, Doc) else unit.doc
        if not doc.has_annotation("DEP"):
            if not self.words.any():
                return []
            raise ProblemError(
                "mode: 'sentence' shortens sentences along their trees, and the document has "
                "none; add a parser before this component."
            )
        undecided = False
        for least, most in self._lengths():
            headlines, bound = self._best(least, most, count, undecided)
            if headlines:
                return headlines
            undecided |= bound > -np.inf
        return []

    def _lengths(self) -> Iterator[tuple[int, int]]:
        """The least and the most words that are tried, one pair after the other."""
        yield self.least, self.most
        sizes = sorted({size for sentence in self.sentences for size in sentence.sizes})
        yield from ((size, size) for size in reversed(sizes) if size < self.least)
        if self.stretched:
            yield from ((size, size) for size in sizes if size > self.most)

    @cached_property
    def sentences(self) -> list[SentenceTree]:
        """The sentences that have words, all that are required among them."""
        unit: Any = self.unit  # a span has sentences too, which its stub lacks
        origin, found = (0, []) if isinstance(unit, Doc) else (unit.start, [])
        for number, whole in enumerate(unit.sents):
            begin, end = max(0, whole.start - origin), min(len(unit), whole.end - origin)
            span, words = unit[begin:end], self.words[begin:end]
            lower = {token.lower_ for token in span} if self.required else set()
            if not words.any() or not lower.issuperset(self.required):
                continue
            lead, values = lead_of(span.root, number), self.values[begin:end]
            found.append(SentenceTree(span, values, words, lead, self.required))
        return found

    def _best(
        self, least: int, most: int, count: int, undecided: bool
    ) -> tuple[list[Headline], float]:
        """The best headlines with so many words, and a bound on them.

        There is no bound if it is `undecided` whether other lengths, which come first, have any.
        The sentences that could be best come first: most are never read as trees.
        """
        found: list[tuple[float, int, str, list[int]]] = []
        bounds: list[float] = [np.inf if undecided else -np.inf]
        ceilings = np.array([sentence.ceiling(most) for sentence in self.sentences])
        for place in np.argsort(-ceilings, kind="stable").tolist():
            ranked = sorted((entry[0] for entry in found), reverse=True)
            wanted = ranked[count - 1] if len(ranked) >= count else -np.inf
            if ceilings[place] < wanted:
                bounds.append(ceilings[place])
                break
            tree = self.sentences[place]
            if not any(least <= size <= most for size in tree.sizes):
                continue
            if (limit := tree.limit()) < wanted:
                bounds.append(limit)
                continue
            score, bound, tokens = tree.shortened(least, most, self.max_chars)
            bounds.append(bound)
            if tokens:
                found.append((score, place, written(tokens), [token.i for token in tokens]))
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        headlines = []
        for score, _, text, indices in found[:count]:
            certificate = Certificate.from_bound(
                "TreeKnapsack", score, max(bounds), tolerance=1e-9, scale=abs(score) + 1.0
            )
            headlines.append(Headline(text, indices, [], certificate, "sentence"))
        return headlines, max(bounds)
