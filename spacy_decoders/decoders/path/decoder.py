"""The base class of path decoders: one path, the k best, or one of each length."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import count

import numpy as np

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from ...errors import InfeasibleError
from .problem import Integers, PathProblem, PathSolution

__all__ = ["PathDecoder"]


class PathDecoder(ABC):
    """A decoder of selection-and-ordering problems."""

    @abstractmethod
    def decode(
        self, problem: PathProblem, length: int, *, budget: Budget = UNLIMITED
    ) -> PathSolution:
        """Find the best path of `length` vertices.

        Raises
        ------
        InfeasibleError
            If there is no such path.
        """

    def k_best(
        self, problem: PathProblem, length: int, k: int, *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find up to `k` distinct paths of `length` vertices, best first.

        Every certificate compares with the best path of all: the gap of the others is the
        difference between their scores and its score. The budget is for each of the decodings
        that this takes.

        Notes
        -----
        Lawler (1972): the paths other than the best are partitioned by where they deviate from
        it. Each part is a smaller problem of the same kind, which starts after the common prefix.

        Raises
        ------
        InfeasibleError
            If there is no path of that length.
        """
        checked_whole("k", k, low=1)
        best = self.decode(problem, length, budget=budget)
        order = count()
        heap = [(-problem.score(best.vertices), next(order), best.vertices, 0, frozenset[int]())]
        paths: list[Integers] = []
        while heap and len(paths) < k:
            _, _, vertices, fixed, forbidden = heapq.heappop(heap)
            paths.append(vertices)
            path = [int(v) for v in vertices]
            for kept in range(fixed, len(path)):
                closed = (forbidden if kept == fixed else frozenset()) | {path[kept]}
                other = self._best_departure(problem, path[:kept], closed, len(path), budget)
                if other is not None:
                    heapq.heappush(heap, (-problem.score(other), next(order), other, kept, closed))
        # a later decoding may find a better path that an earlier heuristic one missed
        proven = best.certificate
        bound = np.inf if proven.bound is None else proven.bound
        return [
            # the confidence is that of the first path, and says nothing of the others
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

        A length that no path has gets no vertices and a certificate that says infeasible.
        The budget is for each length.
        """
        return self._each_length(lengths, lambda n: self.decode(problem, n, budget=budget))

    def _each_length(
        self, lengths: Iterable[int], decode: Callable[[int], PathSolution]
    ) -> list[PathSolution]:
        """Decode each length; for one that no path has, a certificate says so."""
        none = Certificate.infeasible(type(self).__name__)
        solutions = []
        for length in lengths:
            try:
                solutions.append(decode(length))
            except InfeasibleError:
                solutions.append(PathSolution(np.empty(0, dtype=np.int32), none))
        return solutions

    def _best_departure(
        self,
        problem: PathProblem,
        prefix: list[int],
        closed: frozenset[int],
        length: int,
        budget: Budget,
    ) -> Integers | None:
        """The best path that starts with `prefix` and continues with none of `closed`."""
        classes = problem.dense_classes
        left = np.flatnonzero(~np.isin(classes, classes[prefix]))
        if not len(left):
            return None
        part = problem.restrict(left)
        begin = np.array(problem.weights[prefix[-1]] if prefix else problem.start)
        begin[list(closed)] = -np.inf
        part = PathProblem(begin[left], part.weights, part.end, part.classes)
        try:
            rest = self.decode(part, length - len(prefix), budget=budget)
        except InfeasibleError:
            return None
        return np.concatenate([prefix, left[rest.vertices]]).astype(np.int32)
