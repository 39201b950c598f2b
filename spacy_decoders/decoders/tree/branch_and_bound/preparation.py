"""From a tree problem to the flat arrays that the kernels of branch and bound take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....arrays import read_only
from ..factors import Factors
from ..fallbacks import bounding_arcs
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from .kernels import pairs
from .kernels.records import Multipliers, PartScores

__all__ = ["Prepared"]

_NOTHING = read_only(np.zeros((1, 1, 1)))
_NO_FACTORS = Factors.empty()

#: The largest chart of second order, in tokens: longer sentences are bounded by arcs alone.
LONGEST_CHART = 160

#: Tokens up to which grandparents and siblings have multipliers; beyond they would exhaust the
#: memory, and each arc is scored by the most that they can add.
LONGEST_CUBES = 250


class Prepared:
    """The kernels' arguments but masks.

    A forbidden part gets a finite score that no other parts can offset.

    Attributes
    ----------
    second_order
        Whether the backbone sees all grandparents and adjacent siblings.
    scores, bounding
        Those of the problem, and those whose best tree bounds it: mostly the same.
    multipliers
        Shared by all nodes.
    grandparents
        Those that the backbone sees; empty if none.
    """

    def __init__(self, problem: TreeProblem, magnitudes: Magnitudes, second_order: bool) -> None:
        factors = _NO_FACTORS if problem.factors is None else problem.factors
        self.second_order = second_order and problem.n <= LONGEST_CHART
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
        self.bounding = self.scores
        if problem.n > LONGEST_CUBES and not self.second_order:
            arcs = read_only(bounding_arcs(problem, magnitudes.forbidden))
            self.bounding = self.scores._replace(
                arcs=arcs, grandparents=_NOTHING, siblings=_NOTHING
            )
        siblings = np.zeros(self.bounding.siblings.shape)
        if siblings.size > 1:
            pairs.split_gains(problem.siblings, problem.allowed, slack_of(problem), siblings)
        chains = (1, 1, 1) if self.second_order else self.bounding.grandparents.shape
        self.multipliers = Multipliers(
            siblings,
            np.zeros_like(siblings),
            np.zeros(chains),
            np.full(2 * len(factors.arcs), -1.0),
            magnitudes.limit,
        )
        self.grandparents = read_only(np.zeros((0, 0, 0)))
        if self.second_order and problem.grandparents is not None:
            finite = np.maximum(problem.grandparents, magnitudes.forbidden)
            self.grandparents = read_only(finite)


def slack_of(problem: TreeProblem) -> NDArray[np.float64]:
    """Return the loss of the best tree with each arc, by the arcs alone; above 0.

    An estimate that no bound depends on: it ranks the arcs by likelihood.
    """
    from ..kernels import chu_liu_edmonds, eisner  # compiled where they are first needed

    if problem.projective and problem.n <= LONGEST_CUBES:
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
