"""The base class of the decoders of selection-and-ordering problems."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import count

import numpy as np

from ...arrays import Integers32, checked_list, checked_type, checked_whole
from ...budget import UNLIMITED, Budget, Clock, rest_of
from ...certificate import Certificate
from ...errors import InfeasibleError, UndecidedError
from .problem import WALK, PathProblem, PathSolution

__all__ = ["PathDecoder"]


class PathDecoder:
    """A decoder of selection-and-ordering problems."""

    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find the best path of `length` vertices.

        Raises
        ------
        InfeasibleError
            If there is no such path.
        UndecidedError
            If the budget ended before any was found.
        ProblemError
            If an argument is of another type, or the length is less than 1.
        """
        length, clock = self._begun(problem, length, budget)
        return self._solve(problem, length, 1, clock)[0]

    @staticmethod
    def _begun(problem: PathProblem, length: int, budget: Budget) -> tuple[int, Clock]:
        """Check the arguments; return the length and the running clock."""
        clock = checked_type("budget", budget, Budget).start()
        return checked_type("problem", problem, PathProblem).checked_length(length), clock

    def _solve(
        self, problem: PathProblem, length: int, k: int, clock: Clock
    ) -> list[PathSolution]:
        """Find the best path, or up to `k` where `k_best` asks for them, best first."""
        raise NotImplementedError(f"{type(self).__name__} has neither `decode` nor `_solve`.")

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find up to `k` distinct paths of `length` vertices, best first.

        Every certificate has the bound on the best path, so the gap of the k-th is how far it
        falls short of that. The budget's seconds are for all the decodings that this takes, its
        iterations for each of them; paths of parts in which it ends before any is found are left
        out.

        Lawler (1972): the paths other than the best are partitioned by where they deviate from
        it. Each part is a smaller problem of the same kind, which starts after the common prefix.

        Raises
        ------
        InfeasibleError
            If there is no path of that length.
        UndecidedError
            If the budget ended before any was found.
        """
        (length, clock), k = self._begun(problem, length, budget), checked_whole("k", k, low=1)
        seconds_a_part = 10 * WALK * problem.size**2
        best = self.decode(problem, length, budget=budget)
        order = count()
        heap = [(-problem.score(best.vertices), next(order), best.vertices, 0, frozenset[int]())]
        paths: list[Integers32] = []
        while heap and len(paths) < k:
            _, _, vertices, fixed, forbidden = heapq.heappop(heap)
            paths.append(vertices)
            path = [int(v) for v in vertices]
            for kept in range(fixed, len(path)):
                if clock.seconds_left <= seconds_a_part:
                    break
                closed = (forbidden if kept == fixed else frozenset()) | {path[kept]}
                other = self._best_departure(
                    problem, path[:kept], closed, len(path), rest_of(clock, 0)
                )
                if other is not None:
                    heapq.heappush(heap, (-problem.score(other), next(order), other, kept, closed))
        # a heuristic decoder may miss a path at first and find it in a part, so rank them anew
        proven = best.certificate
        bound = np.inf if proven.bound is None else proven.bound
        return [
            # the confidence is about the first path alone
            best
            if list(path) == list(best.vertices)
            else PathSolution.certified(
                proven.decoder, problem, path, bound, iterations=proven.iterations
            )
            for path in problem.ranked(paths)
        ]

    def decode_lengths(
        self, problem: PathProblem, lengths: Iterable[int], *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find the best path of each length, in the order given.

        A length that no path has gets an empty path and an infeasible certificate; if the budget
        ended before any was found, an undecided one. The budget is for each length.
        """
        decoder, nothing = type(self).__name__, np.empty(0, dtype=np.int32)
        solutions = []
        for length in checked_list("lengths", lengths, "whole numbers"):
            try:
                solutions.append(self.decode(problem, length, budget=budget))
            except InfeasibleError:
                solutions.append(PathSolution(nothing, Certificate.infeasible(decoder)))
            except UndecidedError:
                solutions.append(PathSolution(nothing, Certificate.undecided(decoder)))
        return solutions

    def _best_departure(
        self,
        problem: PathProblem,
        prefix: list[int],
        closed: frozenset[int],
        length: int,
        budget: Budget,
    ) -> Integers32 | None:
        """The best path that starts with `prefix`, and not with one of `closed` after it."""
        classes = problem.dense_classes
        left = np.flatnonzero(~np.isin(classes, classes[prefix]))
        part = problem.restrict(left)
        begin = np.array(problem.weights[prefix[-1]] if prefix else problem.start)
        begin[list(closed)] = -np.inf
        part = PathProblem(begin[left], part.weights, part.end, part.classes)
        try:
            rest = self.decode(part, length - len(prefix), budget=budget)
        except (InfeasibleError, UndecidedError):
            return None
        return np.concatenate([prefix, left[rest.vertices]]).astype(np.int32)
