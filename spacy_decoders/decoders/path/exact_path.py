"""Exact paths: walk bounds, branch and bound, and relaxations that close the remaining gap."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget
from ...errors import ProblemError
from .decoder import PathDecoder
from .depth_first import BestPaths
from .feasibility import some_path
from .gap_closing import GapClosing
from .kernels.graph import Prices
from .kernels.walks import best_walk
from .problem import Floats, Integers, PathProblem, PathSolution
from .proof import Proof, quick_bound
from .work import Work

__all__ = ["ExactPath", "decode_lengths", "k_best"]

#: The most paths that one ranking keeps.
MOST_RANKED = 100_000

#: Nodes of the first search: most documents need no more.
FIRST_NODES = 300


@dataclass(frozen=True)
class ExactPath(PathDecoder):
    """Exact decoding: bounds from walks, and a search where the best walk is not a path.

    A walk may visit a class more than once, so the best one is found by dynamic programming and
    bounds the best path from above. If it visits none twice, it is the best path. Otherwise a
    depth-first branch and bound with the walks as completion bounds decides most problems
    within a few hundred nodes. For the rest the bound is tightened by a price on each class
    (Lagrangian multipliers), by removing vertices that no better path can visit, and by walks
    that remember the classes they repeated (state-space relaxation, then ng-routes), until bound
    and path agree.

    Without a budget it works until the proof is complete.

    References
    ----------
    Deshpande, Barzilay, Karger (2007), section 2: the problem. Christofides, Mingozzi, Toth
    (1981), State-space relaxation. Righini, Salani (2008), Decremental state space
    relaxation. Baldacci, Mingozzi, Roberti (2011), ng-routes; Roberti, Mingozzi (2014),
    dynamic ng-path relaxation.

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

    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find the best path of `length` vertices and prove it.

        An iteration of the budget is a round of the search or of a relaxation.

        Raises
        ------
        InfeasibleError
            If there is no such path.
        """
        length = problem.checked_length(length)
        return self._solve(problem, problem.completions(length), length, 1, budget)[0]

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find up to `k` distinct paths of `length` vertices, best first, each with its proof.

        Every certificate compares with the best path of all: the gap of the others is the
        difference between their scores and its score.

        Raises
        ------
        InfeasibleError
            If there is no path of that length.
        ProblemError
            If `k` is no whole number from 1 to 100,000.
        """
        length, k = problem.checked_length(length), checked_whole("k", k, low=1)
        k = min(k, math.perm(problem.size, length))
        if k > MOST_RANKED:
            raise ProblemError(f"k: at most {MOST_RANKED:,} paths are ranked; got {k:,}.")
        return self._solve(problem, problem.completions(length), length, k, budget)

    def decode_lengths(
        self, problem: PathProblem, lengths: Iterable[int], *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find the best path of each length, all from one dynamic program, in the order given.

        A length that no path has gets no vertices and a certificate that says infeasible.
        The budget is for each length.
        """
        lengths = list(lengths)
        longest = min(max(lengths, default=1), problem.class_count)
        table = problem.completions(max(longest, 1))

        def decode(length: int) -> PathSolution:
            length = problem.checked_length(length)
            return self._solve(problem, table[:length], length, 1, budget)[0]

        return self._each_length(lengths, decode)

    def _solve(
        self, problem: PathProblem, table: Floats, length: int, count: int, budget: Budget
    ) -> list[PathSolution]:
        work = Work(budget.start())
        walk = _best_walk(problem, table) if count == 1 else None
        if walk is not None:
            paths, closing = [walk], None
        else:
            paths, closing = _searched(problem, table, length, count, work)
        nodes = FIRST_NODES
        if not paths:
            # a path from the proof's own search must not be certified by that search
            paths, nodes, closing = [some_path(problem, length, work.clock)], 0, None
        score = problem.score(paths[0])
        if closing is None:
            bound = quick_bound(problem, length, score, nodes)
        else:
            proof = Proof(problem, length, score, work.clock)
            closing.help_prove(proof)
            bound = proof.bound
        iterations = work.iterations
        return [
            PathSolution.certified("ExactPath", problem, path, bound, iterations=iterations)
            for path in paths
        ]


def _best_walk(problem: PathProblem, table: Floats) -> Integers | None:
    """Return the best walk if it is a path."""
    walk = np.empty(len(table), dtype=np.int32)
    return walk if best_walk(problem.arrays, table, walk) else None


def _searched(
    problem: PathProblem, table: Floats, length: int, count: int, work: Work
) -> tuple[list[Integers], GapClosing | None]:
    """Return the best paths found, and the state of gap closing if the first search left a gap."""
    best, closing = BestPaths(length, count), None
    frontier = best.search(problem, table, Prices(np.zeros(problem.size), 0.0), FIRST_NODES)
    if frontier > -np.inf:
        closing = GapClosing(problem, table, best, frontier, work)
        closing.run()
        best = closing.best
    paths = list(best.paths[: best.found])
    return paths if count == 1 else problem.ranked(paths), closing


def k_best(
    problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
) -> list[PathSolution]:
    """Find up to `k` distinct best paths exactly: :meth:`ExactPath.k_best`."""
    return ExactPath().k_best(problem, length, k, budget=budget)


def decode_lengths(
    problem: PathProblem, lengths: Iterable[int], *, budget: Budget = UNLIMITED
) -> list[PathSolution]:
    """Find the best path of each length exactly: :meth:`ExactPath.decode_lengths`."""
    return ExactPath().decode_lengths(problem, lengths, budget=budget)
