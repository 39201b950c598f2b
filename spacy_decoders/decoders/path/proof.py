"""An upper bound on all paths, by a second search on the reversed graph."""

import math

import numpy as np

from ...arrays import Floats, Integers32
from ...budget import Budget, Clock
from ...errors import InfeasibleError, UndecidedError
from .kernels.search import RankedPaths, bound_at_once, fresh_state, search
from .kernels.walks import Graph, Prices
from .lagrangian_search import (
    CANDIDATES_PER_CHECK,
    FIRST_NODES,
    BestPaths,
    LagrangianSearch,
    nodes_within,
)
from .problem import PathProblem

__all__ = ["full_bound", "quick_bound", "some_path"]

#: Nodes that a search for any path expands whatever the budget: enough for small problems.
NODES_PER_CHECK = 20_000


def quick_bound(
    problem: PathProblem, length: int, score: float, nodes: int, clock: Clock
) -> float:
    """Return an upper bound on all paths, by a reversed search of at most `nodes` nodes.

    `score` is that of a known path, below which nodes are pruned. With 0 nodes the bound is the
    score of the best walk, or, where there is no time for that either, the sum of the largest
    scores.
    """
    if problem.lacks_time(clock, length):
        return problem.simple_bound(length)
    nodes = nodes_within(clock, problem.size, nodes)
    slack = problem.rounding(length, score)
    floor = _floor_below(score, slack)
    start, edges, reversed_edges, end, *classes = problem.arrays
    backwards = (end, reversed_edges, edges, start, *classes)
    return bound_at_once(backwards, length, floor, slack, nodes) + slack


def full_bound(
    problem: PathProblem,
    length: int,
    score: float,
    prices: Floats,
    clock: Clock,
    *,
    to_the_end: bool,
) -> float:
    """Return an upper bound on all paths, by Lagrangian branch and bound on the reversed graph.

    `score` is that of a known path. If `to_the_end`, the search runs until the bound meets it or
    the clock runs out. The bound is valid for any `prices` of the vertices that are at least 0
    and equal within a class; good ones make it tight.
    """
    if problem.lacks_time(clock, length):
        return problem.simple_bound(length)
    slack = problem.rounding(length, score, problem.total(prices))
    best = BestPaths(length, 1, _floor_below(score, slack))
    seconds = Clock(Budget(clock.budget.seconds), clock.started)
    closing = LagrangianSearch(problem.reversed, length, best, seconds, math.inf)
    closing.set_prices(prices)
    closing.search(None if to_the_end else FIRST_NODES)
    return max(closing.bound, best.most + slack) + slack


def _floor_below(score: float, slack: float) -> float:
    """The floor of a reversed search, low enough that it must find an equally good path again.

    Otherwise its bound would lie below the score. Where rounding is 0, as with scores that are
    all 0, the next smaller number is low enough.
    """
    return min(score - 3.0 * slack, math.nextafter(score, -math.inf))


def some_path(problem: PathProblem, length: int, clock: Clock) -> Integers32:
    """Return any legal path, found by a reversed search: the fallback if a decoder finds none.

    Raises `InfeasibleError` if it is proven that there is none, and `UndecidedError` if the clock
    runs out first.
    """
    limit = clock.budget.iterations
    nodes_a_run = min(NODES_PER_CHECK, 1 + CANDIDATES_PER_CHECK // problem.size)
    backwards = not problem.lacks_time(clock, length)
    if backwards:
        graph, bounds = problem.reversed.graph, problem.reversed.completions(length)
    else:  # no time for walk bounds: search forwards, with bounds that prune nothing
        weights, classes = problem.weights, problem.dense_classes
        graph = Graph(problem.start, weights, weights, problem.end, classes, problem.class_count)
        bounds = np.full((length, problem.size), problem.simple_bound(length))
        bounds[0] = problem.end
    best, nodes = BestPaths(length, 1), 0
    state = fresh_state(problem.size, problem.class_count, length)
    given = graph, bounds, Prices(np.zeros(problem.size), 0.0)
    ranking = RankedPaths(best.scores, best.paths)
    while search(*given, ranking, 0.0, state, nodes_a_run) > -math.inf:
        nodes += nodes_a_run
        examined = nodes * problem.size
        too_many = limit is not None and examined > (limit + 10) * CANDIDATES_PER_CHECK
        if best.found or too_many or clock.exhausted():
            break
    else:
        if not best.found:
            raise InfeasibleError(
                f"length: no path has {length} vertices; forbidden (-inf) starts, edges and ends, "
                "and the classes, rule out all of them. Ask for a shorter path, or forbid less."
            )
    if best.found:
        return best.paths[0, ::-1].copy() if backwards else best.paths[0].copy()
    raise UndecidedError(
        f"The budget ended before any path of {length} vertices was found; there may be one. "
        "Allow more time or iterations."
    )
