"""The best path by dynamic programming over all sets of classes (Held and Karp, 1962)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .kernels.class_sets import SetTable, go_through_sets
from .problem import Floats, Integers, PathProblem
from .work import STEPS

__all__ = ["best_by_class_sets", "set_table"]


def set_table(groups: int, size: int, length: int, threshold: float) -> SetTable:
    """Return room for a dynamic program over the sets of so many groups."""
    values = np.empty((1 << groups, size))
    path = np.empty(length, dtype=np.int32)
    return SetTable(values, path, np.array([threshold]), np.array([0, 0, -1]))


def best_by_class_sets(
    problem: PathProblem, rest: Floats, threshold: float, interrupted: Callable[[int], bool]
) -> tuple[bool, Integers | None]:
    """Find the best path that is worth more than `threshold`, if there is one.

    Parameters
    ----------
    rest
        ``rest[l, v]``: the most that l vertices after v can add. **Shape:** ``(length, n)``
    interrupted
        Asked from time to time whether to stop; it is told how many vertices were looked at
        since.

    Returns
    -------
    Whether all sets were gone through, and the path.
    """
    squared = max(1, problem.size) ** 2
    sets = 1 + STEPS // squared
    count = problem.class_count
    table = set_table(count, problem.size, len(rest), threshold)
    given = (problem.graph, problem.dense_classes, count, rest, True, sets, table)
    while not go_through_sets(*given):
        if interrupted(sets * squared):
            return False, None
    return True, table.path if table.state[2] >= 0 else None
