"""Best-first search over nodes, each of which is a mask of arcs."""

from __future__ import annotations

import heapq
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ....budget import Budget, Clock
from ....certificate import PROOF_TOLERANCE, tolerance_of
from ..fallbacks import BlockTree, tree_in_blocks
from ..kernels.second_order import entries
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from ..proof import split
from .kernels import node as kernels
from .kernels.records import Incumbents, NodeFound, NodeOptions
from .preparation import LONGEST_CHART, Prepared
from .proof import Mask, NodeProof

__all__ = [
    "MOST_NODE_BYTES",
    "BestTrees",
    "closing_slack",
    "first_pass",
    "search",
]

#: The most bytes of open nodes: the search then ends with a gap.
MOST_NODE_BYTES = 200_000_000

#: Seconds of a first pass with max-marginals: Eisner's for each n^3, those that grandparents and
#: siblings add for each n^3, and those of the second-order chart for each n^4.
SECONDS_A_CUBE, SECONDS_OF_PARTS, SECONDS_A_FOURTH_POWER = 6e-9, 5e-8, 2e-10

#: Nodes that the kernel may call closed without a proof before the search ends with a gap.
MOST_DISPUTES = 200

#: Step length, and passes between two proofs; tuned on treebanks.
RATE, ROUND = 2.0, 6


class BestTrees(NamedTuple):
    """The result of a search: trees (k, n + 1) and scores (k,), best first, and bounds.

    `bound` is an upper bound on all trees, `rest` on those that are not listed, both up to the
    rounding error `slack`.
    """

    heads: NDArray[np.int32]
    scores: NDArray[np.float64]
    bound: float
    rest: float
    calls: int
    slack: float = 0.0

    @classmethod
    def of_blocks(cls, found: BlockTree) -> BestTrees:
        """Return the tree of blocks as the result."""
        score = np.array([found.score])
        return cls(found.heads[None], score, found.bound, found.bound, 1)


def search(
    problem: TreeProblem,
    magnitudes: Magnitudes,
    k: int,
    second_order: bool,
    passes: tuple[int, int],
    budget: Budget,
) -> BestTrees:
    """Find the k best trees, or as many as there are.

    Each node is a set of arcs. The kernels lower its bound by subgradient steps, and choose the
    arc to branch on: one child must contain it, the other must not. The multipliers are shared, as
    any multipliers give a valid bound. The kernels' own bounds prove nothing: every few passes
    :class:`.NodeProof` bounds the node from the multipliers alone, and prunes the arcs that no
    tree better than the k-th best has. A node is closed only if that bound does not exceed the
    k-th best score; when the budget ends, the open nodes give the bound. `passes` are those at the
    root, and at each other node.
    """
    clock = budget.start()
    blocks = tree_in_blocks(problem, first_pass(problem), clock, magnitudes.forbidden)
    if blocks is not None:
        return BestTrees.of_blocks(blocks)
    return _TreeSearch(problem, magnitudes, k, second_order, passes, clock).run()


