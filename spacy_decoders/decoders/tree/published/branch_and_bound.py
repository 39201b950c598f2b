"""Branch and bound as published by Qian and Liu: bounds of factors, level by level.

Every non-local factor is bounded by the minimum of a few linear functions of the arcs (eq. 4-8).
For any weights, the best tree under their weighted sum gives an upper bound.
"""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ....arrays import Floats, Integers32, read_only
from ....budget import Budget, Clock
from ..branch_and_bound.kernels import node as kernels
from ..branch_and_bound.kernels import relaxation
from ..branch_and_bound.kernels.records import NodeOptions
from ..branch_and_bound.preparation import Prepared
from ..branch_and_bound.search import (
    MOST_NODE_BYTES,
    BestTrees,
    closing_slack,
    search,
)
from ..factors import Factors
from ..fallbacks import arborescence_bound, bounded, tree_in_blocks
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from ..proof import split
from ..scoring import score_tree

__all__ = ["search_as_in_paper"]

#: Seconds to set up all factors and bound them twice, for each n^3.
SECONDS_A_CUBE = 4e-6

#: The bound has converged if a step lowers it by no more than this (section 4.4).
PRECISION = 1e-8

Mask = NDArray[np.uint8]


@dataclass
class LevelNode:
    """A node: a mask of arcs, and its parent's weights to start from."""

    mask: Mask
    weights: Floats
    upper: float = np.inf
    lower: float = -np.inf
    arc: tuple[int, int] = (-1, -1)


def search_as_in_paper(
    problem: TreeProblem, magnitudes: Magnitudes, iterations: int, budget: Budget
) -> BestTrees:
    """Run Algorithm 1: all nodes of a level are bounded, then split on one common arc.

    A node takes at most `iterations` subgradient steps. If there is too little time to set up the
    bounds, the fallback is a tree of separately parsed blocks; if no legal tree is found, the
    default search takes over.
    """
    clock = budget.start()
    seconds = SECONDS_A_CUBE * problem.n**3
    blocks = tree_in_blocks(problem, seconds, clock, magnitudes.forbidden)
    if blocks is not None:
        return BestTrees.of_blocks(blocks)
    found = _LevelSearch(problem, magnitudes, iterations, clock).run()
    if len(found.scores) or found.bound == -np.inf:
        return found
    second_order = problem.projective and not problem.is_first_order
    return search(problem, magnitudes, 1, second_order, (iterations, iterations), budget)


