"""An upper bound on all paths: the search is run anew, on the graph with its edges reversed."""

import math

import numpy as np

from ...budget import Budget, Clock
from ...errors import InfeasibleError
from .kernels.search import RankedPaths, bound_at_once, fresh_state, search
from .kernels.walks import Graph, Prices
from .lagrangian_search import FIRST_NODES, STEPS, BestPaths, LagrangianSearch, nodes_within
from .problem import Floats, Integers, PathProblem

__all__ = ["full_bound", "quick_bound", "some_path"]

#: Nodes of the first search for any path, made whatever the budget: enough for small problems.
NODES = 20_000


def quick_bound(
    problem: PathProblem, length: int, score: float, nodes: int, clock: Clock
) -> float:
    """Return an upper bound on all paths, by a search from behind of at most `nodes` nodes.

    Only nodes with a larger bound than the score of a known path are searched. With 0 nodes the
    result is the score of the best walk; where there is no time for that either, it is made of the
    largest scores.
    """
    if problem.lacks_time(clock, length):
        return problem.simple_bound(length)
    nodes = nodes_within(clock, problem.size, nodes)
    slack = problem.rounding(length, score)
    floor = _beneath(score, slack)
    start, edges, reversed_edges, end, *classes = problem.arrays
    backwards = (end, reversed_edges, edges, start, *classes)
    bound: float = bound_at_once(backwards, length, floor, slack, nodes)
    return bound + slack


def full_bound(
    problem: PathProblem,
    length: int,
    score: float,
    prices: Floats,
    clock: Clock,
    *,
    to_the_end: bool,
) -> float:
    """Return an upper bound on all paths, by branch and bound from behind.

    The score is that of a known path: the search goes on until the bound meets it or the clock
    ends, if it is to go `to_the_end`. The prices of the vertices are not negative, and equal
    within a class; whatever they are, the bound is valid; if they are good, it is tight.
    """
    if problem.lacks_time(clock, length):
        return problem.simple_bound(length)
    slack = problem.rounding(length, score, problem.total(prices))
    best = BestPaths(length, 1, _beneath(score, slack))
    seconds = Clock(Budget(clock.budget.seconds), clock.started)
    closing = LagrangianSearch(problem.reversed, length, best, seconds, math.inf)
    closing.set_prices(prices)
    closing.search(None if to_the_end else FIRST_NODES)
    return max(closing.bound, best.most + slack) + slack


def _beneath(score: float, slack: float) -> float:
    """Where a search from behind begins: below the score of the known path.

    It has to find a path as good again, or its bound lies below the score. Without rounding, as
    where all scores are 0, the next number below does.
    """
    return min(score - 3.0 * slack, math.nextafter(score, -math.inf))


def some_path(problem: PathProblem, length: int, clock: Clock) -> Integers:
    """Return any path, found from behind: the fallback of decoders that found none.

    Raises `InfeasibleError` if it is proven that there is none, or the clock ends first; the
    message says which.
    """
    limit, a_look = clock.budget.iterations, min(NODES, 1 + STEPS // problem.size)
    behind = not problem.lacks_time(clock, length)
    if behind:
        graph, bounds = problem.reversed.graph, problem.reversed.completions(length)
    else:  # without tables, no vertex is ruled out beforehand
        weights, classes = problem.weights, problem.dense_classes
        graph = Graph(problem.start, weights, weights, problem.end, classes, problem.class_count)
        bounds = np.full((length, problem.size), problem.simple_bound(length))
        bounds[0] = problem.end
    best, nodes = BestPaths(length, 1), 0
    state = fresh_state(problem.size, problem.class_count, length)
    given = graph, bounds, Prices(np.zeros(problem.size), 0.0)
    while search(*given, RankedPaths(best.scores, best.paths), 0.0, state, a_look) > -math.inf:
        nodes += a_look
        too_many = limit is not None and nodes * problem.size > (limit + 10) * STEPS
        if best.found or too_many or clock.exhausted():
            break
    else:
        if not best.found:
            raise InfeasibleError(
                f"length: no path has {length} vertices; the forbidden (-inf) starts, edges and "
                "ends, and the classes, leave none. Ask for a shorter path, or forbid less."
            )
    if best.found:
        return best.paths[0, ::-1].copy() if behind else best.paths[0].copy()
    raise InfeasibleError(
        f"The budget ended before any path of {length} vertices was found; there may be one. "
        "Allow more time or iterations."
    )
