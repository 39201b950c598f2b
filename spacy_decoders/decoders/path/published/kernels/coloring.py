"""Colour-coding: random colourings, and dynamic programming over the sets of colours visited."""

from typing import Any, NamedTuple

import numpy as np

from .....jit import jit
from ...kernels.walks import best_steps

__all__ = ["BEST_VERTEX", "NEXT_SET", "SetTable", "go_on_colorings"]

#: Places in `SetTable.state`.
NEXT_SET, BEST_SET, BEST_VERTEX = 0, 1, 2


class SetTable(NamedTuple):
    """The table of a dynamic program, and its progress."""

    # (2 ** groups, n): [S, v] is the best path to v that has visited exactly the groups S
    values: Any
    path: Any  # (length,), int32: the best path, after the last set
    best: Any  # (1,): its score, or the score to exceed
    # (3,), int64: the next set, 0 before the start; the set and the last vertex of the best path,
    # -1 without any
    state: Any


@jit()
def _by_group(groups, first, members):
    """List the vertices by group: those of group c are ``members[first[c]:first[c + 1]]``."""
    for v in range(groups.size):
        first[groups[v] + 1] += 1
    for c in range(first.size - 1):
        first[c + 1] += first[c]
    place = first[:-1].copy()
    for v in range(groups.size):
        members[place[groups[v]]] = v
        place[groups[v]] += 1


@jit()
def _trace(edges, groups, values, met, last, path):
    """Write the path that ends at the vertex `last` and has visited the set `met`."""
    path[path.size - 1] = last
    for i in range(path.size - 2, -1, -1):
        v = path[i + 1]
        value = values[met, v]
        met ^= 1 << groups[v]
        for j in range(groups.size):
            if met >> groups[j] & 1 and edges[j, v] + values[met, j] == value:
                path[i] = j
                break


@jit()
def _go_through_sets(graph, groups, group_count, set_limit, table):
    """Process up to `set_limit` more sets of groups; return whether those were the last.

    `groups[v]` is the class of v, or its colour; a path visits each at most once. Every entry of
    the table has one predecessor set, S without v's group, so that each is written once and the
    table needs no clearing.
    """
    start, edges, end = graph.start, graph.edges, graph.end
    values, path, best, state = table
    n = start.size
    length = path.size
    if state[NEXT_SET] == 0:
        for v in range(n):
            values[1 << groups[v], v] = start[v]
        state[NEXT_SET] = 1
        state[BEST_VERTEX] = -1
    first = np.zeros(group_count + 1, np.int64)
    members = np.empty(n, np.int64)
    _by_group(groups, first, members)
    kept_values = np.empty(n)
    kept = np.empty(n, np.int64)
    out = np.empty(n)
    last = min(state[NEXT_SET] + set_limit, 1 << group_count)
    for met in range(state[NEXT_SET], last):
        size = 0
        bits = met
        while bits:
            bits &= bits - 1
            size += 1
        if size > length:
            continue
        reached = values[met]
        count = 0
        for c in range(group_count):
            if met >> c & 1:
                for i in range(first[c], first[c + 1]):
                    u = members[i]
                    if reached[u] > -np.inf:
                        kept_values[count] = reached[u]
                        kept[count] = u
                        count += 1
        if size == length:
            for i in range(count):
                value = kept_values[i] + end[kept[i]]
                if value > best[0]:
                    best[0] = value
                    state[BEST_SET] = met
                    state[BEST_VERTEX] = kept[i]
            continue
        best_steps(kept_values, kept, count, edges, out)
        for c in range(group_count):
            if not met >> c & 1:
                target = values[met | 1 << c]
                for i in range(first[c], first[c + 1]):
                    target[members[i]] = out[members[i]]
    state[NEXT_SET] = last
    if last < 1 << group_count:
        return False
    if state[BEST_VERTEX] >= 0:
        _trace(edges, groups, values, state[BEST_SET], state[BEST_VERTEX], path)
    return True


@jit()
def _random(state):
    """One step of splitmix64; `state[0]` is the generator."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def _color(seed, iteration, color_count, classes, of_class, of_vertex):
    """Distribute the colours evenly over the classes, in a random order."""
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    state[0] = _random(state) ^ (np.uint64(iteration) * np.uint64(0xD6E8FEB86659FD93))
    for c in range(of_class.size):
        of_class[c] = c % color_count
    for c in range(of_class.size - 1, 0, -1):
        # the bias of the remainder is below 2^-50 for any number of classes that fits
        other = np.int64(_random(state) % np.uint64(c + 1))
        of_class[c], of_class[other] = of_class[other], of_class[c]
    for v in range(of_vertex.size):
        of_vertex[v] = of_class[classes[v]]


@jit()
def go_on_colorings(graph, color_count, seed, number, last, set_limit, of_class, of_vertex, table):
    """Colour from `number` to `last`, until a better path is found; return the number reached.

    It stops between two colourings, or within one, after up to `set_limit` sets of colours.
    `of_class` and `of_vertex` are scratch space for the colours.
    """
    state = table.state
    while number < last and set_limit > 0:
        before = state[NEXT_SET]
        if before == 0:
            _color(seed, number, color_count, graph.classes, of_class, of_vertex)
        if not _go_through_sets(graph, of_vertex, color_count, set_limit, table):
            return number
        set_limit -= state[NEXT_SET] - before
        number += 1
        state[NEXT_SET] = 0
        if state[BEST_VERTEX] >= 0:
            break
    return number
