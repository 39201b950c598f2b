"""The arrays that the kernels of branch and bound take, from a tree problem."""

import numpy as np

from ....arrays import read_only
from ..factors import Factors
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from .kernels.records import Multipliers, PartScores

__all__ = ["Prepared"]

_NOTHING = read_only(np.zeros((1, 1, 1)))
_NO_FACTORS = Factors.empty()

#: The most tokens of a second-order chart: longer sentences get a first-order backbone.
LONGEST_CHART = 160


class Prepared:
    """The arguments of the kernels that all nodes share.

    A forbidden part gets a finite score, so low that no other parts can offset it.
    """

    def __init__(self, problem: TreeProblem, magnitudes: Magnitudes, second_order: bool) -> None:
        factors = _NO_FACTORS if problem.factors is None else problem.factors
        # whether the backbone scores all grandparents and adjacent siblings
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
        siblings = 0.5 * np.maximum(self.scores.siblings, 0.0)  # half of a gain for each arc
        chains = (1, 1, 1) if self.second_order else self.scores.grandparents.shape
        self.multipliers = Multipliers(
            siblings,
            np.zeros_like(siblings),
            np.zeros(chains),
            np.full(2 * len(factors.arcs), -1.0),
            magnitudes.limit,
        )
        # those that the backbone scores; empty if none
        self.grandparents = read_only(np.zeros((0, 0, 0)))
        if self.second_order and problem.grandparents is not None:
            finite = np.maximum(problem.grandparents, magnitudes.forbidden)
            self.grandparents = read_only(finite)
