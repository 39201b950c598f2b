"""The best paths so far, and the depth-first search that improves on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels.graph import Prices
from .kernels.search import RankedPaths, fresh_state, frontier_of, search, search_once
from .problem import Floats, PathProblem

__all__ = ["BestPaths", "DepthFirst"]


class BestPaths:
    """The best distinct paths found so far, sorted, best first.

    Parameters
    ----------
    length
        Vertices of each path.
    count
        How many to keep.
    """

    def __init__(self, length: int, count: int) -> None:
        self.scores = np.full(count, -np.inf)
        self.paths = np.full((count, length), -1, dtype=np.int32)

    @property
    def threshold(self) -> float:
        """The score that a new path must exceed."""
        return float(self.scores[-1])

    @property
    def found(self) -> int:
        """The number of paths found."""
        return int(np.count_nonzero(self.scores > -np.inf))

    @property
    def ranking(self) -> RankedPaths:
        """The scores and paths as the kernels take them."""
        return RankedPaths(self.scores, self.paths)

    def search(self, problem: PathProblem, bounds: Floats, prices: Prices, nodes: int) -> float:
        """Expand at most `nodes` nodes depth first; return a bound on every path not visited.

        The arguments are those of `DepthFirst`, which can be resumed.
        """
        best = (self.scores, self.paths)
        frontier: float = search_once(problem.arrays, bounds, tuple(prices), best, nodes)
        return frontier

    def offer(self, score: float, path: NDArray[Any]) -> bool:
        """Insert a path if it is new and good enough; return whether it was."""
        if not score > self.threshold or (self.paths == path).all(axis=1).any():
            return False
        place = int(np.searchsorted(-self.scores, -score, side="right"))
        self.scores[place + 1 :] = self.scores[place:-1].copy()
        self.paths[place + 1 :] = self.paths[place:-1].copy()
        self.scores[place], self.paths[place] = score, path
        return True


class DepthFirst:
    """A depth-first branch and bound that can be interrupted after any node and resumed.

    It visits every path whose bounds exceed the worst score in `best` at that moment: when it
    has ended, no other path scores more.

    Parameters
    ----------
    best
        The paths to improve on, updated in place; empty if it keeps several.
    problem
        The problem to solve.
    bounds
        ``bounds[l, v]``: an upper bound on the score, less prices, of l vertices after v and the
        end. **Shape:** ``(length, n)``
    prices
        The price of each vertex, and the sum over classes.
    """

    def __init__(
        self, best: BestPaths, problem: PathProblem, bounds: Floats, prices: Prices
    ) -> None:
        self._given = (problem.graph, bounds, prices, best.ranking)
        self._state = fresh_state(problem.size, problem.class_count, best.paths.shape[1])

    def run(self, nodes: int) -> bool:
        """Expand up to `nodes` more nodes; return whether the search has ended."""
        search(*self._given, self._state, nodes)
        return bool(self._state.depth[0] == -2)

    @property
    def frontier(self) -> float:
        """An upper bound on every path not visited yet; ``-inf`` after the end."""
        return float(frontier_of(self._state))
