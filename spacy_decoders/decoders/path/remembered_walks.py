"""How much walks are worth that remember classes, by plain array operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .kernels.proof import hopeful_steps
from .problem import Floats

__all__ = ["Remembered", "WorthOfWalks", "worth_of_remembering_walks"]

#: Pairs of a walk and a vertex that are looked at together.
PAIRS = 1 << 22

Words = NDArray[np.uint64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Remembered:
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

    def restrict(self, vertices: Indices) -> Remembered:
        """Return what is remembered at some of the vertices."""
        return Remembered(self.own[vertices], self.kept[vertices])

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


class WorthOfWalks(NamedTuple):
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


def worth_of_remembering_walks(
    first: Floats,
    edges: Floats,
    last: Floats,
    remembered: Remembered,
    beyond: Floats,
    prices: Floats,
    total_price: float,
    floor: float,
    clock: Clock,
) -> WorthOfWalks | None:
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
    table = np.full((length, size), -np.inf)
    table[0] = first - prices
    promises = first + beyond[-1] + total_price
    left_out = float(promises[promises <= floor].max(initial=-np.inf))
    alive, own = np.flatnonzero(promises > floor), remembered.own
    memory = remembered.own[alive] & remembered.kept[alive]
    walks = _Walks(alive, memory, table[0][alive], first[alive])
    for place in range(1, length):
        onward = beyond[length - 1 - place] + total_price
        pieces = []
        for begin in range(0, max(1, len(walks.vertices)), 1 + PAIRS // max(1, size)):
            if clock.exhausted():
                return None
            some = slice(begin, begin + 1 + PAIRS // max(1, size))
            ends, seen = walks.vertices[some], walks.memory[some]
            steps, hopeless = _hopeful(ends, walks.paid[some], seen, edges, onward, own, floor)
            left_out = max(left_out, hopeless)
            walk, vertex = steps
            step = edges[ends[walk], vertex]
            pieces.append(
                _Walks(
                    vertex,
                    (seen[walk] | remembered.own[vertex]) & remembered.kept[vertex],
                    walks.paid[some][walk] + (step - prices[vertex]),
                    walks.worth[some][walk] + step,
                )
            )
        walks = _joined(pieces).best()
        np.maximum.at(table[place], walks.vertices, walks.paid)
    whole = walks.worth if remembered.everything else walks.paid + total_price
    most = (whole + last[walks.vertices]).max(initial=-np.inf)
    return WorthOfWalks(float(most), left_out, table)


def _hopeful(
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
        count, hopeless = hopeful_steps(*found)
        if count <= room:
            return (walks[:count], vertices[:count]), hopeless
        room = count


def _joined(pieces: list[_Walks]) -> _Walks:
    return _Walks(
        np.concatenate([piece.vertices for piece in pieces]),
        np.concatenate([piece.memory for piece in pieces]),
        np.concatenate([piece.paid for piece in pieces]),
        np.concatenate([piece.worth for piece in pieces]),
    )
