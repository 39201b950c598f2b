"""Removing the vertices that no path as good as a known one can visit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels.graph import Prices
from .kernels.walks import walk_bounds
from .problem import PathProblem

__all__ = ["reduce", "useful_vertices"]


def reduce(
    problem: PathProblem, length: int, score: float
) -> tuple[PathProblem, NDArray[np.int64]]:
    """Remove the vertices that no path with a score of at least `score` can visit.

    This is safe: if the best path reaches `score`, any decoder still finds it, in less time.

    Parameters
    ----------
    problem
        The graph.
    length
        Vertices of the path.
    score
        The score of a known path, such as a beam's.

    Returns
    -------
    The smaller problem, and its vertices as indices of the given one, ascending.

    Examples
    --------
    >>> problem = PathProblem([3, 2, -9], np.zeros((3, 3)), [0, 0, 0], classes=[0, 1, 2])
    >>> reduce(problem, 1, score=2.0)[1]
    array([0, 1])
    """
    length = problem.checked_length(length)
    kept = useful_vertices(problem, problem.completions(length), score)
    return problem.restrict(kept), kept


def useful_vertices(
    problem: PathProblem,
    after: NDArray[np.float64],
    threshold: float,
    prices: Prices | None = None,
) -> NDArray[np.int64]:
    """Return, ascending, the vertices that a path scoring at least `threshold` may visit.

    At each position the best walk to a vertex and the best walk on from it bound every path
    that visits it there.

    Parameters
    ----------
    problem
        The graph.
    after
        ``after[l, v]`` bounds the score of l vertices after v and the end, less their prices.
        **Shape:** ``(length, n)``
    threshold
        The score of a known path. That path's own vertices stay.
    prices
        The price of each vertex; zero by default.
    """
    paid, total = prices or Prices(np.zeros(problem.size), 0.0)
    before = walk_bounds(problem.edges, problem.start, paid, len(after) - 1)
    through = (before + after[::-1]).max(axis=0) - paid + total
    slack = problem.rounding(len(after), threshold, total) if threshold > -np.inf else 0.0
    return np.flatnonzero((through >= threshold - slack) & (through > -np.inf))
