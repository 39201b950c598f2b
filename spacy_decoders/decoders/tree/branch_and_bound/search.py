"""Best-first search over nodes, each of which is a mask of arcs."""

from __future__ import annotations

import heapq
from time import perf_counter
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ....budget import Budget, Clock
from ..arc_bounds import arborescence_bound
from ..fallback import block_tree
from ..magnitudes import Magnitudes
from ..problem import TreeProblem
from .kernels import node as kernels
from .kernels.records import (
    AUTOMATA,
    FIRST,
    SECOND,
    SPANNING,
    Incumbents,
    NodeBound,
    NodeOptions,
    PartScores,
)
from .preparation import Prepared, likely_arcs, outline, prepare

__all__ = [
    "MOST_NODE_BYTES",
    "TOLERANCE",
    "BestTrees",
    "lasts_too_long",
    "search",
    "tree_of_blocks",
]

#: Relative slack within which a bound closes a node.
TOLERANCE = 1e-9

#: The most open nodes: more would exhaust the memory, so the search ends with a gap.
MOST_NODE_BYTES = 200_000_000

#: The most bytes of a chart: larger nodes are bounded by the arcs alone.
MOST_CHART_BYTES = 140_000_000

#: Seconds of a first pass with max-marginals: Eisner's for each n^3, and what each byte of the
#: lists of grandparents and siblings adds.
SECONDS_A_CUBE, SECONDS_A_BYTE = 6e-9, 8e-9

#: Tokens up to which trees with crossing arcs are bounded faster without head automata.
WITHOUT_AUTOMATA = 20

#: Heads of each word in the first, restricted search.
LIKELY_HEADS = 10

#: Step length, momentum, and passes between two rounds of pruning: measured on treebanks.
RATE, MOMENTUM, PRUNE_EVERY = 1.5, 0.5, 3


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


def search(
    problem: TreeProblem,
    magnitudes: Magnitudes,
    k: int,
    second_order: bool,
    root_iterations: int,
    iterations: int,
    budget: Budget,
) -> BestTrees:
    """Find the k best trees, or as many as there are.

    Each node is a set of arcs. The kernels lower its bound by subgradient steps, prune every arc
    that cannot be in a tree better than the k-th best one, and choose the arc to branch on: one
    child must contain it, the other must not. The multipliers are shared, as any multipliers give
    a valid bound. A node is closed only when its bound does not exceed the k-th best score; when
    the budget ends, the open nodes give the bound.
    """
    clock = budget.start()
    if lasts_too_long(problem, clock):
        blocks = tree_of_blocks(problem, magnitudes)
        if blocks is not None:
            return blocks
    prepared = prepare(problem, magnitudes)
    size = problem.n + 1
    incumbents = Incumbents(np.zeros((k, size), np.int32), np.full(k, -np.inf))
    solver = _NodeSolver(problem, prepared, incumbents, second_order)
    # entries are (-bound, order of birth, mask): best bound first, then the oldest
    nodes = [(-np.inf, 0, problem.allowed.astype(np.uint8))]
    calls = solver.explore(root_iterations, clock)
    births = 0
    closed = rest = -np.inf
    while nodes:
        bound = -nodes[0][0]
        if bound <= incumbents.scores[-1] + _slack(incumbents):
            break
        over = len(nodes) * size**2 > MOST_NODE_BYTES or clock.exhausted(calls)
        # continue until there is a tree to return
        if over and bound < np.inf and incumbents.scores[0] > prepared.threshold:
            break
        _, _, mask = heapq.heappop(nodes)
        passes = iterations if births else root_iterations
        node = solver.lower(mask, passes, calls, clock)
        calls += node.passes
        upper = min(node.upper, bound)
        closed, rest = max(closed, node.pruned), max(rest, node.pruned)
        h, m = node.head, node.modifier
        if h < 0:
            closed = max(closed, upper)
            # the only tree of the node is listed already, or scores less than those listed
            rest = rest if mask.sum() == problem.n else max(rest, upper)
            continue
        without = mask.copy()
        without[h, m] = 0
        mask[:, m] = 0
        mask[h, m] = 1
        heapq.heappush(nodes, (-upper, births + 1, mask))
        heapq.heappush(nodes, (-upper, births + 2, without))
        births += 2
    if nodes:
        closed, rest = max(closed, -nodes[0][0]), max(rest, -nodes[0][0])
    found = int((incumbents.scores > prepared.threshold).sum())
    return BestTrees(incumbents.heads[:found], incumbents.scores[:found], closed, rest, calls)


def tree_of_blocks(problem: TreeProblem, magnitudes: Magnitudes) -> BestTrees | None:
    """Return a tree of separately parsed blocks, bounded by arcs alone; None without one."""
    found = block_tree(problem)
    if found is None:
        return None
    heads, score = found
    bound = arborescence_bound(problem, magnitudes.forbidden)
    return BestTrees(heads[None], np.array([score]), bound, bound, 1)


