"""From a tree problem to the flat arrays that the kernels of branch and bound take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import read_only
from ..arc_bounds import bounding_arcs
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from .kernels.records import FactorIndex, Multipliers, PartScores

__all__ = [
    "Prepared",
    "outline",
    "prepare",
]

_NOTHING = read_only(np.zeros((1, 1, 1)))

#: Arcs, offsets, scores and limits of no factors.
_NO_FACTORS: Any = (
    read_only(np.zeros((0, 2), np.int32)),
    read_only(np.zeros(1, np.int64)),
    read_only(np.zeros(0)),
    *[read_only(np.zeros(0, np.int32))] * 2,
)

#: Tokens up to which O(n^3) work is negligible beside the passes.
MOST_CUBED = 250


class Prepared:
    """The kernels' arguments but masks; a tree scored up to `threshold` has a forbidden part."""

    def __init__(
        self,
        scores: Any,
        index: Any,
        size: int,
        threshold: float,
        factor_arcs: int,
        slack: NDArray[np.float64],
        limit: float,
    ) -> None:
        self.scores = scores
        self.index = index
        self.threshold = threshold
        self.slack = slack
        has_siblings = scores.siblings.shape[0] > 1
        self._siblings = np.full((size,) * 3, -1.0) if has_siblings else np.zeros((1, 1, 1))
        self._grandparents = np.zeros((1, 1, 1))
        self._factors = np.full(2 * factor_arcs, -1.0)
        self._limit = limit

    def multipliers(self, with_grandparents: bool) -> Any:
        """Return the multipliers that all nodes share, with those of relaxed grandparents."""
        chains = self.scores.grandparents
        if with_grandparents and self._grandparents.shape != chains.shape:
            self._grandparents = np.full(chains.shape, -1.0)
        return Multipliers(
            self._siblings, self._grandparents, self._factors, self.slack, self._limit
        )


def outline(problem: TreeProblem, scores: Any) -> Any:
    """Return scores with arcs alone, as :func:`.bounding_arcs` says.

    For sentences so long that lists of all grandparents and siblings would exhaust the memory.
    """
    arcs = read_only(bounding_arcs(problem, scores.forbidden))
    return scores._replace(arcs=arcs, grandparents=_NOTHING, siblings=_NOTHING)


def prepare(problem: TreeProblem, magnitudes: Magnitudes) -> Prepared:
    """Flatten a problem; a forbidden part gets a finite score that no other parts can offset."""
    size = problem.n + 1
    grandparents = _NOTHING if problem.grandparents is None else problem.grandparents
    siblings = _NOTHING if problem.siblings is None else problem.siblings
    factors = problem.factors
    forbidden = magnitudes.forbidden
    counted = _NO_FACTORS
    if factors is not None:
        worth = np.maximum(factors.scores, forbidden)
        given = (factors.arcs, factors.offsets, worth, factors.at_least, factors.at_most)
        counted = tuple(read_only(array) for array in given)
    arcs, offsets, worth, low, high = counted
    scores = PartScores(
        problem.arcs,
        grandparents,
        siblings,
        arcs,
        offsets,
        worth,
        low,
        high,
        forbidden,
        problem.gaps,
    )
    index = factor_index(arcs, offsets, worth, low, size)
    return Prepared(
        scores,
        index,
        size,
        magnitudes.threshold,
        len(arcs),
        slack_of(problem),
        magnitudes.limit,
    )


def slack_of(problem: TreeProblem) -> NDArray[np.float64]:
    """Return the loss of the best tree with each arc, by the arcs alone; above 0.

    An estimate that no bound depends on: it ranks the arcs by likelihood, where grandparents or
    siblings are scored. Elsewhere nothing asks for it, and it is 1.
    """
    if problem.grandparents is None and problem.siblings is None:
        return np.ones_like(problem.arcs)
    from ..kernels import chu_liu_edmonds, eisner  # compiled where they are first needed

    if problem.projective and problem.n <= MOST_CUBED:
        marginals = eisner.max_marginals(problem.arcs, problem.has_one_root, problem.gaps)
    else:
        marginals = chu_liu_edmonds.decode(problem.arcs, problem.has_one_root, True)[-1]
    reached = marginals > -np.inf
    if not reached.any():
        return np.ones_like(problem.arcs)
    best = marginals.max()
    slack = np.where(reached, best - marginals, 2.0 * (best - marginals[reached].min()))
    of_tokens = slack[:, 1:].ravel()
    median = float(np.partition(of_tokens, of_tokens.size // 2)[of_tokens.size // 2])
    positive: NDArray[np.float64] = np.maximum(slack, 1e-3 * max(1.0, median))
    return positive


def factor_index(
    arcs: NDArray[np.int32],
    offsets: NDArray[np.int64],
    worth: NDArray[np.float64],
    low: NDArray[np.int32],
    size: int,
) -> Any:
    """Index the factors by their arcs."""
    if not len(worth):
        nothing = np.zeros(0, np.int32)
        return FactorIndex(np.zeros(size * size + 1, np.int64), nothing, nothing.copy(), 0.0)
    owner = np.repeat(np.arange(len(worth), dtype=np.int32), np.diff(offsets))
    flat = arcs[:, 0].astype(np.int64) * size + arcs[:, 1]
    order = np.argsort(flat, kind="stable")
    starts = np.zeros(size * size + 1, np.int64)
    np.cumsum(np.bincount(flat, minlength=size * size), out=starts[1:])
    return FactorIndex(
        starts, owner[order], np.zeros(len(worth), np.int32), float(worth[low <= 0].sum())
    )
