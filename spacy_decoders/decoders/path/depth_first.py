"""The best paths so far, and the depth-first search that improves on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels.search import search, search_once
from .problem import PathProblem

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
        """How many paths there are."""
        return int(np.count_nonzero(self.scores > -np.inf))

    def search(
        self,
        problem: PathProblem,
        bounds: NDArray[np.float64],
        prices: NDArray[np.float64],
        total_price: float,
        nodes: int,
    ) -> float:
        """Improve on them depth first; what bounds the paths that so many nodes leave over.

        The arguments are those of `DepthFirst`, which can go on.
        """
        given = (problem.start, problem.edges, problem.end, problem.dense_classes)
        frontier: float = search_once(
            *given,
            problem.class_count,
            bounds,
            prices,
            total_price,
            self.scores,
            self.paths,
            nodes,
        )
        return frontier

    def offer(self, score: float, path: NDArray[Any]) -> bool:
        """Take a path if it is new and good enough; say whether it was."""
        if not score > self.threshold or (self.paths == path).all(axis=1).any():
            return False
        place = int(np.searchsorted(-self.scores, -score, side="right"))
        self.scores[place + 1 :] = self.scores[place:-1].copy()
        self.paths[place + 1 :] = self.paths[place:-1].copy()
        self.scores[place], self.paths[place] = score, path
        return True


class DepthFirst:
    """A depth-first branch and bound that stops after any number of nodes and goes on.

    It visits every path that its bounds allow to exceed the worst of the `best` at that
    moment: when it has ended, no other path does.

    Parameters
    ----------
    best
        The paths to improve on; it is updated in place. Empty, if there are several.
    problem
        What to solve.
    bounds
        ``bounds[l, v]``: an upper bound on the worth of l vertices after v and the end, the
        prices of those l paid. **Shape:** ``(length, n)``
    prices
        What each vertex pays. **Shape:** ``(n,)``
    total_price
        The sum of the prices over classes.
    """

    def __init__(
        self,
        best: BestPaths,
        problem: PathProblem,
        bounds: NDArray[np.float64],
        prices: NDArray[np.float64],
        total_price: float,
    ) -> None:
        length = best.paths.shape[1]
        self._best = best
        self._given = (
            problem.start,
            problem.edges,
            problem.end,
            problem.dense_classes,
            bounds,
            prices,
            float(total_price),
        )
        self._workspace = (
            np.zeros(length, dtype=np.int32),
            np.zeros(length + 1),
            np.zeros(problem.class_count, dtype=np.bool_),
            np.empty((length, problem.size), dtype=np.int32),
            np.empty((length, problem.size)),
            np.zeros(length, dtype=np.int64),
            np.zeros(length, dtype=np.int64),
            np.full(1, -1, dtype=np.int64),
        )

    def run(self, nodes: int) -> bool:
        """Open up to `nodes` more nodes; return whether the search has ended."""
        search(*self._given, self._best.scores, self._best.paths, *self._workspace, nodes)
        return bool(self._workspace[-1][0] == -2)

    @property
    def frontier(self) -> float:
        """An upper bound on every path not visited yet; ``-inf`` after the end."""
        _, _, _, _, promises, counts, cursors, state = self._workspace
        if state[0] == -2:
            return -np.inf
        if state[0] == -1:
            return np.inf
        open_promises = [
            float(promises[depth, cursors[depth] : counts[depth]].max(initial=-np.inf))
            for depth in range(int(state[0]) + 1)
        ]
        return max(open_promises)
