"""Branch and bound as published by Qian and Liu: simplex multipliers, level by level.

Every non-local factor is bounded by the least of a few linear functions of the arcs (eq. 4-8); a
point of the probability simplex weights them. For any weights the best tree under the weighted
sum, found by the backbone, bounds the best tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....arrays import read_only
from ....budget import Budget, Clock
from ..branch_and_bound.search import (
    MOST_NODE_BYTES,
    BestTrees,
    closing_slack,
    search,
    tree_of_blocks,
)
from ..fallbacks import arborescence_bound
from ..magnitudes import Magnitudes
from ..problem import NO_GAPS, TreeProblem
from ..scoring import score_tree
from .linear_bounds import LinearBounds, bound_linearly

__all__ = ["PaperBackbone", "search_as_in_paper"]

PaperBackbone = Literal["first-order", "carreras", "second-order"]

#: Seconds to state all bounds and to evaluate them twice, for each n^3.
SECONDS_A_CUBE = 4e-6

#: The bound has converged when a step lowers it by no more (section 4.4).
PRECISION = 1e-8

Heads = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass
class LevelNode:
    """A set of trees: those within a mask of arcs, with its parent's weights to start from."""

    mask: Mask
    weights: NDArray[np.float64]
    upper: float = np.inf
    lower: float = -np.inf
    branching: tuple[int, int] | None = None


def search_as_in_paper(
    problem: TreeProblem,
    magnitudes: Magnitudes,
    backbone: PaperBackbone,
    iterations: int,
    budget: Budget,
) -> BestTrees:
    """Run Algorithm 1: all nodes of a level are bounded, then split on one common arc.

    Parameters
    ----------
    backbone
        What is exact beside arcs: ``"carreras"`` adjacent siblings and outermost
        grandchildren, ``"second-order"`` adjacent siblings and all grandparents. A negative
        score is then exact where the backbone sees its part.
    iterations
        Most subgradient steps at a node.
    budget
        Where the seconds do not suffice to state the bounds, the tree is that of separately parsed
        blocks; without a legal tree by the end, the default search finds the first one.
    """
    clock = budget.start()
    if SECONDS_A_CUBE * problem.n**3 > clock.seconds_left:
        blocks = tree_of_blocks(problem, magnitudes)
        if blocks is not None:
            return blocks
    found = _LevelSearch(problem, magnitudes, backbone, iterations, clock).run()
    if len(found.scores) or found.bound == -np.inf:
        return found
    second_order = problem.projective and not problem.is_first_order
    return search(problem, magnitudes, 1, second_order, iterations, iterations, budget)


