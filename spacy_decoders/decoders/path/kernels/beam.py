"""Beam search, one layer of the path after another."""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit
from .graph import Graph

__all__ = ["Candidates", "Hypotheses", "beam", "fill_layer", "next_layer"]


class Hypotheses(NamedTuple):
    """Prefixes of one length."""

    scores: Any  # (count,), float64: of each prefix
    paths: Any  # (count, length), int32: the vertices of each; later ones are not set


class Candidates(NamedTuple):
    """A heap of the best candidates for the next layer, the worst of them first."""

    ranks: Any  # (width,), float64: the values they are ranked by
    members: Any  # (width,), int64: hypothesis times n, plus the vertex that extends it


@jit()
def _sift_down(ranks, members, size):
    """Restore the heap after its first member has changed."""
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
def fill_layer(graph, outlook, hypotheses, depth, used, first, last, candidates, count):
    """Extend the hypotheses from `first` to `last` into the next layer; return its size.

    `outlook[v]` is added to a hypothesis at v to rank it; `used` is scratch space, a flag for
    each class. The heap already holds `count` candidates.
    """
    start, edges, classes = graph.start, graph.edges, graph.classes
    scores, paths = hypotheses
    ranks, members = candidates
    n = start.size
    capacity = ranks.size
    for member in range(first, last):
        for i in range(depth):
            used[classes[paths[member, i]]] = True
        row = start if depth == 0 else edges[paths[member, depth - 1]]
        base = scores[member]
        floor = ranks[0] if count == capacity else -np.inf
        for u in range(n):
            rank = base + (row[u] + outlook[u])
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
def next_layer(graph, hypotheses, depth, members, count):
    """Return the scores and paths of the candidates that were kept."""
    start, edges = graph.start, graph.edges
    scores, paths = hypotheses
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
def beam(arrays, outlook, width):
    """Return the scores and paths of the last layer, in no particular order.

    `outlook[l, v]` is added to a hypothesis at v that lacks l more vertices, to rank it: the
    best walk to the end, or zero except for the ends in the last layer.
    """
    graph = Graph(*arrays)
    length, n = outlook.shape
    scores = np.zeros(1)
    paths = np.zeros((1, length), np.int32)
    used = np.zeros(graph.class_count, np.bool_)
    for depth in range(length):
        capacity = min(width, scores.size * n)
        candidates = Candidates(np.empty(capacity), np.empty(capacity, np.int64))
        layer, rest = Hypotheses(scores, paths), outlook[length - 1 - depth]
        count = fill_layer(graph, rest, layer, depth, used, 0, scores.size, candidates, 0)
        scores, paths = next_layer(graph, layer, depth, candidates.members, count)
    for i in range(scores.size):
        scores[i] += graph.end[paths[i, length - 1]]
    return scores, paths
