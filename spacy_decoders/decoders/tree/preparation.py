"""From a tree problem to the flat arrays that the kernels of branch and bound take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .kernels.branch_and_bound import Incidence, Multipliers, Scores
from .problem import TreeProblem

__all__ = ["Prepared", "forbidden_score", "lowest_score", "prepare", "reach_of"]

_NOTHING = read_only(np.zeros((1, 1, 1)))


class Prepared(NamedTuple):
    """What the kernels are given, besides masks; trees up to `threshold` hold a forbidden part."""

    scores: Any
    incidence: Any
    multipliers: Any
    threshold: float


def prepare(problem: TreeProblem) -> Prepared:
    """Flatten a problem; a forbidden part gets a finite score that no tree can make up for."""
    size = problem.n + 1
    grandparents = _NOTHING if problem.grandparents is None else problem.grandparents
    siblings = _NOTHING if problem.siblings is None else problem.siblings
    factors = problem.factors
    if factors is None:
        arcs = np.zeros((0, 2), np.int32)
        offsets = np.zeros(1, np.int64)
        worth = np.zeros(0)
        low = high = np.zeros(0, np.int32)
    else:
        arcs, offsets, worth = factors.arcs, factors.offsets, factors.scores
        low, high = factors.at_least, factors.at_most
    reach = reach_of(problem)
    forbidden = forbidden_score(reach)
    worth = np.maximum(worth, forbidden)
    scores = Scores(
        problem.arcs, grandparents, siblings, read_only(arcs), read_only(offsets),
        read_only(worth), read_only(low), read_only(high), forbidden,
    )  # fmt: skip
    multipliers = Multipliers(
        np.full((size, size, size), -1.0) if problem.siblings is not None else np.zeros((1, 1, 1)),
        np.full((size, size, size), -1.0)
        if problem.grandparents is not None
        else np.zeros((1, 1, 1)),
        np.full(2 * len(arcs), -1.0),
    )
    # a tree with a forbidden part lies below
    return Prepared(
        scores, incidence(arcs, offsets, worth, low, size), multipliers, lowest_score(reach)
    )


def reach_of(problem: TreeProblem) -> float:
    """Bound the absolute score of every tree without forbidden parts."""
    reach = _largest(problem.arcs) * problem.n
    if problem.grandparents is not None:
        reach += _largest(problem.grandparents) * problem.n
    if problem.siblings is not None:
        reach += _largest(problem.siblings) * problem.n * problem.n / 2
    if problem.factors is not None:
        worth = problem.factors.scores
        reach += float(np.abs(worth[worth > -np.inf]).sum())
    return reach


def forbidden_score(reach: float) -> float:
    """Return a finite score for forbidden parts that no other parts can make up for."""
    return -(2.2 * reach + 2.0)


def lowest_score(reach: float) -> float:
    """Return a score between those of trees with forbidden parts and those without."""
    return -(1.1 * reach + 1.0)


def incidence(
    arcs: NDArray[np.int32],
    offsets: NDArray[np.int64],
    worth: NDArray[np.float64],
    low: NDArray[np.int32],
    size: int,
) -> Any:
    """Index the factors by their arcs."""
    owner = np.repeat(np.arange(len(worth), dtype=np.int32), np.diff(offsets))
    flat = arcs[:, 0].astype(np.int64) * size + arcs[:, 1]
    order = np.argsort(flat, kind="stable")
    starts = np.zeros(size * size + 1, np.int64)
    np.cumsum(np.bincount(flat, minlength=size * size), out=starts[1:])
    return Incidence(
        starts, owner[order], np.zeros(len(worth), np.int32), float(worth[low <= 0].sum())
    )


def _largest(values: NDArray[np.float64]) -> float:
    low, high = float(values.min()), float(values.max())
    if low == -np.inf:
        finite = values[values > -np.inf]
        low = float(finite.min(initial=0.0))
    return max(abs(low), abs(high)) if high > -np.inf else 0.0
