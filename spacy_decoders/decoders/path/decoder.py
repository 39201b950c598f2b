"""What all path decoders offer: one path, the best few, or one of each length."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from ...errors import InfeasibleError
from ..alternatives import beside_the_best
from .problem import PathProblem, PathSolution

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

        Every certificate compares with the best path of all: the gap of the others is what
        they are worth less. The budget is for each of the decodings that this takes.

        Notes
        -----
        Lawler (1972): the paths other than the best are parted by where they leave it. Each
        part is a smaller problem of the same kind, which begins where the common prefix ends.

        Raises
        ------
        InfeasibleError
            If there is no path of that length.
        """
        checked_whole("k", k, low=1)
        best = self.decode(problem, length, budget=budget)
        order = count()
        heap = [(-_score(best), next(order), best, 0, frozenset[int]())]
        # the i-th is right if no decoding so far has missed its part's best
        confidence = best.certificate.confidence
        ranked: list[PathSolution] = []
        while heap and len(ranked) < k:
            _, _, solution, fixed, forbidden = heapq.heappop(heap)
            bounds = [solution.certificate.bound, *(item[2].certificate.bound for item in heap)]
            ranked.append(_ranked(solution, bounds, confidence))
            path = [int(v) for v in solution.vertices]
            for kept in range(fixed, len(path)):
                closed = (forbidden if kept == fixed else frozenset()) | {path[kept]}
                other = self._best_departure(problem, path[:kept], closed, len(path), budget)
                if other is not None:
                    confidence = _both(confidence, other.certificate.confidence)
                    heapq.heappush(heap, (-_score(other), next(order), other, kept, closed))
        return beside_the_best(ranked)

    def decode_lengths(
        self, problem: PathProblem, lengths: Iterable[int], *, budget: Budget = UNLIMITED
    ) -> list[PathSolution]:
        """Find the best path of each length, in the order given.

        A length that no path has gets no vertices and a certificate that says infeasible.
        The budget is for each length.
        """
        return list(self._each_length(problem, lengths, budget))

    def _each_length(
        self, problem: PathProblem, lengths: Iterable[int], budget: Budget
    ) -> Iterator[PathSolution]:
        for length in lengths:
            try:
                yield self.decode(problem, length, budget=budget)
            except InfeasibleError:
                yield self.no_path()

    def no_path(self) -> PathSolution:
        """The solution that says there is none."""
        certificate = Certificate.infeasible(type(self).__name__)
        return PathSolution(np.empty(0, dtype=np.int32), certificate)

    def _best_departure(
        self,
        problem: PathProblem,
        prefix: list[int],
        closed: frozenset[int],
        length: int,
        budget: Budget,
    ) -> PathSolution | None:
        """The best path that begins with `prefix` and goes on to none of `closed`."""
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
        path = np.concatenate([prefix, left[rest.vertices]]).astype(np.int32)
        score = problem.score(path)
        paid = score - _score(rest)
        certificate = rest.certificate
        bound = certificate.bound if certificate.bound is None else certificate.bound + paid
        if certificate.is_optimal:
            bound = score
        slack = problem.tolerance(length, score)
        certificate = replace(certificate, score=score, bound=bound, tolerance=slack)
        return PathSolution(path, certificate)


def _score(solution: PathSolution) -> float:
    score = solution.certificate.score
    assert score is not None
    return score


def _both(first: float | None, second: float | None) -> float | None:
    """The least confidence that neither of two decodings has failed."""
    if first is None or second is None:
        return None
    return max(0.0, first + second - 1.0)


def _ranked(
    solution: PathSolution, bounds: list[float | None], confidence: float | None
) -> PathSolution:
    """Certify a path as the best of the parts that are left, whose bounds are given."""
    certificate = solution.certificate
    known = [bound for bound in bounds if bound is not None]
    certificate = Certificate.from_bound(
        certificate.decoder,
        _score(solution),
        max(known) if len(known) == len(bounds) else np.inf,
        tolerance=certificate.tolerance,
        # without a bound left over, all parts are proven
        confidence=None if confidence == 1.0 else confidence,
        scope=certificate.scope,
        iterations=certificate.iterations,
    )
    return PathSolution(solution.vertices, certificate)
