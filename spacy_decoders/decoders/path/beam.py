"""Beam search, the usual heuristic, also with a look ahead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from ...errors import InfeasibleError, ProblemError
from ..alternatives import beside_the_best
from .decoder import PathDecoder
from .kernels.beam import beam
from .kernels.walk import walk_bounds
from .problem import PathProblem, PathSolution

__all__ = ["Beam"]


@dataclass(frozen=True)
class Beam(PathDecoder):
    """Grow the `width` best paths vertex by vertex, past no class twice.

    Parameters
    ----------
    width
        Hypotheses kept at each length.
    lookahead
        Rank a hypothesis by its score plus the best walk from it to the end, which may
        repeat classes. A tenth of the width then finds as much, a hypothesis without any
        legal completion is dropped at once, and the best walk bounds the optimum.

    Raises
    ------
    ProblemError
        If `width` is not at least 1.

    References
    ----------
    Banko, Mittal, Witbrock (2000). Headline Generation Based on Statistical Translation.

    Examples
    --------
    >>> from spacy_decoders.decoders.path import PathProblem
    >>> problem = PathProblem([2, 1], [[0, 0], [9, 0]], [0, 0], classes=[0, 1])
    >>> Beam(width=1).decode(problem, 2).certificate.score
    2.0
    >>> Beam(width=1, lookahead=True).decode(problem, 2).certificate.score
    10.0
    """

    width: int = 80
    lookahead: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not self.width >= 1:
            raise ProblemError(f"width: a beam keeps at least 1 hypothesis, got {self.width!r}.")

    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find a good path. One pass is one iteration, which no budget interrupts."""
        return self.k_best(problem, length, 1, budget=budget)[0]

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Return up to `k` paths of the last beam, best first."""
        length, k = problem.checked_length(length), checked_whole("k", k, low=1)
        if self.lookahead:
            no_prices = np.zeros(problem.size)
            outlook = walk_bounds(problem.reversed_edges, problem.end, no_prices, length - 1)
            bound = float((problem.start + outlook[length - 1]).max())
        else:
            outlook = np.zeros((length, problem.size))
            outlook[0] = problem.end
            bound = np.inf
        scores, paths = beam(
            problem.start,
            problem.edges,
            problem.end,
            problem.dense_classes,
            problem.class_count,
            outlook,
            length,
            self.width,
        )
        if not len(scores):
            raise InfeasibleError(
                f"A beam of {self.width} found no path of {length} vertices. A wider one may; "
                "ExactPath finds one or proves that there is none."
            )
        best = np.lexsort((np.arange(len(scores)), -scores))[:k]
        return beside_the_best(
            [
                PathSolution(paths[i], self._certificate(problem, length, float(scores[i]), bound))
                for i in best
            ]
        )

    def _certificate(
        self, problem: PathProblem, length: int, score: float, bound: float
    ) -> Certificate:
        slack = problem.tolerance(length, score)
        return Certificate.from_bound("Beam", score, bound, tolerance=slack, iterations=1)
