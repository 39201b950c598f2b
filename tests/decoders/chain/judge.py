"""What is true of a chain, in exact arithmetic: the judge of its decoders' promises.

Every finite float32 is a whole multiple of 2**-149, so scores are added as Python's whole
numbers. Where there are few labellings all are enumerated; where there are many labels, exact
dynamic programming takes their place.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from spacy_decoders.certificate import largest_tolerance

#: Exact scores are multiples of the smallest float32; what is forbidden is ``-inf``.
ONE = 1 << 149
NEVER = -math.inf
#: More labellings than this are not enumerated.
FEW = 1024


class Chain(NamedTuple):
    """A problem: float32 arrays of shapes (L, L), (L,), (L,) and (n, L)."""

    transitions: np.ndarray
    start: np.ndarray | None
    end: np.ndarray | None
    emissions: np.ndarray

    def __repr__(self) -> str:
        given = (None if part is None else part.tolist() for part in self)
        return "Chain(transitions={}, start={}, end={}, emissions={})".format(*given)


class Labelling(NamedTuple):
    """A labelling with its score and the sum of its absolute scores, both exact."""

    score: Any
    scale: Any
    labels: tuple[int, ...] = ()

    @property
    def tolerance(self) -> float:
        """The largest tolerance within which `optimal` may be said of it."""
        return largest_tolerance(self.scale / ONE)


class Judge:
    """What is true of a chain.

    Attributes
    ----------
    with_label
        The best labelling with each label at each token, without its labels.
    best
        The best of all.
    every
        All legal labellings, best first; None if there are too many.
    """

    def __init__(self, chain: Chain) -> None:
        size = len(chain.transitions)
        self.n = len(chain.emissions)
        zeros = np.zeros(size, dtype=np.float32)
        self.transitions = whole(chain.transitions)
        self.start = whole(zeros if chain.start is None else chain.start)
        self.end = whole(zeros if chain.end is None else chain.end)
        self.emissions = whole(chain.emissions)
        self.with_label = self._best_with_each_label()
        self.best = max(self.with_label[0], key=lambda one: one.score)
        self.every = self._enumerated(size) if size**self.n <= FEW else None
        if self.every:
            assert self.best.score == self.every[0].score  # two ways to the same number

    def labelling(self, labels: tuple[int, ...]) -> Labelling:
        """Return a labelling with what it is worth."""
        terms = [self.start[labels[0]], self.end[labels[-1]]]
        terms += [self.emissions[i, y] for i, y in enumerate(labels)]
        terms += [self.transitions[x, y] for x, y in pairwise(labels)]
        return Labelling(sum(terms), sum(map(abs, terms)), labels)

    def best_without(self, i: int, label: int) -> Labelling:
        """Return the best labelling with another label at token i."""
        others = (one for y, one in enumerate(self.with_label[i]) if y != label)
        return max(others, default=Labelling(NEVER, 0), key=lambda one: one.score)

    def best_but(self, labels: tuple[int, ...]) -> Labelling:
        """Return the best labelling that is another one."""
        others = (self.best_without(i, y) for i, y in enumerate(labels))
        return max(others, key=lambda one: one.score)

    def _enumerated(self, size: int) -> list[Labelling]:
        paths: list[tuple[int, ...]] = [()]
        for _ in range(self.n):
            paths = [(*path, y) for path in paths for y in range(size)]
        legal = (one for one in map(self.labelling, paths) if one.score > NEVER)
        return sorted(legal, key=lambda one: -one.score)

    def _best_with_each_label(self) -> list[list[Labelling]]:
        ahead = [(self.start + self.emissions[0], abs(self.start) + abs(self.emissions[0]))]
        for row in self.emissions[1:]:
            score, scale = extended(*ahead[-1], self.transitions)
            ahead.append((score + row, scale + abs(row)))
        behind = [(self.end, abs(self.end))]
        for row in self.emissions[:0:-1]:
            score, scale = behind[-1]
            behind.append(extended(score + row, scale + abs(row), self.transitions.T))
        return [
            list(map(Labelling, before[0] + after[0], before[1] + after[1]))
            for before, after in zip(ahead, reversed(behind), strict=True)
        ]


def extended(score: np.ndarray, scale: np.ndarray, links: np.ndarray) -> Any:
    """Return score and scale of the best way over `links` to each label."""
    ways = score[:, None] + links
    origin = ways.argmax(axis=0), np.arange(len(score))
    return ways[origin], scale[origin[0]] + abs(links[origin])


def whole(scores: np.ndarray) -> np.ndarray:
    """Return scores as whole numbers of 1 / ONE."""
    made = np.empty(scores.size, dtype=object)
    made[:] = [
        score if score == NEVER else int(math.ldexp(score, 149))
        for score in scores.ravel().tolist()
    ]
    return made.reshape(scores.shape)
