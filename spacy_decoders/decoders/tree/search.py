"""Best-first search over nodes that hold nothing but a mask of arcs."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from .kernels import branch_and_bound as kernels
from .preparation import Prepared
from .problem import TreeProblem

__all__ = ["Outcome", "search"]

#: Relative slack within which a bound closes a node.
TOLERANCE = 1e-9

#: Open nodes beyond this many would fill the memory: the search then ends with its gap.
MOST_NODES = 100_000

#: A pass of dynamic programming on a node this large is looked at by the clock each time.
LARGE = 30_000


class Outcome(NamedTuple):
    """What a search found: trees (k, n + 1) and scores (k,), best first, and what is proven.

    `bound` bounds every tree that is not among them.
    """

    heads: NDArray[np.int32]
    scores: NDArray[np.float64]
    bound: float
    calls: int


def search(
    problem: TreeProblem,
    prepared: Prepared,
    k: int,
    settings: kernels.Search,
    root_iterations: int,
    budget: Budget,
) -> Outcome:
    """Find the k best trees, or as many as there are.

    Each node is a set of arcs. The kernels lower its bound by subgradient steps, drop every
    arc that can't be in a tree better than the k-th best one, and name the arc to branch on:
    one child has to take it, the other may not. The multipliers are shared, as any
    multipliers give a bound. A node is given up only when its bound is no better than
    the k-th best tree; when the budget ends, the open nodes give the bound.
    """
    clock = budget.start()
    size = problem.n + 1
    pool = kernels.Pool(np.zeros((k, size), np.int32), np.full(k, -np.inf))
    # entries are (-bound, order of birth, mask, passes so far): best bound first, then oldest
    nodes = [(-np.inf, 0, problem.allowed.astype(np.uint8))]
    calls = 0
    births = 0
    closed = -np.inf
    while nodes:
        bound = -nodes[0][0]
        if bound <= pool.scores[-1] + slack(pool) or len(nodes) > MOST_NODES:
            break
        if calls and clock.exhausted(calls) and pool.scores[0] > prepared.threshold:
            break
        _, _, mask = heapq.heappop(nodes)
        iterations = root_iterations if births == 0 else settings.iterations
        if budget.iterations is not None:
            iterations = max(1, min(iterations, budget.iterations - calls))
        upper, spent, h, m = kernels.work(
            prepared.scores,
            prepared.incidence,
            prepared.multipliers,
            pool,
            mask,
            settings._replace(iterations=iterations),
        )
        calls += spent
        upper = min(upper, bound)
        if h < 0:
            closed = max(closed, upper)
            continue
        without = mask.copy()
        without[h, m] = 0
        mask[:, m] = 0
        mask[h, m] = 1
        heapq.heappush(nodes, (-upper, births + 1, mask))
        heapq.heappush(nodes, (-upper, births + 2, without))
        births += 2
    if nodes:
        closed = max(closed, -nodes[0][0])
    found = int((pool.scores > prepared.threshold).sum())
    return Outcome(pool.heads[:found], pool.scores[:found], closed, calls)


def slack(pool: kernels.Pool) -> float:
    """How much a bound may exceed the k-th best score and yet close a node."""
    leader = float(pool.scores[0])
    return TOLERANCE * max(1.0, abs(leader)) if leader > -np.inf else 0.0
