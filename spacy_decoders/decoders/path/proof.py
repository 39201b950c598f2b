"""An upper bound on all paths, computed apart from whatever found the best one known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .kernels.graph import Prices
from .kernels.proof import (
    fresh_proof,
    left_open,
    most_beyond,
    prove,
    prove_at_once,
    prove_subsets,
    worth_through,
)
from .problem import Floats, Integers, PathProblem
from .state_space_proof import VertexMemory, state_space_bound

__all__ = ["Proof", "quick_bound"]

#: Vertices looked at between two looks at the clock.
STEPS = 4_000_000
#: Bytes that a table over sets of classes may take.
MEMORY = 1 << 28


def quick_bound(problem: PathProblem, length: int, score: float, nodes: int) -> float:
    """Return what no path exceeds, by a search of at most so many nodes.

    Parameters
    ----------
    score
        The worth of a path that is known: what promises more is searched.
    nodes
        The most vertices to search through; with none it is the worth of the best walk.
    """
    rounding = problem.rounding(length, score)
    bound = prove_at_once(problem.arrays, length, score + rounding, nodes)
    return float(bound) + rounding


class Proof:
    """The proof that no path is worth more than a known one, as far as it has come.

    It shares no loop with the search for paths, and takes from it only what can do no harm:
    the score to compare with, prices, and what walks should remember. Whatever these are,
    :attr:`bound` holds; if they are good, it comes down to the score.

    Parameters
    ----------
    problem
        The graph.
    length
        Vertices of the path.
    score
        The worth of a path that is known; ``-inf`` without one.
    clock
        What ends the proof early.

    Attributes
    ----------
    witness
        The best path met that is worth more than the one known, or None.
    """

    def __init__(self, problem: PathProblem, length: int, score: float, clock: Clock) -> None:
        self.witness: Integers | None = None
        self._problem = problem
        self._length = length
        self._score = score
        self._clock = clock
        self._kept = np.arange(problem.size)
        self._open = math.inf
        self._rounding = problem.rounding(length, score) if score > -math.inf else 0.0
        self._floor = score + self._rounding
        self._left_out = -math.inf
        self._set_prices(np.zeros(problem.size))

    @property
    def bound(self) -> float:
        """No path is worth more; ``-inf`` if it is proven that there is none."""
        return max(self._left_out, self._open) + self._rounding

    @property
    def complete(self) -> bool:
        """Whether nothing is left that promises more than the path known."""
        return self._open <= self._floor

    def price(self, prices: Floats) -> None:
        """Let each vertex that is left cost something: not negative, alike within a class."""
        self.reduce()
        self._rounding = max(
            self._rounding,
            self._problem.rounding(self._length, self._score, self._total(prices[self._kept])),
        )
        self._floor = self._score + self._rounding
        self._set_prices(prices[self._kept])
        self.reduce()

    def reduce(self) -> None:
        """Leave out the vertices through which no walk promises more than the path known."""
        problem = self._problem
        before = most_beyond(problem.edges, problem.start, self._prices.vertex, self._length)
        through = worth_through(before, self._beyond, *self._prices)
        kept = np.flatnonzero(through > self._floor)
        if len(kept) == problem.size:
            return
        self._left_out = max(self._left_out, float(through[through <= self._floor].max()))
        self._kept = self._kept[kept]
        self._problem = problem.restrict(kept)
        self._set_prices(self._prices.vertex[kept])

    def search(self, nodes: int | None = None) -> None:
        """Search depth first, through at most so many vertices; None for no such limit."""
        problem, length = self._problem, self._length
        state = fresh_proof(problem.class_count, length, self._floor)
        ended, a_round = False, nodes or 1 + STEPS // max(1, problem.size)
        while not ended:
            ended = prove(problem.graph, self._beyond, self._prices, a_round, state)
            if nodes is not None or self._clock.exhausted():
                break
        floor, closed = state.limits.tolist()
        if floor > self._floor:
            self.witness = self._kept[state.paths[1]].astype(np.int32)
        rest = -math.inf
        if not ended:
            rest = left_open(problem.graph, self._beyond, self._prices.total, state)
        self._open = min(self._open, max(closed, rest))

    def subsets(self) -> None:
        """Decide what is left by dynamic programming over the sets of its classes."""
        problem, length = self._problem, self._length
        sets = 1 << problem.class_count
        free = np.zeros(problem.size)
        before = most_beyond(problem.edges, problem.start, free, length)
        table = np.empty((sets, problem.size))
        limits = np.array([self._floor, -np.inf])
        a_round = 1 + STEPS // max(1, problem.size) ** 2
        for first in range(0, sets, a_round):
            if self._clock.exhausted():
                return
            last = min(sets, first + a_round)
            prove_subsets(problem.graph, before, self._floor, first, last, table, limits)
        self._open = min(self._open, float(limits[1]))

    def state_space(self, memories: Sequence[VertexMemory]) -> None:
        """Decide what is left by walks that remember classes where they are told to.

        Each memory is good for walks in one direction, from the end first and then in turns;
        what they come to bounds those of the next.
        """
        problem, backward = self._problem, True
        limits = (self._prices, self._floor, self._clock)
        rests = most_beyond(problem.edges, problem.start, self._prices.vertex, self._length)
        for memory in memories:
            ways = (problem.start, problem.edges, problem.end)
            if backward:
                ways = (problem.end, problem.reversed_edges, problem.start)
            found = state_space_bound(*ways, memory.restrict(self._kept), rests, *limits)
            if found is None:
                return
            self._left_out = max(self._left_out, found.left_out)
            self._open = min(self._open, found.most)
            if self.complete:
                return
            backward, rests = not backward, found.table

    def _set_prices(self, prices: NDArray[np.float64]) -> None:
        problem = self._problem
        self._prices = Prices(prices, self._total(prices))
        self._beyond = most_beyond(problem.reversed_edges, problem.end, prices, self._length)
        most = problem.start + self._beyond[-1]
        self._open = min(self._open, float(most.max(initial=-np.inf)) + self._prices.total)

    def _total(self, prices: NDArray[np.float64]) -> float:
        """The most that a path can pay, rounded once."""
        problem = self._problem
        by_class = np.zeros(problem.class_count)
        np.maximum.at(by_class, problem.dense_classes, prices)
        return math.fsum(by_class)
