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

#: Pairs of a walk and a vertex that are looked at together.
PAIRS = 1 << 22

Words = NDArray[np.uint64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VertexMemory:
    """Which classes a walk remembers where: whatever they are, no path is excluded.

    Attributes
    ----------
    own
        The bit of each vertex's class, in two words; zero for a class that is never
        remembered. **Shape:** ``(n, 2)``
    kept
        The bits that a walk still has when it has passed a vertex. **Shape:** ``(n, 2)``
    """

    own: Words
    kept: Words

    def restrict(self, vertices: Indices) -> VertexMemory:
        """Return what is remembered at some of the vertices."""
        return VertexMemory(self.own[vertices], self.kept[vertices])

    @property
    def everything(self) -> bool:
        """Whether every class is remembered everywhere, so that all walks are paths."""
        every = np.bitwise_or.reduce(self.own, axis=0)
        return bool(self.own.any(axis=1).all() and ((self.kept & every) == every).all())


@dataclass(frozen=True, eq=False)
class _Walks:
    """Walks of one length: where they end, what they remember, and what they are worth."""

    vertices: Indices
    memory: Words
    #: prices paid, and without
    paid: Floats
    worth: Floats

    def best(self) -> _Walks:
        """Keep the best of those that end alike and remember the same."""
        mixed = self.vertices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= self.memory[:, 0] * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= self.memory[:, 1] * np.uint64(0x94D049BB133111EB)
        # equal ones stand together; where others come between, some are left unmerged
        order = np.argsort(mixed)
        vertices, memory = self.vertices[order], self.memory[order]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (vertices[1:] != vertices[:-1]) | (memory[1:] != memory[:-1]).any(axis=1)
        begins = np.flatnonzero(fresh)
        if not len(begins):
            return self
        paid, worth = (
            np.maximum.reduceat(values[order], begins) for values in (self.paid, self.worth)
        )
        return _Walks(vertices[begins], memory[begins], paid, worth)


class StateSpaceBound(NamedTuple):
    """What walks in one direction come to.

    Attributes
    ----------
    most
        The worth of the best that is left at the end; those left out excepted.
    left_out
        The most that a walk promised which went no further.
    table
        ``table[l, v]``: the most that v and l vertices before it add, prices paid, in a walk
        that is not left out. **Shape:** ``(length, n)``
    """

    most: float
    left_out: float
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

    Of those that end alike and remember the same only the best goes on.

    Parameters
    ----------
    first, edges, last
        What a walk begins, goes on and ends with: for walks from the end, the ends, the
        reversed edges and the starts.
    beyond
        ``beyond[l, v]``: the most that v and l vertices after it add, prices paid.
        **Shape:** ``(length, n)``
    """
    length, size = beyond.shape
    paid, total = prices
    table = np.full((length, size), -np.inf)
    table[0] = first - paid
    promises = first + beyond[-1] + total
    left_out = float(promises[promises <= floor].max(initial=-np.inf))
    alive, own = np.flatnonzero(promises > floor), memory.own
    walks = _Walks(alive, own[alive] & memory.kept[alive], table[0][alive], first[alive])
    for place in range(1, length):
        onward = beyond[length - 1 - place] + total
        pieces = []
        for begin in range(0, max(1, len(walks.vertices)), 1 + PAIRS // max(1, size)):
            if clock.exhausted():
                return None
            some = slice(begin, begin + 1 + PAIRS // max(1, size))
            ends, seen = walks.vertices[some], walks.memory[some]
            steps, rest = _promising(ends, walks.paid[some], seen, edges, onward, own, floor)
            left_out = max(left_out, rest)
            walk, vertex = steps
            step = edges[ends[walk], vertex]
            pieces.append(
                _Walks(
                    vertex,
                    (seen[walk] | own[vertex]) & memory.kept[vertex],
                    walks.paid[some][walk] + (step - paid[vertex]),
                    walks.worth[some][walk] + step,
                )
            )
        walks = _joined(pieces).best()
        np.maximum.at(table[place], walks.vertices, walks.paid)
    whole = walks.worth if memory.everything else walks.paid + total
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
    """Return the walks and the vertices of all steps that go on, and what others promise."""
    room = 4 * len(ends)
    while True:
        walks, vertices = np.empty((2, room), dtype=np.int64)
        found = (ends, paid, seen, edges, onward, own, floor, walks, vertices)
        count, rest = promising_steps(*found)
        if count <= room:
            return (walks[:count], vertices[:count]), rest
        room = count


def _joined(pieces: list[_Walks]) -> _Walks:
    return _Walks(
        np.concatenate([piece.vertices for piece in pieces]),
        np.concatenate([piece.memory for piece in pieces]),
        np.concatenate([piece.paid for piece in pieces]),
        np.concatenate([piece.worth for piece in pieces]),
    )
