"""From a tree problem to the flat arrays that the kernels of branch and bound take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....arrays import read_only
from ..arc_bounds import bounding_arcs
from ..factors import Factors
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from .kernels.records import Multipliers, PartScores

__all__ = ["Prepared", "outline"]

_NOTHING = read_only(np.zeros((1, 1, 1)))
_NO_FACTORS = Factors.empty()

#: Tokens up to which O(n^3) work is negligible beside the passes.
MOST_CUBED = 250


class Prepared:
    """The kernels' arguments but masks.

    A forbidden part gets a finite score that no other parts can offset.
    """

    def __init__(self, problem: TreeProblem, magnitudes: Magnitudes) -> None:
        factors = _NO_FACTORS if problem.factors is None else problem.factors
        size = problem.n + 1
        self.scores = PartScores(
            problem.arcs,
            _NOTHING if problem.grandparents is None else problem.grandparents,
            _NOTHING if problem.siblings is None else problem.siblings,
            factors.arcs,
            factors.offsets,
            read_only(np.maximum(factors.scores, magnitudes.forbidden)),
            factors.at_least,
            factors.at_most,
            magnitudes.forbidden,
            problem.gaps,
        )
        self._multipliers = Multipliers(
            np.zeros((1, 1, 1)) if problem.siblings is None else np.full((size,) * 3, -1.0),
            np.zeros((1, 1, 1)),
            np.full(2 * len(factors.arcs), -1.0),
            slack_of(problem),
            magnitudes.limit,
        )

    def multipliers(self, with_grandparents: bool) -> Multipliers:
        """Return the multipliers that all nodes share, with those of relaxed grandparents."""
        shape = self.scores.grandparents.shape
        if with_grandparents and self._multipliers.grandparents.shape != shape:
            self._multipliers = self._multipliers._replace(grandparents=np.full(shape, -1.0))
        return self._multipliers


def outline(problem: TreeProblem, scores: PartScores) -> PartScores:
    """Return scores with arcs alone, as :func:`.bounding_arcs` says.

    For sentences so long that lists of all grandparents and siblings would exhaust the memory.
    """
    arcs = read_only(bounding_arcs(problem, scores.forbidden))
    return scores._replace(arcs=arcs, grandparents=_NOTHING, siblings=_NOTHING)


def slack_of(problem: TreeProblem) -> NDArray[np.float64]:
    """Return the loss of the best tree with each arc, by the arcs alone; above 0.

    An estimate that no bound depends on: it ranks the arcs by likelihood, where siblings are
    scored. Elsewhere nothing asks for it, and it is 1.
    """
    if problem.siblings is None:
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
