"""Closing the gap of problems that a short branch and bound does not decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .class_sets import best_by_class_sets
from .depth_first import BestPaths, DepthFirst
from .kernels.beam import beam
from .kernels.graph import Graph, Prices
from .kernels.walks import PriceSearch, lagrangian_bounds, walk_bounds
from .problem import Floats, PathProblem
from .proof import MEMORY, Proof
from .reduction import useful_vertices
from .state_space import ClassMemory, relaxed_walks
from .state_space_proof import VertexMemory
from .work import STEPS, Work

__all__ = ["GapClosing"]

#: Subgradient steps of a round, after which the clock is checked; and the most such rounds.
STEPS_A_ROUND, ROUNDS = 15, 8
#: Nodes of a dive for a better path, and of the search after pricing.
DIVE_NODES, PRICED_NODES = 40, 3000
#: Width of the beam that looks for an incumbent after pricing.
WIDTH = 80
#: Up to so many classes, all sets are enumerated instead of relaxing the state space.
FEW_CLASSES = 13
#: Classes remembered everywhere before memory becomes local.
EVERYWHERE = 6
#: The memories that a proof uses, counted back from the last.
BACK = (0, 3)
#: Labels in one layer of a relaxation before it is given up.
LABELS = 400_000


class GapClosing:
    """Closes the gap between the best paths known and the bound on all others.

    Attributes
    ----------
    best
        The best paths found, as vertices of the given problem.
    bound
        An upper bound on every path that is not among the best.
    """

    def __init__(
        self,
        problem: PathProblem,
        table: NDArray[np.float64],
        best: BestPaths,
        bound: float,
        work: Work,
    ) -> None:
        self._work = work
        self._whole = problem
        self._kept = np.arange(problem.size)
        self._problem = problem
        self._table = self._after = table
        self._prices = Prices(np.zeros(problem.size), 0.0)
        self.best = best
        self.bound = bound
        self._prices_in_whole = self._prices.vertex
        self._memories: list[VertexMemory] = []
        self._by_class_sets = False

    @property
    def _done(self) -> bool:
        return self.bound <= self.best.threshold

    def run(self) -> None:
        """Work until the proof is complete or the budget ends."""
        self._reduce()
        self._price()
        single = len(self.best.scores) == 1
        if not self._done and single:
            self._look_ahead()
        if not self._done:
            self._reduce()
            self._search(PRICED_NODES)
        if not self._done and single and self._problem.class_count > FEW_CLASSES:
            self._relax_state_space(self._cost_of_class_sets)
        if not self._done and single and self._cost_of_class_sets < np.inf:
            self._go_through_class_sets()
        while not self._done and not self._work.exhausted:
            self._search(None)
        if not self._done and single:
            # an interrupted search should not return less than a beam does
            whole = self._whole
            self._take_beam(whole, whole.graph, self._table)

    def help_prove(self, proof: Proof) -> None:
        """Run a proof with the prices and the memory found, by the method that succeeded."""
        proof.price(self._prices_in_whole)
        proof.search(PRICED_NODES)
        if not self._done:
            return
        if self._by_class_sets and not proof.complete:
            proof.subsets()
        elif self._memories and not proof.complete:
            # the last memories matter most; a few of those before tighten the bounds
            last = len(self._memories) - 1
            chosen = sorted({max(0, last - back) for back in BACK})
            proof.state_space([self._memories[place] for place in chosen])
        if not proof.complete:
            proof.search()

    def _in_whole(self, values: NDArray[Any]) -> NDArray[Any]:
        """Scatter values of the remaining vertices to all vertices, zero for the others."""
        whole = np.zeros((self._whole.size, *values.shape[1:]), dtype=values.dtype)
        whole[self._kept] = values
        return whole

    def _of_vertices(self, memory: ClassMemory) -> VertexMemory:
        """Return a memory as the proof takes it, over all vertices of the given problem."""
        bits = memory.bits.bit[self._problem.dense_classes]
        own = np.zeros((len(bits), 2), dtype=np.uint64)
        known = np.flatnonzero(bits >= 0)
        own[known, bits[known] // 64] = np.uint64(1) << (bits[known] % 64).astype(np.uint64)
        kept = np.stack([memory.bits.low, memory.bits.high], axis=1)
        return VertexMemory(self._in_whole(own), self._in_whole(kept))

    def _reduce(self) -> None:
        """Remove the vertices that no better path can visit."""
        if self.best.threshold == -np.inf:
            return
        given = (self._problem, self._after, self.best.threshold, self._prices)
        kept = useful_vertices(*given)
        if len(kept) < self._problem.size:
            self._kept = self._kept[kept]
            self._problem = self._problem.restrict(kept)
            self._after = np.ascontiguousarray(self._after[:, kept])
            self._set_prices(self._prices.vertex[kept])

    def _set_prices(self, of_vertices: Floats) -> None:
        by_class = np.zeros(self._problem.class_count)
        by_class[self._problem.dense_classes] = of_vertices
        self._prices = Prices(of_vertices, float(by_class.sum()))

    def _price(self) -> None:
        """Lower the walk bound by prices, diving for better paths on the way."""
        problem, length = self._problem, self.best.paths.shape[1]
        free = np.zeros(problem.class_count)
        progress = PriceSearch(free, free.copy(), np.array([1.0, 0.0, np.inf]))
        for _ in range(ROUNDS):
            if self._done or self._work.exhausted:
                return
            self._work.rounds += 1
            given = (problem.graph, length, self._target, STEPS_A_ROUND, progress)
            self.bound = min(self.bound, lagrangian_bounds(*given))
            self._set_prices(progress.best[problem.dense_classes])
            prices = self._prices.vertex
            self._prices_in_whole = self._in_whole(prices)
            self._after = walk_bounds(problem.reversed_edges, problem.end, prices, length - 1)
            if not self._done:
                self._search(DIVE_NODES)

    @property
    def _target(self) -> float:
        """The score that the subgradient steps aim at: that of the incumbent, or an estimate."""
        if self.best.threshold > -np.inf:
            return self.best.threshold
        return self.bound - max(1.0, 0.05 * abs(self.bound))

    def _search(self, nodes: int | None) -> None:
        """Search depth first with the present bounds, to the end if `nodes` is None."""
        found = BestPaths(self.best.paths.shape[1], len(self.best.scores))
        # where several paths are kept, the known ones are found again, so ties must be accepted
        single = len(found.scores) == 1
        threshold = self.best.threshold
        found.scores[:] = threshold if single else np.nextafter(threshold, -np.inf)
        given = (self._problem, self._after, self._prices)
        if nodes is not None:
            self._work.rounds += 1
            frontier = found.search(*given, nodes)
        else:
            frontier = self._search_on(DepthFirst(found, *given))
        self.bound = min(self.bound, frontier)
        for score, path in zip(found.scores, found.paths, strict=True):
            if path[0] >= 0:
                self.best.offer(float(score), self._kept[path])

    def _search_on(self, search: DepthFirst) -> float:
        """Continue until the search or the budget ends; return a bound on unvisited paths."""
        ended = False
        while not (ended or self._work.exhausted):
            self._work.rounds += 1
            ended = search.run(1 + STEPS // max(1, self._problem.size))
        return search.frontier

    def _look_ahead(self) -> None:
        """Improve the incumbent by a beam whose outlook is the priced walks."""
        graph, prices = self._problem.graph, self._prices.vertex
        # read-only as all others are, or the kernels would be compiled a second time
        start, edges = read_only(graph.start - prices), read_only(graph.edges - prices)
        self._take_beam(self._problem, graph._replace(start=start, edges=edges), self._after)

    def _take_beam(self, problem: PathProblem, graph: Graph, outlook: Floats) -> None:
        scores, paths = beam(tuple(graph), outlook, WIDTH)
        if len(scores):
            path = paths[int(np.argmax(scores))]
            kept = self._kept if problem is self._problem else np.arange(problem.size)
            self.best.offer(problem.score(path), kept[path])

    @property
    def _cost_of_class_sets(self) -> float:
        """The steps to enumerate all sets of the remaining classes; infinite for too many."""
        size, count = self._problem.size, self._problem.class_count
        if count >= 32 or 8 * size << count > MEMORY:
            return np.inf
        length = self.best.paths.shape[1]
        return float(size**2 * sum(math.comb(count, met) for met in range(1, length)) / 2)

    def _go_through_class_sets(self) -> None:
        """Decide the problem by dynamic programming over sets of the remaining classes."""
        problem, work = self._problem, self._work
        rest = problem.completions(self.best.paths.shape[1])

        def interrupted(steps: int) -> bool:
            work.steps += steps
            return work.exhausted

        ended, path = best_by_class_sets(problem, rest, self.best.threshold, interrupted)
        if path is not None:
            self.best.offer(problem.score(path), self._kept[path])
        if ended:
            self.bound, self._by_class_sets = -np.inf, True

    def _relax_state_space(self, most_steps: float) -> None:
        """Let walks remember the classes they repeat until the best one repeats none."""
        problem, length = self._problem, self.best.paths.shape[1]
        memory = ClassMemory(problem)
        before = walk_bounds(problem.edges, problem.start, self._prices.vertex, length - 1)
        rests = {False: self._after, True: before}
        backward, everything = True, False
        most_steps += self._work.steps
        while not (self._done or self._work.exhausted or self._work.steps > most_steps):
            self._work.rounds += 1
            self._memories.append(self._of_vertices(memory))
            result = relaxed_walks(
                problem,
                memory,
                rests[backward],
                self._prices,
                self.best.threshold,
                backward=backward,
                work=self._work,
                label_limit=LABELS,
                refund=everything,
            )
            if result is None:
                break
            rests[not backward] = result.reach
            self.bound = min(self.bound, result.value)
            if everything:
                # the first walk is the best path above the threshold, if there is one
                self.bound = -np.inf
            grown = False
            for walk in result.walks:
                if len(set(problem.dense_classes[walk].tolist())) == length:
                    self.best.offer(problem.score(walk), self._kept[walk])
                else:
                    grown |= memory.forbid_cycles(walk, EVERYWHERE)
            if not grown:
                # paths pay for classes they do not visit: only full memory gives their scores
                everything = not everything and memory.remember_all()
                if not everything:
                    break
            backward = not backward
        self._after = rests[False]
