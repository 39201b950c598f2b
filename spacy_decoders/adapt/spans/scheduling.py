"""The best set of spans: interval scheduling, and a search where a kind may occur only once."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import UNLIMITED, Budget, Clock
from ...certificate import Certificate
from .problem import SpanProblem, SpanSolution

__all__ = ["BestSpans"]

#: Within how much of its bound a set is called optimal, relative to 1 + its scale.
TOLERANCE = 1e-9

#: Steps of the subgradient method where a kind was chosen more than once: at the whole problem,
#: and at each of its parts.
FIRST_STEPS, STEPS = 40, 8

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class BestSpans:
    """Exact weighted interval scheduling, flat or nested, with a proof.

    Without kinds that may occur only once, one pass of dynamic programming finds the best set:
    sorted by their ends, each span either extends the best set of those that end before it, or
    is left out. Nested sets take one such pass for the content of each span, the shorter ones
    first.

    Kinds that may occur only once make the problem NP-hard. A price on each of them, found by
    subgradients, turns it into the problem without them, whose bound holds for both; where the
    best set still has a kind twice, or lacks one that has a price, the spans of that kind are
    halved, and each half is forbidden in turn (best first).

    The bound of the certificate comes from potentials of another pass, from right to left, whose
    inequalities are checked span by span (see :mod:`.kernels.proof`).

    References
    ----------
    Kleinberg, Tardos 2006, *Algorithm Design*, section 6.1. Fisher 1981, *The Lagrangian
    Relaxation Method for Solving Integer Programming Problems*.

    Examples
    --------
    >>> problem = SpanProblem(
    ...     [(0, 2), (1, 4), (3, 5)], [1.0, 1.5, 1.0], ["DATE", "ORG", "DATE"], once=["DATE"]
    ... )
    >>> solution = BestSpans().decode(problem)
    >>> solution.chosen, solution.certificate.score, solution.certificate.status
    (array([1], dtype=int32), 1.5, 'optimal')
    """

    def decode(self, problem: SpanProblem, *, budget: Budget = UNLIMITED) -> SpanSolution:
        """Find a best set of spans.

        Parameters
        ----------
        problem
            The spans.
        budget
            Its iterations count parts of the search; without kinds that may occur only once one
            pass is made, whatever the budget.
        """
        search = _Search(problem, budget.start())
        bound = search.run()
        chosen = np.flatnonzero(search.best)
        certificate = Certificate.from_bound(
            type(self).__name__,
            problem.score(chosen),
            bound,
            tolerance=TOLERANCE * (1.0 + float(np.abs(problem.scores[chosen]).sum())),
            scale=float(np.abs(problem.scores[chosen]).sum()),
            iterations=search.parts,
        )
        return SpanSolution.of(problem, chosen, certificate)


class _Part(NamedTuple):
    """Some of the spans, the prices of the kinds there, and what that proves."""

    kept: NDArray[np.bool_]
    prices: Floats
    chosen: NDArray[np.bool_]
    bound: float


class _Search:
    """Branch and bound over which spans of a kind are left."""

    def __init__(self, problem: SpanProblem, clock: Clock) -> None:
        self.problem, self.clock = problem, clock
        self.kinds = problem.kinds
        self.number = int(self.kinds.max(initial=-1)) + 1
        self.best = np.zeros(len(problem), dtype=bool)
        self.score = 0.0
        self.parts = 1

    def run(self) -> float:
        """Search, and return what no allowed set exceeds."""
        kept = self.problem.scores > 0.0
        whole = self._solve(kept, np.zeros(self.number), FIRST_STEPS)
        order = count()  # of equal bounds the older part comes first
        queue = [(-whole.bound, next(order), whole)]
        proven = 0.0  # the empty set
        while queue:
            part = queue[0][2]
            kind = self._open(part)
            heapq.heappop(queue)
            if kind is None or self._closed(part.bound) or self.clock.exhausted(self.parts):
                # what is left has no better bound, or its best set reaches this one
                proven = max(proven, part.bound)
                continue
            for half in self._halves(part, kind):
                self.parts += 1
                found = self._solve(half, part.prices, STEPS)
                found = found._replace(bound=min(found.bound, part.bound))
                heapq.heappush(queue, (-found.bound, next(order), found))
        return proven

    def _open(self, part: _Part) -> int | None:
        """Return a kind to split: it is chosen twice, or it has a price and is not chosen.

        If there is none, the set is worth what the prices prove, and so the best of its part.
        """
        twice = self._twice(part.chosen)
        if len(twice):
            return int(twice[0])
        unpaid = np.where(self._times(part.chosen) == 0, part.prices, 0.0)
        return int(unpaid.argmax()) if unpaid.any() else None

    def _closed(self, bound: float) -> bool:
        """Whether nothing of a part is better than the best set, but for rounding."""
        return bound - self.score <= 0.5 * TOLERANCE * bound

    def _solve(self, kept: NDArray[np.bool_], prices: Floats, steps: int) -> _Part:
        """Bound a part, better and better while its best set has a kind twice."""
        # a kind of one span needs no price: it can't be chosen twice
        best = self._relaxed(kept, np.where(self._times(kept) > 1, prices, 0.0))
        current = best
        for step in range(steps):
            self._improve(kept, current.chosen)
            times = self._times(current.chosen)
            slope = np.where((times > 1) | (current.prices > 0.0), times - 1.0, 0.0)
            if not slope.any() or self._closed(best.bound):
                break
            length = (best.bound - self.score) / float(slope @ slope) / (1.0 + 0.1 * step)
            current = self._relaxed(kept, np.maximum(current.prices + length * slope, 0.0))
            if current.bound < best.bound:
                best = current
        self._improve(kept, best.chosen)
        return best

    def _relaxed(self, kept: NDArray[np.bool_], prices: Floats) -> _Part:
        """Find the best set if a kind may occur often, for a price."""
        scores = self.problem.scores.copy()
        priced = self.kinds >= 0
        scores[priced] -= prices[self.kinds[priced]]
        chosen, bound = _schedule(self.problem, scores, kept)
        return _Part(kept, prices, chosen, bound + float(prices.sum()))

    def _improve(self, kept: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> None:
        """Keep of each kind in a set its best span, and fill what becomes free."""
        self._keep(self._thinned(chosen))
        allowed = kept.copy()
        for kind in range(self.number):
            own = np.flatnonzero(chosen & (self.kinds == kind))
            if len(own):
                allowed[self.kinds == kind] = False
                allowed[own[np.argmax(self.problem.scores[own])]] = True
        filled, _ = _schedule(self.problem, self.problem.scores, allowed)
        self._keep(self._thinned(filled))  # kinds that the set did not have may be there twice

    def _thinned(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Keep of each kind its best span."""
        thinned = chosen.copy()
        for kind in self._twice(chosen):
            own = np.flatnonzero(chosen & (self.kinds == kind))
            thinned[own] = False
            thinned[own[np.argmax(self.problem.scores[own])]] = True
        return thinned

    def _keep(self, chosen: NDArray[np.bool_]) -> None:
        """Remember an allowed set if it is the best so far."""
        score = float(self.problem.scores[chosen].sum())
        if score > self.score:
            self.best, self.score = chosen, score

    def _times(self, chosen: NDArray[np.bool_]) -> Indices:
        """**Shape (kinds,)**: how often each kind is chosen."""
        return np.bincount(self.kinds[chosen & (self.kinds >= 0)], minlength=self.number)

    def _twice(self, chosen: NDArray[np.bool_]) -> Indices:
        """Kinds that are chosen more than once."""
        return np.flatnonzero(self._times(chosen) > 1)

    def _halves(self, part: _Part, kind: int) -> list[NDArray[np.bool_]]:
        """Forbid one half of the spans of a kind, and then the other; each half has one that was
        chosen, if two were."""
        own = np.flatnonzero(part.kept & (self.kinds == kind))
        own = own[np.argsort(self.problem.spans[own, 0], kind="stable")]
        places = np.flatnonzero(part.chosen[own])
        middle = len(own) // 2
        if len(places) > 1:
            middle = int(np.clip(middle, places[0] + 1, places[-1]))
        halves = []
        for forbidden in (own[:middle], own[middle:]):
            kept = part.kept.copy()
            kept[forbidden] = False
            halves.append(kept)
        return halves


def _schedule(
    problem: SpanProblem, scores: Floats, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], float]:
    """Find a best set of some of the spans, as if no kind were rare, and a bound on it."""
    from .kernels import proof, schedule

    chosen = np.zeros(len(scores), dtype=bool)
    some = np.flatnonzero(kept & (scores > 0.0))
    begins, ends = problem.spans[some].T
    by_end, by_begin = np.lexsort((begins, ends)), np.lexsort((ends, begins))
    found = schedule.schedule(*_arguments(problem, scores, some[by_end]))
    chosen[some[by_end[found]]] = True
    return chosen, float(proof.bound(*_arguments(problem, scores, some[by_begin])))


def _arguments(problem: SpanProblem, scores: Floats, some: Indices) -> tuple[Any, ...]:
    """Return what the kernels want to know of some spans."""
    begins, ends = (np.ascontiguousarray(column) for column in problem.spans[some].T)
    by_length = np.argsort(ends - begins, kind="stable").astype(np.int64)
    return begins, ends, scores[some], int(problem.apart), problem.nested, by_length
