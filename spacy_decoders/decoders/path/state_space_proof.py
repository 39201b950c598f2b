"""A bound by state-space relaxation, computed apart from the labels of `state_space`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .kernels.graph import Prices
from .kernels.proof import promising_steps
from .problem import Floats

__all__ = ["StateSpaceBound", "VertexMemory", "state_space_bound"]

#: Pairs of a walk and a vertex that are handled together.
PAIRS = 1 << 22

Words = NDArray[np.uint64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VertexMemory:
    """Which classes a walk remembers at which vertices; no choice excludes a path."""

    # (n, 2): the bit of each vertex's class, in two words; zero for a class that is never
    # remembered
    own: Words
    kept: Words  # (n, 2): the bits that a walk keeps when it passes a vertex

    def restrict(self, vertices: Indices) -> VertexMemory:
        """Return what is remembered at some of the vertices."""
        return VertexMemory(self.own[vertices], self.kept[vertices])

    @property
    def everything(self) -> bool:
        """Whether every class is remembered everywhere, so that all walks are paths."""
        every = np.bitwise_or.reduce(self.own, axis=0)
        return bool(self.own.any(axis=1).all() and ((self.kept & every) == every).all())


class _Walks(NamedTuple):
    """Walks of one length: their last vertices, the classes they remember, and their scores."""

    vertices: Indices
    memory: Words
    #: with prices subtracted, and without
    paid: Floats
    scores: Floats

    def best(self) -> _Walks:
        """Keep the best of the walks with the same last vertex and the same memory."""
        mixed = self.vertices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= self.memory[:, 0] * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= self.memory[:, 1] * np.uint64(0x94D049BB133111EB)
        # equal walks become neighbours; a hash collision only leaves some of them unmerged
        order = np.argsort(mixed)
        vertices, memory = self.vertices[order], self.memory[order]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (vertices[1:] != vertices[:-1]) | (memory[1:] != memory[:-1]).any(axis=1)
        begins = np.flatnonzero(fresh)
        if not len(begins):
            return self
        paid, scores = (
            np.maximum.reduceat(values[order], begins) for values in (self.paid, self.scores)
        )
        return _Walks(vertices[begins], memory[begins], paid, scores)


class StateSpaceBound(NamedTuple):
    """The bounds that walks in one direction give."""

    most: float  # the score of the best walk that was not pruned
    left_out: float  # the largest bound of a pruned walk
    # (length, n): [l, v] is the best score, less prices, of v and l vertices before it in a walk
    # that was not pruned
    table: Floats


def state_space_bound(
    first: Floats,
    edges: Floats,
    last: Floats,
    memory: VertexMemory,
    beyond: Floats,
    prices: Prices,
    floor: float,
    clock: Clock,
) -> StateSpaceBound | None:
    """Build all walks that can exceed `floor`; None if the clock ends first.

    Of the walks with the same last vertex and the same memory only the best is extended.

    Parameters
    ----------
    first, edges, last
        The scores of a walk's first vertex, its edges and its last vertex: for backward walks
        the ends, the reversed edges and the starts.
    beyond
        ``beyond[l, v]``: a bound on the score, less prices, of v and l vertices after it.
        **Shape:** ``(length, n)``
    """
    length, size = beyond.shape
    paid, total = prices
    table = np.full((length, size), -np.inf)
    table[0] = first - paid
    bounds = first + beyond[-1] + total
    left_out = float(bounds[bounds <= floor].max(initial=-np.inf))
    alive, own = np.flatnonzero(bounds > floor), memory.own
    walks = _Walks(alive, own[alive] & memory.kept[alive], table[0][alive], first[alive])
    for place in range(1, length):
        onward = beyond[length - 1 - place] + total
        parts = []
        for begin in range(0, max(1, len(walks.vertices)), 1 + PAIRS // max(1, size)):
            if clock.exhausted():
                return None
            some = slice(begin, begin + 1 + PAIRS // max(1, size))
            ends, seen = walks.vertices[some], walks.memory[some]
            steps, rest = _promising(ends, walks.paid[some], seen, edges, onward, own, floor)
            left_out = max(left_out, rest)
            walk, vertex = steps
            step = edges[ends[walk], vertex]
            parts.append(
                _Walks(
                    vertex,
                    (seen[walk] | own[vertex]) & memory.kept[vertex],
                    walks.paid[some][walk] + (step - paid[vertex]),
                    walks.scores[some][walk] + step,
                )
            )
        walks = _Walks(*map(np.concatenate, zip(*parts, strict=True))).best()
        np.maximum.at(table[place], walks.vertices, walks.paid)
    whole = walks.scores if memory.everything else walks.paid + total
    most = (whole + last[walks.vertices]).max(initial=-np.inf)
    return StateSpaceBound(float(most), left_out, table)


def _promising(
    ends: Indices,
    paid: Floats,
    seen: Words,
    edges: Floats,
    onward: Floats,
    own: Words,
    floor: float,
) -> tuple[tuple[Indices, Indices], float]:
    """Return the walks and vertices of the steps that remain, and the largest pruned bound."""
    room = 4 * len(ends)
    while True:
        walks, vertices = np.empty((2, room), dtype=np.int64)
        found = (ends, paid, seen, edges, onward, own, floor, walks, vertices)
        count, rest = promising_steps(*found)
        if count <= room:
            return (walks[:count], vertices[:count]), rest
        room = count
