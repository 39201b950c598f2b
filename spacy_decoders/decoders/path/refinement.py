"""What the exact decoder does about the problems that a short search does not decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .depth_first import BestPaths, DepthFirst
from .kernels.walk import lagrangian_bounds, walk_bounds
from .problem import PathProblem
from .reduction import useful_vertices
from .state_space import Memory, relaxed_pass

__all__ = ["Refinement"]

#: Subgradient steps between two looks at the clock, and how many such rounds at most.
STEPS, ROUNDS = 15, 8
#: Nodes of a dive for a better path, of the search after pricing, and of a last round.
DIVE_NODES, PRICED_NODES, LAST_NODES = 40, 3000, 20_000
#: Classes remembered everywhere before memory becomes local.
EVERYWHERE = 6
#: Labels in one layer of a relaxation before it is given up.
LABELS = 400_000


class Refinement:
    """Closing the gap between the best paths known and the bound on all others.

    Attributes
    ----------
    best
        The best paths found, in the vertices of the problem given.
    bound
        No path that is not among the best is worth more.
    iterations
        Rounds done.
    prices
        The largest sum of class prices used, for the numerical tolerance.
    """

    def __init__(
        self,
        problem: PathProblem,
        table: NDArray[np.float64],
        best: BestPaths,
        bound: float,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._whole = problem
        self._kept = np.arange(problem.size)
        self._problem = problem
        self._after = table
        self._vertex_prices = np.zeros(problem.size)
        self._total_price = 0.0
        self.best = best
        self.bound = bound
        self.iterations = 0
        self.prices = 0.0

    @property
    def _done(self) -> bool:
        return self.bound <= self.best.threshold

    @property
    def _out_of_budget(self) -> bool:
        return self._clock.exhausted(self.iterations + 1)

    def run(self) -> None:
        """Work until the proof is complete or the budget ends."""
        self._reduce()
        self._price()
        if not self._done:
            self._reduce()
            self._search(PRICED_NODES)
        if not self._done and len(self.best.scores) == 1:
            self._remember()
        while not self._done and not self._out_of_budget:
            self._search(None)

    def _reduce(self) -> None:
        """Drop the vertices that no better path can visit."""
        if self.best.threshold == -np.inf:
            return
        kept = useful_vertices(
            self._problem, self._after, self.best.threshold, self._vertex_prices, self._total_price
        )
        if len(kept) < self._problem.size:
            self._kept = self._kept[kept]
            self._problem = self._problem.restrict(kept)
            self._after = np.ascontiguousarray(self._after[:, kept])
            self._vertex_prices = self._vertex_prices[kept]
            self._sum_prices()

    def _sum_prices(self) -> None:
        by_class = np.zeros(self._problem.class_count)
        by_class[self._problem.dense_classes] = self._vertex_prices
        self._total_price = float(by_class.sum())
        self.prices = max(self.prices, self._total_price)

    def _price(self) -> None:
        """Lower the walk bound by prices, diving for better paths on the way."""
        problem, length = self._problem, self.best.paths.shape[1]
        class_prices, lowest = np.zeros((2, problem.class_count))
        rates = np.array([1.0, 0.0, np.inf])
        for _ in range(ROUNDS):
            if self._done or self._out_of_budget:
                return
            self.iterations += 1
            bound = lagrangian_bounds(
                problem.start,
                problem.edges,
                problem.reversed_edges,
                problem.end,
                problem.dense_classes,
                problem.class_count,
                length,
                self._target,
                STEPS,
                rates,
                class_prices,
                lowest,
            )
            self.bound = min(self.bound, bound)
            self._vertex_prices = lowest[problem.dense_classes]
            self._sum_prices()
            self._after = walk_bounds(
                problem.reversed_edges, problem.end, self._vertex_prices, length - 1
            )
            if not self._done:
                self._search(DIVE_NODES)

    @property
    def _target(self) -> float:
        """The worth that the prices aim at: the worst path to beat, or a guess."""
        if self.best.threshold > -np.inf:
            return self.best.threshold
        return self.bound - max(1.0, 0.05 * abs(self.bound))

    def _search(self, nodes: int | None) -> None:
        """Search depth first with the bounds in hand, to the end if `nodes` is None."""
        found = BestPaths(self.best.paths.shape[1], len(self.best.scores))
        # of several best ones, those known already are found again, so ties must pass
        single = len(found.scores) == 1
        threshold = self.best.threshold
        found.scores[:] = threshold if single else np.nextafter(threshold, -np.inf)
        search = DepthFirst(
            self._problem, found, self._after, self._vertex_prices, self._total_price
        )
        ended = False
        while not ended:
            self.iterations += 1
            ended = search.run(LAST_NODES if nodes is None else nodes)
            if nodes is not None or self._out_of_budget:
                break
        self.bound = min(self.bound, search.frontier)
        for score, path in zip(found.scores, found.paths, strict=True):
            if path[0] >= 0:
                self.best.offer(float(score), self._kept[path])

    def _remember(self) -> None:
        """Let walks remember the classes they repeat, until the best one repeats none."""
        problem, length = self._problem, self.best.paths.shape[1]
        memory = Memory(problem)
        before = walk_bounds(problem.edges, problem.start, self._vertex_prices, length - 1)
        rests = {False: self._after, True: before}
        backward, everything = True, False
        while not self._done and not self._out_of_budget:
            self.iterations += 1
            result = relaxed_pass(
                problem,
                memory,
                rests[backward],
                self._vertex_prices,
                self._total_price,
                self.best.threshold,
                backward=backward,
                clock=self._clock,
                label_limit=LABELS,
                refund=everything,
            )
            if result is None:
                break
            rests[not backward] = result.reach
            self.bound = min(self.bound, result.value)
            if everything:
                # the first walk is the best path there is above the threshold, if any is
                self.bound = -np.inf
            grown = False
            for walk in result.walks:
                if len(set(problem.dense_classes[walk].tolist())) == length:
                    self.best.offer(problem.score(walk), self._kept[walk])
                else:
                    grown |= memory.forbid_cycles(walk, EVERYWHERE)
            if not grown:
                # paths pay for classes they don't visit: only full memory sees their worth
                everything = not everything and memory.remember_all()
                if not everything:
                    break
            backward = not backward
        self._after = rests[False]
