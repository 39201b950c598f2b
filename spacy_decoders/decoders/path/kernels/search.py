"""Depth-first branch and bound over paths, interruptible at any node and resumable."""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit
from .walks import Graph, Prices, walk_bounds

__all__ = ["RankedPaths", "SearchState", "bound_at_once", "fresh_state", "search", "search_once"]


class RankedPaths(NamedTuple):
    """The best paths found, best first."""

    scores: Any  # (k,), float64: where no path is found yet, the score to exceed (or `-inf`)
    paths: Any  # (k, length), int32: their vertices, -1 where no path is found yet


class SearchState(NamedTuple):
    """The state of a search between two runs."""

    path: Any  # (length,), int32: the current prefix
    values: Any  # (length + 1,): its score less its prices, before each position
    used: Any  # (classes,), bool: the classes that it visits
    # (length, n), int32 and float64: the candidate vertices of each position, and their bounds
    candidates: Any
    node_bounds: Any
    # (length,), int64: the number of candidates at each position, and how many have been tried
    counts: Any
    cursors: Any
    # (1,), int64: the position at which to resume; -1 before the first run, -2 when complete
    depth: Any


@jit()
def fresh_state(n, class_count, length):
    """Return the initial state."""
    return SearchState(
        np.zeros(length, np.int32),
        np.zeros(length + 1),
        np.zeros(class_count, np.bool_),
        np.empty((length, n), np.int32),
        np.empty((length, n)),
        np.zeros(length, np.int64),
        np.zeros(length, np.int64),
        np.full(1, -1, np.int64),
    )


@jit()
def _expand(row, classes, used, completions, prices, base, threshold, candidates, node_bounds):
    """List the vertices that may come next and their bounds; return how many there are."""
    count = 0
    for u in range(row.size):
        bound = base + (row[u] + (completions[u] - prices[u]))
        if bound > threshold and not used[classes[u]]:
            candidates[count] = u
            node_bounds[count] = bound
            count += 1
    return count


@jit()
def _record(score, path, scores, paths):
    """Insert a path into the ranking."""
    place = scores.size - 1
    while place > 0 and score > scores[place - 1]:
        scores[place] = scores[place - 1]
        paths[place] = paths[place - 1]
        place -= 1
    scores[place] = score
    paths[place] = path


@jit()
def search(graph, bounds, prices, ranking, slack, state, node_limit):
    """Find the best paths; return an upper bound on the open nodes, ``-inf`` if none is left.

    `bounds[l, v]` bounds the score, less prices, of any l vertices after v and the end; the bound
    of a node is the score of its prefix less prices, plus that, plus the total of the prices. A
    node is pruned unless its bound exceeds the last score of the ranking by more than `slack`;
    siblings are expanded in order of their bounds.
    """
    start, edges, end, classes = graph.start, graph.edges, graph.end, graph.classes
    vertex_prices, total = prices
    scores, paths = ranking
    path, values, used, candidates, node_bounds, counts, cursors, place = state
    length = path.size
    last = length - 1
    worst = scores.size - 1
    depth = place[0]
    nodes = 0
    if depth == -1:
        depth = 0
        values[0] = 0.0
        counts[0] = _expand(
            start, classes, used, bounds[last], vertex_prices, total, scores[worst] + slack,
            candidates[0], node_bounds[0],
        )  # fmt: skip
        cursors[0] = 0
        nodes = 1
    while depth >= 0 and nodes < node_limit:
        cursor = cursors[depth]
        # select the largest remaining bound: few are ever needed, so the list is not sorted
        best = cursor
        for i in range(cursor + 1, counts[depth]):
            if node_bounds[depth, i] > node_bounds[depth, best]:
                best = i
        if cursor == counts[depth] or node_bounds[depth, best] <= scores[worst] + slack:
            counts[depth] = 0
            cursors[depth] = 0
            depth -= 1
            if depth >= 0:
                used[classes[path[depth]]] = False
            continue
        u = candidates[depth, best]
        bound = node_bounds[depth, best]
        candidates[depth, best] = candidates[depth, cursor]
        node_bounds[depth, best] = node_bounds[depth, cursor]
        candidates[depth, cursor] = u
        node_bounds[depth, cursor] = bound
        cursors[depth] = cursor + 1
        path[depth] = u
        if depth == last:
            score = start[path[0]]
            for i in range(1, length):
                score += edges[path[i - 1], path[i]]
            score += end[u]
            if score > scores[worst]:
                _record(score, path, scores, paths)
            continue
        step = start[u] if depth == 0 else edges[path[depth - 1], u]
        used[classes[u]] = True
        values[depth + 1] = values[depth] + (step - vertex_prices[u])
        depth += 1
        nodes += 1
        counts[depth] = _expand(
            edges[u], classes, used, bounds[last - depth], vertex_prices,
            values[depth] + total, scores[worst] + slack, candidates[depth], node_bounds[depth],
        )  # fmt: skip
        cursors[depth] = 0
    place[0] = depth if depth >= 0 else -2
    frontier = -np.inf
    for above in range(depth + 1):
        for i in range(cursors[above], counts[above]):
            frontier = max(frontier, node_bounds[above, i])
    return frontier


@jit()
def search_once(arrays, bounds, prices, ranking, slack, node_limit):
    """Expand at most `node_limit` nodes; return an upper bound on all paths not visited."""
    graph, best = Graph(*arrays), RankedPaths(*ranking)
    state = fresh_state(graph.start.size, graph.class_count, best.paths.shape[1])
    return search(graph, bounds, Prices(*prices), best, slack, state, node_limit)


@jit()
def bound_at_once(arrays, length, floor, slack, node_limit):
    """Return an upper bound on all paths, or ``-inf`` if none scores more than `floor`.

    The bound is the larger of the best path found and of the nodes that are still open after
    `node_limit` expansions.
    """
    graph = Graph(*arrays)
    free = np.zeros(graph.start.size)
    bounds = walk_bounds(graph.reversed_edges, graph.end, free, length - 1)
    best = RankedPaths(np.full(1, floor), np.full((1, length), -1, np.int32))
    state = fresh_state(graph.start.size, graph.class_count, length)
    bound = search(graph, bounds, Prices(free, 0.0), best, slack, state, node_limit)
    return max(bound, best.scores[0] + slack) if best.paths[0, 0] >= 0 else bound
