"""An upper bound on all paths, computed apart from the search that found the incumbent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .kernels.graph import Prices
from .kernels.proof import (
    best_through,
    fresh_proof,
    left_open,
    most_beyond,
    prove,
    prove_at_once,
    prove_subsets,
)
from .problem import Floats, Integers, PathProblem
from .state_space_proof import VertexMemory, state_space_bound

__all__ = ["Proof", "quick_bound"]

#: Vertices looked at between two looks at the clock.
STEPS = 4_000_000
#: Bytes that a table over sets of classes may take.
MEMORY = 1 << 28


def quick_bound(problem: PathProblem, length: int, score: float, nodes: int) -> float:
    """Return an upper bound on all paths, by a search of at most `nodes` nodes.

    Parameters
    ----------
    score
        The score of a known path: only nodes with a larger bound are searched.
    nodes
        The most nodes to expand; with 0 the result is the score of the best walk.
    """
    rounding = problem.rounding(length, score)
    bound = prove_at_once(problem.arrays, length, score + rounding, nodes)
    return float(bound) + rounding


class Proof:
    """An upper bound on all paths, lowered step by step until it meets the score of a known one.

    It shares no loop with the search for paths. It takes from it the score to compare with,
    prices, and which classes walks should remember. Whatever these are, :attr:`bound` is valid;
    if they are good, it is tight.

    Parameters
    ----------
    problem
        The graph.
    length
        Vertices of the path.
    score
        The score of a known path; ``-inf`` without one.
    clock
        The budget, which may end the proof early.

    Attributes
    ----------
    witness
        The best path found whose score exceeds that of the known one, or None.
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
        """An upper bound on the score of any path; ``-inf`` if it is proven that there is none."""
        return max(self._left_out, self._open) + self._rounding

    @property
    def complete(self) -> bool:
        """Whether no remaining bound exceeds the score of the known path."""
        return self._open <= self._floor

    def price(self, prices: Floats) -> None:
        """Set the prices of the remaining vertices: not negative, equal within a class."""
        self.reduce()
        self._rounding = max(
            self._rounding,
            self._problem.rounding(self._length, self._score, self._total(prices[self._kept])),
        )
        self._floor = self._score + self._rounding
        self._set_prices(prices[self._kept])
        self.reduce()

    def reduce(self) -> None:
        """Remove the vertices through which no walk scores more than the known path."""
        problem = self._problem
        before = most_beyond(problem.edges, problem.start, self._prices.vertex, self._length)
        through = best_through(before, self._beyond, *self._prices)
        kept = np.flatnonzero(through > self._floor)
        if len(kept) == problem.size:
            return
        self._left_out = max(self._left_out, float(through[through <= self._floor].max()))
        self._kept = self._kept[kept]
        self._problem = problem.restrict(kept)
        self._set_prices(self._prices.vertex[kept])

    def search(self, nodes: int | None = None) -> None:
        """Search depth first, expanding at most `nodes` nodes; None for no limit."""
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
        """Decide the remaining problem by dynamic programming over sets of its classes."""
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
        """Decide the remaining problem by walks that remember classes at some vertices.

        Each memory serves one pass, backward first and then alternately; the table of each pass
        bounds the walks of the next.
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
        """The largest sum of prices on any path, rounded once."""
        problem = self._problem
        by_class = np.zeros(problem.class_count)
        np.maximum.at(by_class, problem.dense_classes, prices)
        return math.fsum(by_class)
