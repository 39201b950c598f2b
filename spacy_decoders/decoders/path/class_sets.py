"""The best path by dynamic programming over all sets of classes (Held and Karp, 1962)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .kernels.class_sets import BEST_VERTEX, SetTable, go_through_sets
from .problem import Floats, Integers, PathProblem
from .work import STEPS

__all__ = ["best_by_class_sets", "set_table"]


def set_table(groups: int, size: int, length: int, threshold: float) -> SetTable:
    """Allocate the table of a dynamic program over sets of so many groups."""
    values = np.empty((1 << groups, size))
    path = np.empty(length, dtype=np.int32)
    return SetTable(values, path, np.array([threshold]), np.array([0, 0, -1]))


def best_by_class_sets(
    problem: PathProblem, rest: Floats, threshold: float, interrupted: Callable[[int], bool]
) -> tuple[bool, Integers | None]:
    """Find the best path whose score exceeds `threshold`, if there is one.

    Parameters
    ----------
    rest
        ``rest[l, v]``: a bound on the score of l vertices after v. **Shape:** ``(length, n)``
    interrupted
        Called from time to time with the number of vertices visited since; returns whether to
        stop.

    Returns
    -------
    Whether all sets were processed, and the path.
    """
    squared = max(1, problem.size) ** 2
    sets = 1 + STEPS // squared
    count = problem.class_count
    table = set_table(count, problem.size, len(rest), threshold)
    given = (problem.graph, problem.dense_classes, count, rest, True, sets, table)
    while not go_through_sets(*given):
        if interrupted(sets * squared):
            return False, None
    return True, table.path if table.state[BEST_VERTEX] >= 0 else None
