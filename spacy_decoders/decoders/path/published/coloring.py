"""A sequence of random colourings of the classes, each interruptible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..branch_and_bound import STEPS
from ..problem import Floats, Integers, PathProblem
from .kernels.class_sets import BEST_VERTEX, NEXT_SET, SetTable
from .kernels.coloring import go_on_colorings

__all__ = ["Colorings"]


class Colorings:
    """The dynamic program over sets of colours, for random colourings of the classes.

    Parameters
    ----------
    problem
        The graph.
    rest
        ``rest[l, v]``: a bound on the score of l vertices after v. **Shape:** ``(length, n)``
    colors
        The number of colours; as many as there are classes decide the problem.
    prune
        Whether to prune states that cannot exceed the best path known.
    seed
        The seed of the colourings.
    """

    def __init__(
        self, problem: PathProblem, rest: Floats, colors: int, *, prune: bool, seed: int
    ) -> None:
        seed &= 0xFFFFFFFFFFFFFFFF
        self._size = problem.size
        self._given = (problem.graph, rest, prune, colors, seed)
        self._of_class = np.zeros(problem.class_count, dtype=np.int64)
        self._of_vertex = np.zeros(problem.size, dtype=np.int64)
        path = np.empty(len(rest), dtype=np.int32)
        values = np.empty((1 << colors, problem.size))
        self._table = SetTable(values, path, np.full(1, -np.inf), np.array([0, 0, -1]))

    def run(
        self, first: int, last: int, threshold: float, interrupted: Callable[[], bool]
    ) -> tuple[int, Integers | None]:
        """Colour until a path scores more than `threshold`; return the progress and the path.

        Parameters
        ----------
        first, last
            The number of the next colouring, and the end of the range.
        interrupted
            Called from time to time; returns whether to stop.
        """
        table = self._table
        table.best[0], table.state[:] = threshold, (0, 0, -1)
        sets = 1 + STEPS // max(1, self._size) ** 2
        while first < last:
            given = (first, last, sets, self._of_class, self._of_vertex, table)
            first = go_on_colorings(*self._given, *given)
            if table.state[NEXT_SET] == 0 and table.state[BEST_VERTEX] >= 0:
                return first, table.path.copy()
            if first < last and interrupted():
                break
        return first, None
