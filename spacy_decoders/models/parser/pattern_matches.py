"""Where hand-made patterns of arcs are possible, and the factors that they add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.matcher import Matcher
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...errors import ProblemError
from .patterns import OF_ROOT, TOP, ArcPattern

if TYPE_CHECKING:
    from ...decoders.tree import Factors

__all__ = ["PatternMatcher", "SentencePatterns", "TooManyPlaces"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: How many places of one pattern a sentence may have.
MOST_PLACES = 200_000


class TooManyPlaces(ProblemError):
    """A pattern has more places in a sentence than can be decoded."""


@dataclass(frozen=True)
class SentencePatterns:
    """The patterns of one sentence of n tokens, the root being 0."""

    #: The patterns.
    patterns: tuple[ArcPattern, ...]
    #: bool (tokens of patterns, n + 1), the patterns' tokens laid end to end.
    may_be: Bools
    #: bool (tokens of patterns, labels), which labels the arc to each may have.
    may_have: Bools
    #: int32 (n + 1, n + 1), the best label of each arc.
    labels: NDArray[np.int32]

    def part(self, among: Ints) -> SentencePatterns:
        """Return the same for some of the tokens, the root among them."""
        square = np.ix_(among, among)
        return replace(self, may_be=self.may_be[:, among], labels=self.labels[square])

    @cached_property
    def _first(self) -> list[int]:
        return [0, *accumulate(len(pattern.heads) for pattern in self.patterns)]

    def places(self, number: int, allowed: Bools) -> Ints:
        """Return where one pattern is possible over some arcs, a row of tokens a place.

        Parameters
        ----------
        number
            The number of the pattern.
        allowed
            bool (n + 1, n + 1), the arcs (head, modifier).

        Raises
        ------
        TooManyPlaces
            If there are more than can be decoded.
        """
        pattern, first = self.patterns[number], self._first[number]
        found = np.zeros((1, len(pattern.heads)), dtype=np.int64)
        bound: list[int] = []
        for token in pattern.top_down:
            head, may_be = pattern.heads[token], self.may_be[first + token]
            if head in (TOP, OF_ROOT):
                tokens = np.flatnonzero(may_be & allowed[0] if head == OF_ROOT else may_be)
                found = np.repeat(found, len(tokens), axis=0)
            else:
                arcs = allowed & may_be & self.may_have[first + token][self.labels]
                among = arcs[found[:, head]]
                if among.sum() > MOST_PLACES:
                    raise TooManyPlaces(
                        f"patterns ({pattern.name!r}): more than {MOST_PLACES:,} places in one "
                        "sentence; say more of its tokens, or score fewer arcs (beam = 10)."
                    )
                places, tokens = np.nonzero(among)
                found = found[places]
            found[:, token] = tokens
            found = found[_fits(pattern, found, token, bound)]
            bound.append(token)
        heads = [head for head, _ in pattern.arcs]
        return _once(found, pattern) if len(set(heads)) < len(heads) else found

    def factors(self, allowed: Bools) -> Factors | None:
        """Return a factor for each place of each pattern over the allowed arcs."""
        from ...decoders.tree import Factors

        arcs: list[Ints] = []
        sizes: list[int] = []
        worth: list[float] = []
        for number, pattern in enumerate(self.patterns):
            found = _arcs(pattern, self.places(number, allowed))
            arcs.append(found.reshape(-1, 2))
            sizes += [found.shape[1]] * len(found)
            worth += [pattern.weight] * len(found)
        # at once: many small collections take longer to check and join
        return Factors(np.concatenate(arcs), np.cumsum([0, *sizes]), worth) if worth else None

    def bounds(self, heads: NDArray[np.integer]) -> tuple[float, float]:
        """Return a lower bound on what patterns add to a tree, and an upper one for all trees.

        The first is what they add, unless one has too many places in the tree to count them.
        """
        tree = np.zeros_like(self.labels, dtype=bool)
        tree[heads, np.arange(1, len(heads) + 1)] = True
        least = most = 0.0
        for number, pattern in enumerate(self.patterns):
            # the head of each dependant is given by the tree
            dependants = [self._first[number] + token for _, token in pattern.arcs]
            largest = float(np.prod(self.may_be[dependants].sum(axis=1, dtype=np.float64)))
            most += max(0.0, pattern.weight) * largest
            try:
                least += pattern.weight * len(self.places(number, tree))
            except TooManyPlaces:
                least += min(0.0, pattern.weight) * largest
        return least, most


def _arcs(pattern: ArcPattern, places: Ints) -> Ints:
    """Return the arcs of places, (places, arcs, 2)."""
    columns = [
        np.stack([np.zeros(len(places), np.int64) if head < 0 else places[:, head], places[:, m]])
        for head, m in pattern.arcs
    ]
    return np.stack(columns).transpose(2, 0, 1)


def _fits(pattern: ArcPattern, found: Ints, token: int, bound: Sequence[int]) -> Bools:
    """Whether a token of each place is none of those before, and stands where it should."""
    fits: Bools = (found[:, [token]] != found[:, list(bound)]).all(axis=1)
    for left, right, adjacent in pattern.orders:
        if token in (left, right) and (left in bound or right in bound):
            distance = found[:, right] - found[:, left]
            fits &= distance == 1 if adjacent else distance > 0
    return fits


def _once(found: Ints, pattern: ArcPattern) -> Ints:
    """Leave out places with the arcs of others: siblings may change roles."""
    arcs = _arcs(pattern, found)
    numbers = arcs[:, :, 0] * (found.max(initial=0) + 1) + arcs[:, :, 1]
    _, first = np.unique(np.sort(numbers, axis=1), axis=0, return_index=True)
    return found[np.sort(first)]


class PatternMatcher:
    """Finds the tokens of documents that patterns speak of.

    Parameters
    ----------
    patterns
        The patterns.
    labels, tags
        The parser's own; the labels with the root's last.

    Raises
    ------
    ProblemError
        If the parser has none of the labels that a pattern names.
    """

    def __init__(
        self,
        patterns: Sequence[ArcPattern],
        labels: Sequence[str],
        tags: Sequence[str],
    ) -> None:
        self._patterns = tuple(patterns)
        tokens = [(pattern, i) for pattern in patterns for i in range(len(pattern.heads))]
        self._may_have = np.array([_accepted(pattern.deps[i], labels) for pattern, i in tokens])
        for (pattern, i), may_have in zip(tokens, self._may_have, strict=True):
            if not may_have.any():
                raise ProblemError(
                    f"patterns ({pattern.name!r}): the parser has no label {pattern.deps[i]!r}; "
                    f"it has {', '.join(labels)}."
                )
        self._tags = [pattern.tags[i] for pattern, i in tokens]
        self._attributes = [pattern.attributes[i] for pattern, i in tokens]
        # some tags come with morphology
        names = list(tags) or [""]
        parts = [name.partition("|")[0] for name in names]
        own = [_accepted(of, names) | _accepted(of, parts) for of in self._tags]
        self._own_tags = np.ones((len(own), len(names) + 1), dtype=bool)
        self._own_tags[:, 1:] = np.reshape(own, (len(own), len(names)))
        # a matcher belongs to a vocabulary, and a batch may have documents of several
        self._matcher: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # a matcher is made faster than it is sent to another process
        return {**self.__dict__, "_matcher": None}

    def _find(self, doc: Doc) -> tuple[Bools, Bools]:
        """Return which tokens satisfy the conditions of each pattern's, and which have tags."""
        if self._matcher is None or self._matcher.vocab is not doc.vocab:
            self._matcher = Matcher(doc.vocab)
            for number, conditions in enumerate(self._attributes):
                self._matcher.add(number, [[conditions]])
        found = np.zeros((len(self._tags), len(doc)), dtype=bool)
        for number, start, _ in self._matcher(doc):
            found[number, start] = True
        is_tagged = doc.to_array("TAG") != 0
        tags = [doc[i].tag_ for i in np.flatnonzero(is_tagged).tolist()]
        for number, condition in enumerate(self._tags):
            found[number, is_tagged] &= _accepted(condition, tags)
        return found, is_tagged

    def in_sentences(
        self, doc: Doc, sentences: Iterable[tuple[Ints, NDArray[np.int32], NDArray[np.int32]]]
    ) -> list[SentencePatterns]:
        """Return the patterns of some sentences of a document.

        Parameters
        ----------
        doc
            The document.
        sentences
            Of each its tokens, as indices in the document, and the parser's own tags and labels,
            as in :class:`.SentenceScores`.

        Raises
        ------
        ProblemError
            If a pattern names an attribute that no component has set on the document.
        """
        found, is_tagged = self._find(doc)
        patterns = []
        for tokens, tags, labels in sentences:
            may_be = np.zeros((len(self._tags), len(tokens) + 1), dtype=bool)
            # the parser's own tags stand in for those that are not set
            own = is_tagged[tokens] | self._own_tags[:, tags[1:]]
            may_be[:, 1:] = found[:, tokens] & own
            patterns.append(SentencePatterns(self._patterns, may_be, self._may_have, labels))
        return patterns


def _accepted(condition: Any, names: Sequence[str]) -> Bools:
    """Whether names satisfy a condition of spaCy's ``Matcher``; None is one that all satisfy."""
    if condition is None:
        return np.ones(len(names), dtype=bool)
    distinct = list(dict.fromkeys(names))
    doc = Doc(Vocab(), words=distinct)
    matcher = Matcher(doc.vocab)
    matcher.add("condition", [[{"ORTH": condition}]])
    accepted = {distinct[start] for _, start, _ in matcher(doc)}
    return np.array([name in accepted for name in names], dtype=bool)