class _LevelSearch:
    def __init__(
        self,
        problem: TreeProblem,
        magnitudes: Magnitudes,
        backbone: PaperBackbone,
        iterations: int,
        clock: Clock,
    ) -> None:
        self.problem = problem
        self.backbone = backbone
        self.iterations = iterations
        self.clock = clock
        self.each = 0.0  # the seconds of a subgradient step
        self.forbidden = magnitudes.forbidden
        self.threshold = magnitudes.threshold
        self.rounding = magnitudes.rounding
        self.bounds: LinearBounds = bound_linearly(problem, backbone, self.forbidden)
        self.calls = 0
        self.best_score = -np.inf
        self.best_heads = np.zeros(problem.n + 1, np.int32)
        score = np.abs(self.bounds.score[self.bounds.score != 0.0])
        smallest = max(score.min(), 1e-100) if score.size else 1.0
        self.first_step = float(1.0 / smallest)

    def run(self) -> BestTrees:
        self._initialise_lower_bound()
        nodes = [LevelNode(self.problem.allowed.copy(), self.bounds.start())]
        closed = -np.inf
        while nodes:
            still_open = []
            for number, node in enumerate(nodes):
                if self._exhausted(len(nodes)):
                    still_open += nodes[number:]
                    break
                self._bound(node)
                if node.branching is None:  # no tree, or a single one
                    closed = max(closed, min(node.upper, node.lower))
                elif self._closes(node.upper):
                    closed = max(closed, node.upper)
                else:
                    still_open.append(node)
            # later nodes of the level may have raised the lower bound
            nodes = [node for node in still_open if not self._closes(node.upper)]
            closed = max(
                [closed, *(node.upper for node in still_open if self._closes(node.upper))]
            )
            if self._exhausted(len(nodes)):
                break
            if nodes:
                arc = max(nodes, key=lambda node: node.lower).branching
                assert arc is not None  # all still_open have one
                nodes = [child for node in nodes for child in _children(node, arc)]
        bound = max([closed, *(node.upper for node in nodes)])
        if bound == np.inf:  # not a single step
            bound = arborescence_bound(self.problem, self.forbidden)
        if bound <= self.threshold:  # all remaining trees have a forbidden part
            bound = -np.inf
        found = int(self.best_score > self.threshold)
        return BestTrees(
            self.best_heads[None][:found],
            np.array([self.best_score])[:found],
            bound,
            bound,
            self.calls,
        )

    def _exhausted(self, nodes: int = 0) -> bool:
        node_bytes = 8 * self.bounds.offsets[-1] + self.problem.allowed.size
        if nodes * node_bytes > MOST_NODE_BYTES:
            return True
        over = self.clock.exhausted(self.calls) or self.each > self.clock.seconds_left
        return self.best_score > -np.inf and over

    def _slack(self) -> float:
        if self.best_score == -np.inf:
            return 0.0
        return closing_slack(self.best_score, self.rounding)

    def _closes(self, upper: float) -> bool:
        return upper <= self.best_score + self._slack()

    def _bound(self, node: LevelNode) -> None:
        """Solve min over weights, max over trees, by projected subgradient (section 3.2)."""
        bounds = self.bounds
        step = self.first_step
        last = np.inf
        for _ in range(self.iterations):
            begun = perf_counter()
            value, heads = self._best_tree(bounds.scores(node.weights), node.mask)
            value += bounds.constant + float(bounds.constants @ node.weights)
            if heads is None:
                node.upper, node.branching = -np.inf, None
                return
            node.upper = min(node.upper, bounds.round_down(value + self.rounding))
            truth = self._offer(heads)
            node.lower = max(node.lower, truth)
            present = bounds.present(heads)
            values = bounds.values(present)
            node.branching = self._branching(node, present, values)
            self.each = perf_counter() - begun
            converged = 0.0 <= last - value <= PRECISION
            if converged or self._closes(node.upper) or self._exhausted():
                return
            if value > last:  # as Rush et al. (2010): halve with every rise of the dual
                step *= 0.5
            last = value
            node.weights = bounds.project(node.weights - step * values)

    def _branching(
        self, node: LevelNode, present: NDArray[np.float64], values: NDArray[np.float64]
    ) -> tuple[int, int] | None:
        """Return the free arc with the largest sum of gaps (section 3.3)."""
        size = self.problem.n + 1
        gaps = self.bounds.gaps(node.weights, values, present)[: size * size].reshape(size, size)
        free = node.mask & (node.mask.sum(axis=0) > 1)
        if not free.any():
            return None
        on_tree = 1e-9 * present[: size * size].reshape(size, size)  # where there is no gap
        h, m = np.unravel_index(int(np.argmax(np.where(free, gaps + on_tree, -1.0))), free.shape)
        return int(h), int(m)

    def _best_tree(self, scores: NDArray[np.float64], mask: Mask) -> tuple[float, Heads | None]:
        """Run the backbone; returns the value and heads (n + 1,), None without any tree."""
        from ..kernels import chu_liu_edmonds, eisner
        from ..second_order import best_heads

        self.calls += 1
        size = self.problem.n + 1
        square, cube = size * size, size**3
        arcs = read_only(np.where(mask, scores[:square].reshape(size, size), -np.inf))
        single = self.problem.single_root
        if not self.problem.projective:
            heads, _, value, _, _ = chu_liu_edmonds.decode(arcs, single, False)
        elif self.backbone == "first-order":
            heads, _, value, _ = eisner.decode(arcs, single, NO_GAPS)
        else:
            pairs, chains = scores[square : square + cube], scores[square + cube :]
            heads, value = best_heads(
                arcs,
                read_only(chains.reshape(size, size, size)),
                read_only(pairs.reshape(size, size, size)),
                single,
                self.backbone == "carreras",
            )
        if value == -np.inf:
            return -np.inf, None
        return float(value), np.concatenate([[0], heads]).astype(np.int32)

    def _offer(self, heads: Heads) -> float:
        truth = max(score_tree(self.problem, heads[1:]), self.forbidden)
        if truth > self.best_score:
            self.best_score, self.best_heads = truth, heads
        return truth

    def _initialise_lower_bound(self) -> None:
        """Climb by linear lower bounds that are tight at the tree of before (section 3.4)."""
        scores = self.bounds.local.copy()
        before = -np.inf
        while not self._exhausted():
            begun = perf_counter()
            _, heads = self._best_tree(scores, self.problem.allowed)
            if heads is None or self._offer(heads) <= before + self._slack():
                return
            before = self.best_score
            scores = self.bounds.lower_scores(self.bounds.present(heads))
            self.each = perf_counter() - begun


def _children(node: LevelNode, arc: tuple[int, int]) -> list[LevelNode]:
    """Split a node on an arc; a node in which the arc is decided stays whole."""
    h, m = arc
    if not node.mask[h, m] or node.mask[:, m].sum() == 1:
        return [node]
    taken, left = node.mask.copy(), node.mask.copy()
    taken[:, m] = False
    taken[h, m] = True
    left[h, m] = False
    return [LevelNode(mask, node.weights, node.upper) for mask in (taken, left)]
