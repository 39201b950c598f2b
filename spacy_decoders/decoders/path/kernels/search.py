"""Depth-first branch and bound over paths, which can stop at any node and go on."""

import numpy as np

from ....jit import jit

__all__ = ["search", "search_once"]


@jit()
def _expand(
    depth, value, row, classes, used, bounds, prices, total_price, threshold, candidates,
    promises, counts, cursors,
):  # fmt: skip
    """List the vertices that may come next at this depth, each with its bound."""
    count = 0
    beyond = bounds[bounds.shape[0] - 1 - depth]
    base = value + total_price
    for u in range(row.size):
        promise = base + (row[u] + (beyond[u] - prices[u]))
        if promise > threshold and not used[classes[u]]:
            candidates[depth, count] = u
            promises[depth, count] = promise
            count += 1
    counts[depth] = count
    cursors[depth] = 0


@jit()
def _record(score, path, top_scores, top_paths):
    """Insert a path into the list of the best, which is sorted, best first."""
    place = top_scores.size - 1
    while place > 0 and score > top_scores[place - 1]:
        top_scores[place] = top_scores[place - 1]
        top_paths[place] = top_paths[place - 1]
        place -= 1
    top_scores[place] = score
    top_paths[place] = path


@jit()
def search(
    start, edges, end, classes, bounds, prices, total_price, top_scores, top_paths, path, values,
    used, candidates, promises, counts, cursors, state, node_limit,
):  # fmt: skip
    """Find the best paths; return the number of nodes opened.

    `bounds[l, v]` is at least the worth, prices paid, of any l vertices after v and the end;
    a path's bound is what it has paid so far, that, and `total_price`. A candidate is opened
    only if it promises more than the worst of the `top_scores`, the most promising first.
    `state[0]` is the depth to go on at, -1 before the beginning and -2 after the end.
    """
    length = path.size
    last = length - 1
    worst = top_scores.size - 1
    depth = state[0]
    nodes = 0
    if depth == -1:
        depth = 0
        values[0] = 0.0
        _expand(
            0, 0.0, start, classes, used, bounds, prices, total_price, top_scores[worst],
            candidates, promises, counts, cursors,
        )  # fmt: skip
        nodes = 1
    while depth >= 0 and nodes < node_limit:
        cursor = cursors[depth]
        # the most promising of the rest: few are ever asked for, so the list stays unsorted
        best = cursor
        for i in range(cursor + 1, counts[depth]):
            if promises[depth, i] > promises[depth, best]:
                best = i
        if cursor == counts[depth] or promises[depth, best] <= top_scores[worst]:
            counts[depth] = 0
            cursors[depth] = 0
            depth -= 1
            if depth >= 0:
                used[classes[path[depth]]] = False
            continue
        u = candidates[depth, best]
        promise = promises[depth, best]
        candidates[depth, best] = candidates[depth, cursor]
        promises[depth, best] = promises[depth, cursor]
        candidates[depth, cursor] = u
        promises[depth, cursor] = promise
        cursors[depth] = cursor + 1
        path[depth] = u
        if depth == last:
            score = start[path[0]]
            for i in range(1, length):
                score += edges[path[i - 1], path[i]]
            score += end[u]
            if score > top_scores[worst]:
                _record(score, path, top_scores, top_paths)
            continue
        step = start[u] if depth == 0 else edges[path[depth - 1], u]
        used[classes[u]] = True
        values[depth + 1] = values[depth] + (step - prices[u])
        depth += 1
        nodes += 1
        _expand(
            depth, values[depth], edges[u], classes, used, bounds, prices, total_price,
            top_scores[worst], candidates, promises, counts, cursors,
        )  # fmt: skip
    state[0] = depth if depth >= 0 else -2
    return nodes


@jit()
def search_once(
    start, edges, end, classes, class_count, bounds, prices, total_price, top_scores, top_paths,
    node_limit,
):  # fmt: skip
    """Search through up to so many nodes; return what bounds every path not visited then."""
    length = top_paths.shape[1]
    promises = np.empty((length, start.size))
    counts = np.zeros(length, np.int64)
    cursors = np.zeros(length, np.int64)
    state = np.full(1, -1, np.int64)
    search(
        start, edges, end, classes, bounds, prices, total_price, top_scores, top_paths,
        np.zeros(length, np.int32), np.zeros(length + 1), np.zeros(class_count, np.bool_),
        np.empty((length, start.size), np.int32), promises, counts, cursors, state, node_limit,
    )  # fmt: skip
    frontier = -np.inf
    for depth in range(state[0] + 1):
        for i in range(cursors[depth], counts[depth]):
            frontier = max(frontier, promises[depth, i])
    return frontier
