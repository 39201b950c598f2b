"""One colouring of the classes after another, each interruptible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .effort import STEPS
from .kernels.color import go_on_colorings
from .problem import Floats, Integers, PathProblem

__all__ = ["Colorings"]


class Colorings:
    """The dynamic program over sets of colours.

    Parameters
    ----------
    problem
        The graph.
    rest
        ``rest[l, v]``: the most that l vertices after v can add. **Shape:** ``(length, n)``
    colors
        How many colours; as many as there are classes decide the problem.
    prune
        Whether to leave out what can't exceed the best path known.
    seed
        What the colourings are drawn from.
    """

    def __init__(
        self, problem: PathProblem, rest: Floats, colors: int, *, prune: bool, seed: int
    ) -> None:
        self._problem = problem
        self._given = (
            problem.start,
            problem.edges,
            problem.end,
            problem.dense_classes,
            rest,
            prune,
            colors,
            seed & 0xFFFFFFFFFFFFFFFF,
        )
        self._sets = 1 << colors
        self._path = np.empty(len(rest), dtype=np.int32)
        self._best, self._state = np.empty(1), np.zeros(3, dtype=np.int64)
        self._workspace = (
            np.zeros(problem.class_count, dtype=np.int64),
            np.empty((self._sets, problem.size)),
            self._path,
        )

    def run(
        self, first: int, last: int, threshold: float, interrupted: Callable[[int], bool]
    ) -> tuple[int, Integers | None]:
        """Colour until a path is worth more than `threshold`: how far it came, and the path.

        Parameters
        ----------
        first, last
            The number of the next colouring, and of the first that is not wanted.
        interrupted
            Asked from time to time whether to stop; it is told how many vertices were looked
            at since.
        """
        self._best[0], self._state[:] = threshold, (0, 0, -1)
        squared = max(1, self._problem.size) ** 2
        a_round = 1 + STEPS // squared
        while first < last:
            given = (first, last, a_round, *self._workspace, self._best, self._state)
            first = go_on_colorings(*self._given, *given)
            if self._state[0] == 0 and self._state[2] >= 0:
                return first, self._path.copy()
            if first < last and interrupted(min(a_round, self._sets) * squared):
                break
        return first, None
