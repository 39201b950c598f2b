"""Exact paths: walk bounds, branch and bound, and a proof on the reversed graph."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...arrays import Integers32, checked_whole
from ...budget import UNLIMITED, Budget, Clock
from ...certificate import PROOF_TOLERANCE
from ...errors import ProblemError
from .beam import solved_by_beam
from .decoder import PathDecoder
from .lagrangian_search import FIRST_NODES, WIDTH, BestPaths, LagrangianSearch, nodes_within
from .problem import PathProblem, PathSolution
from .proof import full_bound, quick_bound, some_path

__all__ = ["ExactPath", "decode_lengths", "k_best"]

#: The largest `k` of a ranking.
MOST_RANKED = 100_000


@dataclass(frozen=True)
class ExactPath(PathDecoder):
    """Exact decoding: branch and bound, with walks as bounds.

    A walk may visit a class more than once, so the best one is found by dynamic programming and
    bounds the best path from above. A depth-first branch and bound with the walks as completion
    bounds solves most problems within a few thousand nodes. For the others a price on each class
    (a Lagrangian multiplier) tightens the bound before the search is run to completion.

    The proof is a second search, on the reversed graph: the bound it reaches is compared with the
    score of the path. Without a budget it runs until the proof is complete. An iteration of the
    budget is a round of the search or of subgradient steps.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 2: the problem. Fisher (1981), The Lagrangian
    Relaxation Method for Solving Integer Programming Problems.

    Examples
    --------
    The best walk, 0 1 0, visits vertex 0 twice; the best path does not:

    >>> from spacy_decoders.decoders.path import PathProblem
    >>> problem = PathProblem(
    ...     [5, 0, 0], [[0, 5, 1], [5, 0, 1], [1, 1, 0]], [0, 0, 0], classes=[0, 1, 2]
    ... )
    >>> solution = ExactPath().decode(problem, 3)
    >>> solution.vertices, solution.certificate.score, solution.certificate.status
    (array([0, 1, 2], dtype=int32), 11.0, 'optimal')
    """

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find the same paths as :meth:`.PathDecoder.k_best`, in one search.

        Raises `InfeasibleError` if there is no path of that length, and `ProblemError` if `k` is
        not a whole number from 1 on, or more than 100,000 paths would have to be ranked.
        """
        (length, clock), k = self._begun(problem, length, budget), checked_whole("k", k, low=1)
        k = min(k, math.perm(problem.size, length))
        if k > MOST_RANKED:
            raise ProblemError(f"k: at most {MOST_RANKED:,} paths can be ranked; got {k:,}.")
        return self._solve(problem, length, k, clock)

    def _solve(
        self, problem: PathProblem, length: int, k: int, clock: Clock
    ) -> list[PathSolution]:
        if problem.lacks_time(clock, length, 2):
            return solved_by_beam("ExactPath", problem, length, k, WIDTH, clock)
        closing, table = None, problem.completions(length)
        best = BestPaths(length, k)
        frontier = best.search(problem, table, nodes_within(clock, problem.size, FIRST_NODES))
        if frontier > -np.inf:
            closing = LagrangianSearch(problem, length, best, clock, PROOF_TOLERANCE, table)
            closing.run(frontier)
        paths = list(best.paths[: best.found])
        if k > 1:
            paths = problem.ranked(paths)
        rounds = 1 if closing is None else closing.rounds
        if not paths:
            # the reversed search finds this path, so it must not certify it as well
            paths = [some_path(problem, length, clock)]
            bound = quick_bound(problem, length, problem.score(paths[0]), 0, clock)
        else:
            bound = self._bound(problem, paths[0], closing, clock)
        return [
            PathSolution.certified("ExactPath", problem, path, bound, iterations=rounds)
            for path in paths
        ]

    def _bound(
        self,
        problem: PathProblem,
        path: Integers32,
        closing: LagrangianSearch | None,
        clock: Clock,
    ) -> float:
        """Bound all paths by a reversed search of the same effort as the one for this path."""
        length, score, bound = len(path), problem.score(path), np.inf
        if closing is None:
            bound = quick_bound(problem, length, score, FIRST_NODES, clock)
            if bound <= score + 3.0 * problem.rounding(length, score):
                return bound
        prices = np.zeros(problem.size) if closing is None else closing.prices
        to_the_end = closing is None or closing.done
        given = (problem, length, score, prices, clock)
        return min(bound, full_bound(*given, to_the_end=to_the_end))


def k_best(
    problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
) -> list[PathSolution]:
    """Find up to `k` distinct best paths exactly: :meth:`ExactPath.k_best`."""
    return ExactPath().k_best(problem, length, k, budget=budget)


def decode_lengths(
    problem: PathProblem, lengths: Iterable[int], *, budget: Budget = UNLIMITED
) -> list[PathSolution]:
    """Find the best path of each length exactly: :meth:`.PathDecoder.decode_lengths`."""
    return ExactPath().decode_lengths(problem, lengths, budget=budget)
