"""Lagrangian branch and bound: pruning by the bounds of walks that pay a price for each class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...budget import Clock
from .beam_search import beam
from .kernels.search import RankedPaths, fresh_state, search, search_once
from .kernels.walks import Prices, PriceSearch, lagrangian_bounds, walk_bounds
from .problem import PathProblem

__all__ = ["CANDIDATES_PER_CHECK", "BestPaths", "LagrangianSearch", "nodes_within"]

#: Candidate vertices examined in one iteration, between two checks of the clock: about 10 ms.
CANDIDATES_PER_CHECK = 4_000_000
#: Seconds to expand a node, for each vertex, on a slow machine.
NODE = 1e-8
#: Nodes of the first search: hardly any document needs more, and pricing takes longer than that.
FIRST_NODES = 3000
#: Subgradient steps of a round, and the largest number of such rounds.
STEPS_A_ROUND, ROUNDS = 15, 8
#: Pairs of vertices that the walks compare between two checks of the clock.
PAIRS_PER_CHECK = 40_000_000
#: Width of the beam that an interrupted search falls back on.
WIDTH = 80


def nodes_within(clock: Clock, size: int, most: int) -> int:
    """Return how many nodes over `size` vertices there is time to expand, at most `most`."""
    return int(min(most, 1.0 + clock.seconds_left / (NODE * size)))


class BestPaths:
    """The at most `count` best distinct paths of one length found so far, best first.

    Only paths that score more than `floor` are kept.
    """

    def __init__(self, length: int, count: int, floor: float = -np.inf) -> None:
        self.scores = np.full(count, floor)
        self.paths = np.full((count, length), -1, dtype=np.int32)

    @property
    def threshold(self) -> float:
        """The score that a new path must exceed."""
        return float(self.scores[-1])

    @property
    def found(self) -> int:
        """The number of paths found."""
        return int(np.count_nonzero(self.paths[:, 0] >= 0))

    @property
    def most(self) -> float:
        """The score of the best path found, as the search computed it; ``-inf`` if none is."""
        return float(self.scores[0]) if self.paths[0, 0] >= 0 else -np.inf

    def search(self, problem: PathProblem, bounds: Floats, nodes: int) -> float:
        """Expand at most `nodes` nodes depth first; return a bound on all paths not visited."""
        free = (np.zeros(problem.size), 0.0)
        best = (self.scores, self.paths)
        return search_once(problem.arrays, bounds, free, best, 0.0, nodes)

    def offer(self, score: float, path: NDArray[Any]) -> bool:
        """Insert a path if it is new and good enough; return whether it was."""
        if not score > self.threshold or (self.paths == path).all(axis=1).any():
            return False
        place = int(np.searchsorted(-self.scores, -score, side="right"))
        self.scores[place + 1 :] = self.scores[place:-1].copy()
        self.paths[place + 1 :] = self.paths[place:-1].copy()
        self.scores[place], self.paths[place] = score, path
        return True


class LagrangianSearch:
    """Closes the gap between the best paths known and the bound on all others.

    `best` holds the incumbents and is updated in place. Paths that exceed them by no more than
    rounding errors, and by no more than `most_slack`, need not be visited. `table`, **shape**
    ``(length, n)``, holds the walk bounds of `PathProblem.completions`; without it, prices must be
    set before the search.
    """

    def __init__(
        self,
        problem: PathProblem,
        length: int,
        best: BestPaths,
        clock: Clock,
        most_slack: float,
        table: Floats | None = None,
    ) -> None:
        self.best = best
        self.bound = np.inf  # on all paths that are not in `best`, up to the slack
        self.rounds = 1  # of the search or of pricing
        self.prices = np.zeros(problem.size)  # of each vertex, equal within a class
        self._table = self._after = table
        self._clock = clock
        self._most_slack = most_slack
        self._problem, self._length = problem, length
        self._paid = Prices(self.prices, 0.0)

    @property
    def done(self) -> bool:
        """Whether it is proven that no other path exceeds the incumbents."""
        return self.bound <= self.best.threshold + self.slack

    @property
    def exhausted(self) -> bool:
        """Whether the budget allows no further round."""
        return self._clock.exhausted(self.rounds + 1)

    def run(self, bound: float) -> None:
        """Price and search, from a known bound, until the gap is closed or the budget ends."""
        self.bound = bound
        self._price()
        if not self.done and not self.exhausted:
            self.search(None)
        if not self.done and len(self.best.scores) == 1:
            # an interrupted search should not return a worse path than a beam does
            assert self._table is not None
            scores, paths = beam(self._problem, self._table, WIDTH, self._clock.exhausted)
            if len(scores):
                path = paths[int(np.argmax(scores))]
                self.best.offer(self._problem.score(path), path)

    @property
    def slack(self) -> float:
        """The least gain worth searching for: what rounding may add to a path's score."""
        threshold = self.best.threshold
        if threshold == -np.inf:
            return 0.0
        rounding = self._problem.rounding(self._length, threshold, self._paid.total)
        return min(rounding, self._most_slack)

    def set_prices(self, prices: Floats) -> None:
        """Set the prices of the vertices, and the walk bounds under them."""
        problem = self._problem
        self.prices, self._paid = prices, Prices(prices, problem.total(prices))
        self._after = walk_bounds(problem.reversed_edges, problem.end, prices, self._length - 1)

    def _price(self) -> None:
        """Tighten the walk bound by rounds of subgradient steps on the prices."""
        problem = self._problem
        free = np.zeros(problem.class_count)
        progress = PriceSearch(free, free.copy(), np.array([1.0, 0.0, np.inf]))
        steps_per_check = max(1, PAIRS_PER_CHECK // (self._length * problem.size**2))
        for _ in range(ROUNDS):
            if self.done or self.exhausted:
                return
            self.rounds += 1
            target = self._target
            for begin in range(0, STEPS_A_ROUND, steps_per_check):
                steps = min(steps_per_check, STEPS_A_ROUND - begin)
                # setting the prices takes as long as one more step
                if problem.lacks_time(self._clock, self._length, steps + 1):
                    return
                given = (problem.graph, self._length, target, steps, progress)
                self.bound = min(self.bound, lagrangian_bounds(*given))
            self.set_prices(progress.best[problem.dense_classes])

    @property
    def _target(self) -> float:
        """The target of Polyak's step size: the score of the incumbent, or an estimate of it."""
        if self.best.threshold > -np.inf:
            return self.best.threshold
        return self.bound - max(1.0, 0.05 * abs(self.bound))

    def search(self, nodes: int | None) -> None:
        """Search depth first under the current prices, to completion if `nodes` is None."""
        threshold, slack = self.best.threshold, self.slack
        single = len(self.best.scores) == 1
        # a ranking of several paths is found anew, so the worst incumbent must pass the floor
        floor = threshold if single else np.nextafter(threshold - slack, -np.inf)
        found = BestPaths(self._length, len(self.best.scores), floor)
        state = fresh_state(self._problem.size, self._problem.class_count, self._length)
        ranking = RankedPaths(found.scores, found.paths)
        given = (self._problem.graph, self._after, self._paid, ranking, slack, state)
        size = self._problem.size
        nodes_a_round = 1 + CANDIDATES_PER_CHECK // size
        if nodes:
            nodes_a_round = nodes_within(self._clock, size, nodes)
        frontier = np.inf
        while frontier > -np.inf:
            self.rounds += 1
            frontier = search(*given, nodes_a_round)
            if nodes is not None or self.exhausted:
                break
        self.bound = min(self.bound, frontier)
        for score, path in zip(found.scores, found.paths, strict=True):
            if path[0] >= 0:
                self.best.offer(float(score), path)