def lasts_too_long(problem: TreeProblem, clock: Clock) -> bool:
    """Return whether the budget may end before a first pass does."""
    if clock.budget.seconds is None:
        return False
    seconds = SECONDS_A_CUBE * problem.n**3 if problem.projective else 0.0
    if problem.grandparents is not None or problem.siblings is not None:
        seconds += SECONDS_A_BYTE * _bytes(problem, problem.allowed.astype(np.uint8), False)[1]
    return seconds > clock.seconds_left


def _slack(incumbents: Incumbents) -> float:
    """The gap to the k-th best score within which a bound closes a node."""
    leader = float(incumbents.scores[0])
    return TOLERANCE * max(1.0, abs(leader)) if leader > -np.inf else 0.0


class _NodeSolver:
    """Bounds nodes with the backbone that their size allows."""

    def __init__(
        self, problem: TreeProblem, prepared: Prepared, incumbents: Incumbents, second_order: bool
    ) -> None:
        self.problem = problem
        self.prepared = prepared
        self.incumbents = incumbents
        self.second_order = second_order
        self.arrays = {
            backbone: kernels.room(backbone, problem.n + 1) for backbone in [SECOND] * second_order
        }
        self.outlined: PartScores | None = None

    def explore(self, passes: int, clock: Clock) -> int:
        """Search each word's likely heads only; return the number of passes.

        Its bounds are valid for these arcs only, but the trees and multipliers that it finds, at a
        fraction of the cost, let the first passes over all arcs prune most of them.
        """
        limit = clock.budget.iterations
        if not self.second_order or (limit is not None and limit < 2 * passes):
            return 0
        likely = likely_arcs(self.problem, self.prepared.slack, LIKELY_HEADS)
        if likely is None:
            return 0
        return self.lower(likely, passes, 0, clock).passes

    def lower(self, mask: NDArray[np.uint8], passes: int, before: int, clock: Clock) -> NodeBound:
        """Lower the bound of a node within the budget; see :func:`.solve_node`.

        With a limit of time the passes run in small rounds, between which the clock is checked.
        """
        limit = clock.budget.iterations
        if limit is not None:
            passes = max(1, min(passes, limit - before))
        upper, pruned, done, chunk = np.inf, -np.inf, 0, passes
        if clock.budget.seconds is not None and mask.sum() > 150:
            chunk = 1
        while True:
            begin = perf_counter()
            found = self._solve(mask, min(chunk, passes - done))
            upper, pruned = min(upper, found.upper), max(pruned, found.pruned)
            done += found.passes
            each = (perf_counter() - begin) / max(found.passes, 1)
            over = done >= passes or clock.exhausted(before + done)
            if found.head < 0 or over or each > clock.seconds_left:
                return found._replace(upper=upper, pruned=pruned, passes=done)
            chunk = max(1, int(0.1 * min(clock.seconds_left, 1e6) / each))

    def _solve(self, mask: NDArray[np.uint8], passes: int) -> NodeBound:
        problem = self.problem
        chart, chains = _bytes(problem, mask, self.second_order)
        backbone = FIRST if problem.projective else SPANNING
        bounding = self.prepared.scores
        if self.second_order and chart <= MOST_CHART_BYTES:
            backbone = SECOND
        elif chains > MOST_CHART_BYTES:
            bounding = self.outlined = self.outlined or outline(problem, self.prepared.scores)
        if backbone == SPANNING and bounding is not self.outlined and self._wants_automata():
            backbone = AUTOMATA
        if backbone not in self.arrays:
            self.arrays[backbone] = kernels.room(backbone, problem.n + 1)
        options = NodeOptions(
            backbone, passes, PRUNE_EVERY, RATE, MOMENTUM, TOLERANCE,
            problem.projective, problem.has_one_root,
        )  # fmt: skip
        with_chains = backbone < SECOND and bounding is not self.outlined
        found = kernels.solve_node(
            self.prepared.scores, bounding, self.prepared.index,
            self.prepared.multipliers(with_chains), self.incumbents, mask, options,
            *self.arrays[backbone],
        )  # fmt: skip
        return cast(NodeBound, found)

    def _wants_automata(self) -> bool:
        problem = self.problem
        has_parts = problem.grandparents is not None or problem.siblings is not None
        return has_parts and problem.n > WITHOUT_AUTOMATA


def _bytes(problem: TreeProblem, mask: NDArray[np.uint8], second_order: bool) -> tuple[int, int]:
    """Return the bytes of the second-order charts, and of the lists of chains and pairs alone."""
    if problem.grandparents is None and problem.siblings is None and not second_order:
        return 0, 0
    size = len(mask)
    below = mask.sum(axis=1, dtype=np.int64)
    above = np.maximum(mask.sum(axis=0, dtype=np.int64), 1)
    right = np.triu(mask).sum(axis=1, dtype=np.int64)
    chains = int(above @ below)
    pairs = int((right**2 + (below - right) ** 2).sum()) // 2
    crosses = int((right * (below - right)).sum())
    scored = 6 * pairs + 4 * crosses if problem.siblings is not None else 0
    chart = 6 * int(below.sum() + 1) * (size + 1) + 5 * chains + max(scored, 6 * pairs)
    return 8 * chart, 8 * ((3 * chains if problem.grandparents is not None else 0) + scored)
