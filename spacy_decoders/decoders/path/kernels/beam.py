"""Beam search, one layer of the path after another."""

import numpy as np

from ....jit import jit

__all__ = ["beam", "fill_layer", "next_layer"]


@jit()
def _sift_down(ranks, members, size):
    """Restore the heap, whose least member stands first, after its first has changed."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and ranks[child + 1] < ranks[child]:
            child += 1
        if ranks[place] <= ranks[child]:
            return
        ranks[place], ranks[child] = ranks[child], ranks[place]
        members[place], members[child] = members[child], members[place]
        place = child


@jit()
def _sift_up(ranks, members, place):
    """Restore the heap after a member was added at its end."""
    while place > 0:
        parent = (place - 1) // 2
        if ranks[parent] <= ranks[place]:
            return
        ranks[place], ranks[parent] = ranks[parent], ranks[place]
        members[place], members[parent] = members[parent], members[place]
        place = parent


@jit()
def fill_layer(
    start, edges, classes, beyond, scores, paths, depth, used, first, last, ranks, members, count,
):  # fmt: skip
    """Let the hypotheses from `first` to `last` compete for the next layer; return its size.

    `ranks` is a heap of the best so far, `members` says hypothesis and vertex of each, and
    `beyond[v]` is added to a hypothesis at v to rank it.
    """
    n = start.size
    capacity = ranks.size
    for member in range(first, last):
        for i in range(depth):
            used[classes[paths[member, i]]] = True
        row = start if depth == 0 else edges[paths[member, depth - 1]]
        base = scores[member]
        floor = ranks[0] if count == capacity else -np.inf
        for u in range(n):
            rank = base + (row[u] + beyond[u])
            if rank > floor and not used[classes[u]]:
                if count < capacity:
                    ranks[count] = rank
                    members[count] = member * n + u
                    _sift_up(ranks, members, count)
                    count += 1
                else:
                    ranks[0] = rank
                    members[0] = member * n + u
                    _sift_down(ranks, members, count)
                if count == capacity:
                    floor = ranks[0]
        for i in range(depth):
            used[classes[paths[member, i]]] = False
    return count


@jit()
def next_layer(start, edges, scores, paths, depth, members, count):
    """Return the scores and paths of the hypotheses that were kept."""
    n = start.size
    next_scores = np.empty(count)
    next_paths = np.empty((count, paths.shape[1]), np.int32)
    for i in range(count):
        member = members[i] // n
        u = members[i] % n
        step = start[u] if depth == 0 else edges[paths[member, depth - 1], u]
        next_scores[i] = scores[member] + step
        next_paths[i] = paths[member]
        next_paths[i, depth] = u
    return next_scores, next_paths


@jit()
def beam(start, edges, end, classes, class_count, outlook, length, width):
    """Return the scores and paths of the last layer, in no order.

    `outlook[l, v]` is added to a hypothesis at v that lacks l more vertices, to rank it: the
    best walk to the end, or zero but for the last layer's ends.
    """
    scores = np.zeros(1)
    paths = np.zeros((1, length), np.int32)
    used = np.zeros(class_count, np.bool_)
    for depth in range(length):
        capacity = min(width, scores.size * start.size)
        ranks = np.empty(capacity)
        members = np.empty(capacity, np.int64)
        count = fill_layer(
            start, edges, classes, outlook[length - 1 - depth], scores, paths, depth, used, 0,
            scores.size, ranks, members, 0,
        )  # fmt: skip
        scores, paths = next_layer(start, edges, scores, paths, depth, members, count)
    for i in range(scores.size):
        scores[i] += end[paths[i, length - 1]]
    return scores, paths