class _LevelSearch:
    def __init__(
        self, problem: TreeProblem, magnitudes: Magnitudes, iterations: int, clock: Clock
    ) -> None:
        self.problem = problem
        self.magnitudes = magnitudes
        self.iterations = iterations
        self.clock = clock
        self.seconds_a_step = 0.0
        prepared = Prepared(as_factors(problem), magnitudes, False)
        self.scores, self.multipliers = prepared.scores, prepared.multipliers
        worth = np.abs(self.scores.factor_scores)
        self.first_step = float(worth[worth < -magnitudes.forbidden].max(initial=0.0))
        self.kind = problem.single_root, problem.projective
        self.options = NodeOptions(False, 1, 0.0, 0.0, 0.0, *self.kind[::-1])
        self.calls = 0
        self.best_score = -np.inf
        self.best_heads = np.zeros(problem.n + 1, np.int32)

    def run(self) -> BestTrees:
        mask = self.problem.allowed.astype(np.uint8)
        self._initialise_lower_bound(mask)
        nodes, closed = [LevelNode(mask, self.multipliers.factors)], -np.inf
        while nodes:
            still_open = []
            for number, node in enumerate(nodes):
                if self._exhausted(len(nodes)):
                    still_open += nodes[number:]
                    break
                self._bound(node)
                still_open.append(node)
            # nodes of the level that came later may have improved the incumbent
            nodes = [node for node in still_open if not self._closes(node)]
            closed = max([closed, *(node.upper for node in still_open if self._closes(node))])
            if self._exhausted(len(nodes)):
                break
            if nodes:
                arc = max(nodes, key=lambda node: node.lower).arc
                nodes = [child for node in nodes for child in _children(node, arc)]
        bound = max([closed, *(node.upper for node in nodes)])
        if bound == np.inf:  # not a single step was made
            bound = arborescence_bound(self.problem, self.magnitudes.forbidden)
        if bound <= self.magnitudes.threshold:  # then all trees have a forbidden part
            bound = -np.inf
        found = int(self.best_score > self.magnitudes.threshold)
        heads, scores = self.best_heads[None][:found], np.array([self.best_score])[:found]
        return BestTrees(heads, scores, bound, bound, self.calls)

    def _exhausted(self, nodes: int = 0) -> bool:
        if nodes * (self.multipliers.factors.nbytes + self.problem.allowed.size) > MOST_NODE_BYTES:
            return True
        over = self.clock.exhausted(self.calls) or self.seconds_a_step > self.clock.seconds_left
        return self.best_score > -np.inf and over

    def _closes(self, node: LevelNode) -> bool:
        """Return whether a node has no better tree, or only one, whose bound is exact."""
        if node.upper < np.inf and (node.mask.sum(axis=0) <= 1).all():
            return True
        return node.upper <= self.best_score + self._slack()

    def _slack(self) -> float:
        if self.best_score == -np.inf:
            return 0.0
        return closing_slack(self.best_score, self.magnitudes.rounding)

    def _bound(self, node: LevelNode) -> None:
        """Minimise over weights the maximum over trees, by projected subgradient (section 3.2)."""
        step, last = self.first_step, np.inf
        multipliers = self.multipliers._replace(factors=node.weights)
        for _ in range(self.iterations):
            begun = perf_counter()
            # arc scores that, with a constant, bound every tree (eq. 5 and 8)
            arcs, _, constant = relaxation.relax(
                self.scores, multipliers, node.mask, *self.kind, False
            )
            value, heads = self._best_tree(arcs)
            value += constant
            if heads is None:
                node.upper = -np.inf
                return
            node.upper = min(node.upper, value)
            node.lower = max(node.lower, self._offer(heads))
            if value > last:  # halved when the dual rises, as in Rush et al. (2010)
                step *= 0.5
            node.arc = kernels.step_as_published(
                self.scores, multipliers, node.mask, heads, step, self.options
            )
            self.seconds_a_step = perf_counter() - begun
            if 0.0 <= last - value <= PRECISION or self._closes(node) or self._exhausted():
                return
            last = value

    def _best_tree(self, arcs: Floats) -> tuple[float, Integers32 | None]:
        """Run the backbone; return the value and the heads (n + 1,), None if there is no tree."""
        self.calls += 1
        heads, value, slack, _ = bounded(
            read_only(arcs), self.problem.projective, self.problem.single_root
        )
        if value == -np.inf:
            return -np.inf, None
        return float(value) + slack, np.concatenate([[0], heads]).astype(np.int32)

    def _offer(self, heads: Integers32) -> float:
        truth = max(score_tree(self.problem, heads[1:]), self.magnitudes.forbidden)
        if truth > self.best_score:
            self.best_score, self.best_heads = truth, heads
        return truth

    def _initialise_lower_bound(self, mask: Mask) -> None:
        """Climb with linear lower bounds that are tight at the previous tree (section 3.4)."""
        arcs, before = self.problem.arcs, -np.inf
        while not self._exhausted():
            begun = perf_counter()
            _, heads = self._best_tree(arcs)
            if heads is None or self._offer(heads) <= before + self._slack():
                return
            before = self.best_score
            arcs = kernels.bounded_below(self.scores, self.multipliers, mask, heads)
            self.seconds_a_step = perf_counter() - begun


def as_factors(problem: TreeProblem) -> TreeProblem:
    """Return the same problem with its grandparents and siblings as factors."""
    allowed, factors = problem.allowed, problem.factors or Factors.empty()
    if problem.grandparents is not None:
        chains = np.argwhere(allowed[:, :, None] & allowed & (problem.grandparents != 0.0))
        scores = problem.grandparents[tuple(chains.T)]
        factors += Factors.of_parts(chains, [(0, 1), (1, 2)], scores)
    if problem.siblings is not None:
        scored = allowed[:, :, None] & allowed[:, None] & (problem.siblings != 0.0)
        pairs = np.argwhere(np.triu(scored))
        scores = problem.siblings[tuple(pairs.T)]
        factors += Factors.of_parts(pairs, [(0, 1), (0, 2)], scores)
    return replace(problem, grandparents=None, siblings=None, factors=factors)


def _children(node: LevelNode, arc: tuple[int, int]) -> list[LevelNode]:
    """Split a node on an arc, unless the arc is already decided in it."""
    h, m = arc
    if not node.mask[h, m] or node.mask[:, m].sum() == 1:
        return [node]
    parts = split(node.mask, h, m)
    return [LevelNode(mask, node.weights.copy(), node.upper) for mask in parts]