class _TreeSearch:
    """The open nodes, the bounds of the closed ones, and the incumbents."""

    def __init__(
        self,
        problem: TreeProblem,
        magnitudes: Magnitudes,
        k: int,
        second_order: bool,
        passes: tuple[int, int],
        clock: Clock,
    ) -> None:
        size = problem.n + 1
        prepared = Prepared(problem, magnitudes, second_order)
        self.problem = problem
        self.magnitudes = magnitudes
        self.passes = passes
        self.clock = clock
        self.incumbents = Incumbents(np.zeros((k, size), np.int32), np.full(k, -np.inf))
        self.prepared = prepared
        self.workspace: tuple[NDArray[Any] | None, ...]  # of the chart or the contraction
        if prepared.second_order:
            self.workspace = (np.empty(entries(size, False)), None, None)
        elif problem.projective:
            self.workspace = (None, np.empty((4, size, size)), None)
        else:
            self.workspace = (None, None, np.empty((4, 2 * size), np.int64))
        self.proof = NodeProof(problem, prepared)
        # entries are (-bound, number, mask): best bound first, then the oldest
        self.nodes = [(-np.inf, 0, problem.allowed.astype(np.uint8))]
        self.created = self.calls = self.disputes = 0
        # bounds on the trees of closed nodes, and on those of them that are not listed
        self.closed = self.rest = -np.inf
        # closed nodes with a single tree: its bound and its heads
        self.singles: list[tuple[float, NDArray[np.intp]]] = []

    def run(self) -> BestTrees:
        scores, nodes = self.incumbents.scores, self.nodes
        while nodes:
            bound = -nodes[0][0]
            if bound <= self._limit() or self.disputes > MOST_DISPUTES:
                break
            over = len(nodes) * nodes[0][2].size > MOST_NODE_BYTES
            over = over or self.clock.exhausted(self.calls)
            # but continue until there is a tree to return
            if over and bound < np.inf and scores[0] > self.magnitudes.threshold:
                break
            _, _, mask = heapq.heappop(nodes)
            self._work_on(mask, bound)
        if nodes:
            self.closed, self.rest = (max(one, -nodes[0][0]) for one in (self.closed, self.rest))
        found = int((scores > self.magnitudes.threshold).sum())
        if self.closed <= self.magnitudes.threshold:  # then all trees have a forbidden part
            self.closed = -np.inf
        heads = self.incumbents.heads[:found]
        for upper, only in self.singles:
            if upper > self.rest and not (heads[:, 1:] == only[1:]).all(axis=1).any():
                self.rest = upper
        return BestTrees(heads, scores[:found], self.closed, self.rest, self.calls)

    def _limit(self) -> float:
        """Return the largest bound at which a node has no tree better than the k-th best."""
        leader, last = float(self.incumbents.scores[0]), float(self.incumbents.scores[-1])
        if last == -np.inf:
            return last
        return last + closing_slack(leader, self.magnitudes.rounding)

    def _work_on(self, mask: Mask, bound: float) -> None:
        """Lower the bound of a node; close it, or replace it by its two children."""
        most, done, upper = self.passes[1] if self.created else self.passes[0], 0, bound
        while True:
            node = self._lower(mask, min(ROUND, most - done))
            self.calls += node.passes
            done += node.passes
            proven = self.proof.settle(mask, self._limit(), self.clock)
            upper = min(proven.upper, upper)
            pruned = min(proven.pruned, bound)
            self.closed, self.rest = max(self.closed, pruned), max(self.rest, pruned)
            free = mask[:, 1:].sum(axis=0) > 1
            closed = upper <= self._limit() or not free.any()
            # if the kernel made no pass, it never will
            if closed or done >= most or not node.passes or self.clock.exhausted(self.calls):
                break
        if not free.any() and upper > self._limit():
            # offers the only tree as an incumbent
            self.calls += self._solve(mask, 1).passes
        if closed:
            self.closed = max(self.closed, upper)
            if free.any():
                self.rest = max(self.rest, upper)
            else:
                self.singles.append((upper, mask.argmax(axis=0)))
            return
        h, m = node.head, node.modifier
        self.disputes += h < 0  # the kernel calls the node closed
        if h < 0 or not mask[h, m] or not free[m - 1]:
            # no arc was chosen, or it has been pruned or decided since: any will do
            m = int(free.argmax()) + 1
            h = int(mask[:, m].argmax())
        for child in split(mask, h, m):
            self.created += 1
            heapq.heappush(self.nodes, (-upper, self.created, child))

    def _lower(self, mask: Mask, passes: int) -> NodeFound:
        """Lower the bound of a node by so many passes, or as many as the budget allows.

        With a time limit, passes over many arcs run one by one, and the clock is checked after
        each.
        """
        limit = self.clock.budget.iterations
        if limit is not None:
            passes = max(1, min(passes, limit - self.calls))
        one_by_one = self.clock.budget.seconds is not None and mask.sum() > 150
        done = 0
        while True:
            begin = perf_counter()
            node = self._solve(mask, 1 if one_by_one else passes)
            done += node.passes
            over = done >= passes or perf_counter() - begin > self.clock.seconds_left
            if node.head < 0 or not node.passes or over:
                return node._replace(passes=done)

    def _solve(self, mask: Mask, passes: int) -> NodeFound:
        """Run passes at a node; see :func:`.solve_node`."""
        problem, prepared = self.problem, self.prepared
        options = NodeOptions(
            prepared.second_order, passes, RATE, PROOF_TOLERANCE,
            self.magnitudes.rounding, problem.projective, problem.has_one_root,
        )  # fmt: skip
        found = kernels.solve_node(
            prepared.scores, prepared.multipliers, self.incumbents, mask.copy(), options,
            prepared.grandparents, *self.workspace,
        )  # fmt: skip
        return cast(NodeFound, found)


def closing_slack(score: float, rounding: float) -> float:
    """Return how far above a score a bound may lie, rounding aside, that proves it optimal.

    The certificate then agrees. A large rounding error must not make the search stop earlier.
    """
    slack = tolerance_of(abs(score), rounding) - rounding
    return max(min(slack, tolerance_of(abs(score))), 0.0)


def first_pass(problem: TreeProblem) -> float:
    """Return the seconds that the first pass may take."""
    seconds = SECONDS_A_CUBE * problem.n**3 if problem.projective else 0.0
    if problem.grandparents is not None or problem.siblings is not None:
        seconds += SECONDS_OF_PARTS * problem.n**3
        if problem.projective and problem.n <= LONGEST_CHART:
            seconds += SECONDS_A_FOURTH_POWER * problem.n**4
    return seconds
