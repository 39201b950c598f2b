"""Upper bounds on the score of any path, computed apart from the loops that search for paths."""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit
from .graph import Graph, Prices

__all__ = [
    "ProofState",
    "fresh_proof",
    "left_open",
    "most_beyond",
    "promising_steps",
    "prove",
    "prove_at_once",
    "prove_subsets",
    "best_through",
]


class ProofState(NamedTuple):
    """The state of a depth-first proof between two runs."""

    paths: Any  # (2, length), int64: the current prefix, and the best path found above the floor
    place: Any  # (2,), int64: the depth and the vertex at which to continue
    values: Any  # (length,): the score of the prefix less its prices, before each depth
    limits: Any  # (2,): the floor, and the largest bound of any pruned node
    used: Any  # (classes,), bool: the classes that the prefix has visited


@jit()
def most_beyond(arcs, last, prices, length):
    """Return table[l, v]: the best score, less prices, of v and l vertices beyond it.

    `arcs[u]` is the row of edges between u, the farther vertex, and each nearer one.
    """
    n = last.size
    table = np.full((length, n), -np.inf)
    for v in range(n):
        table[0, v] = last[v] - prices[v]
    for steps in range(1, length):
        out = table[steps]
        for u in range(0, n - 1, 2):
            first = table[steps - 1, u]
            second = table[steps - 1, u + 1]
            near = arcs[u]
            next_near = arcs[u + 1]
            for v in range(n):
                a = near[v] + first
                b = next_near[v] + second
                a = a if a > b else b
                out[v] = a if a > out[v] else out[v]
        if n % 2:
            value = table[steps - 1, n - 1]
            row = arcs[n - 1]
            for v in range(n):
                a = row[v] + value
                out[v] = a if a > out[v] else out[v]
        for v in range(n):
            out[v] -= prices[v]
    return table


@jit()
def best_through(before, after, prices, total):
    """Return the score of the best walk through each vertex, at any position."""
    length, n = after.shape
    most = np.full(n, -np.inf)
    for place in range(length):
        for v in range(n):
            score = before[place, v] + after[length - 1 - place, v]
            most[v] = score if score > most[v] else most[v]
    for v in range(n):
        most[v] += prices[v] + total
    return most


@jit()
def fresh_proof(class_count, length, floor):
    """Return the initial state."""
    limits = np.full(2, -np.inf)
    limits[0] = floor
    return ProofState(
        np.zeros((2, length), np.int64),
        np.zeros(2, np.int64),
        np.zeros(length),
        limits,
        np.zeros(class_count, np.bool_),
    )


@jit()
def prove(graph, beyond, prices, node_limit, state):
    """Continue a depth-first search for paths above a floor; return whether it has ended.

    `beyond[l, v]` bounds the score, less prices, of v and l vertices after it. A node whose bound
    does not exceed the floor is pruned; a better path raises the floor.
    """
    start, edges, end, classes = graph.start, graph.edges, graph.end, graph.classes
    path, place, values, limits, used = state
    paid, total = prices
    length, n = beyond.shape
    current = path[0]
    nodes = 0
    depth = place[0]
    cursor = place[1]
    floor = limits[0]
    closed = limits[1]
    while depth >= 0 and nodes < node_limit:
        row = start if depth == 0 else edges[current[depth - 1]]
        onward = beyond[length - 1 - depth]
        value = values[depth] + total
        opened = -1
        for v in range(cursor, n):
            bound = value + (row[v] + onward[v])
            if bound <= floor:
                if bound > closed and not used[classes[v]]:
                    closed = bound
            elif not used[classes[v]]:
                current[depth] = v
                if depth < length - 1:
                    opened = v
                    break
                score = start[current[0]] + end[v]
                for i in range(1, length):
                    score += edges[current[i - 1], current[i]]
                closed = max(closed, score)
                if score > floor:
                    floor = score
                    path[1] = current
        if opened >= 0:
            values[depth + 1] = values[depth] + (row[opened] - paid[opened])
            used[classes[opened]] = True
            nodes += 1
            depth += 1
            cursor = 0
        else:
            depth -= 1
            if depth >= 0:
                used[classes[current[depth]]] = False
                cursor = current[depth] + 1
    place[0] = depth
    place[1] = cursor
    limits[0] = floor
    limits[1] = closed
    return depth < 0


@jit()
def left_open(graph, beyond, total, state):
    """Return the largest bound of any node that an interrupted search has not visited."""
    start, edges = graph.start, graph.edges
    path, place, values = state.paths, state.place, state.values
    length, n = beyond.shape
    most = -np.inf
    for depth in range(place[0] + 1):
        row = start if depth == 0 else edges[path[0, depth - 1]]
        value = values[depth] + total
        first = place[1] if depth == place[0] else path[0, depth] + 1
        for v in range(first, n):
            most = max(most, value + (row[v] + beyond[length - 1 - depth, v]))
    return most


@jit()
def prove_at_once(arrays, length, floor, nodes):
    """Return an upper bound on all paths, by a search of at most `nodes` nodes without prices."""
    graph = Graph(*arrays)
    free = np.zeros(graph.start.size)
    beyond = most_beyond(graph.reversed_edges, graph.end, free, length)
    state = fresh_proof(graph.class_count, length, floor)
    if prove(graph, beyond, Prices(free, 0.0), nodes, state):
        return state.limits[1]
    return max(state.limits[1], left_open(graph, beyond, 0.0, state))


@jit()
def promising_steps(ends, paid, memory, edges, onward, own, floor, walks, vertices):
    """List the steps whose bound exceeds `floor` and that repeat no remembered class.

    Returns their number, which may exceed the capacity of `walks` and `vertices`, and the
    largest bound of a step that is pruned.
    """
    count = 0
    left_out = -np.inf
    for walk in range(ends.size):
        row = edges[ends[walk]]
        first = memory[walk, 0]
        second = memory[walk, 1]
        for v in range(onward.size):
            bound = paid[walk] + (row[v] + onward[v])
            if bound <= floor:
                left_out = max(left_out, bound)
            elif not (first & own[v, 0] | second & own[v, 1]):
                if count < walks.size:
                    walks[count] = walk
                    vertices[count] = v
                count += 1
    return count, left_out


@jit()
def prove_subsets(graph, before, floor, first, last, table, limits):
    """Extend the best suffixes of paths, one set of classes after another, `first` to `last`.

    `table[T, v]` is the score of the best suffix that begins at v and visits exactly the classes
    T, and `before[l, v]` bounds the score of l vertices before v. The sets must come in ascending
    order. A suffix whose bound does not exceed `floor` is pruned, and `limits[1]` becomes the
    largest bound of a pruned suffix or score of a complete path.
    """
    reversed_edges, end, classes = graph.reversed_edges, graph.end, graph.classes
    length, n = before.shape
    if first == 0:
        first = 1
        for v in range(n):
            table[1 << classes[v], v] = end[v]
    alive = np.empty(n, np.int64)
    out = np.empty(n)
    for members in range(first, last):
        size = 0
        for c in range(graph.class_count):
            size += members >> c & 1
        if size > length:
            continue
        state = table[members]
        ahead = before[length - size]
        count = 0
        for v in range(n):
            if members >> classes[v] & 1:
                bound = ahead[v] + state[v]
                if bound <= floor or size == length:
                    limits[1] = max(limits[1], bound)
                else:
                    alive[count] = v
                    count += 1
        if size == length:
            continue
        out[:] = -np.inf
        for i in range(count):
            value = state[alive[i]]
            row = reversed_edges[alive[i]]
            for v in range(n):
                a = row[v] + value
                out[v] = a if a > out[v] else out[v]
        for v in range(n):
            if not members >> classes[v] & 1:
                table[members | 1 << classes[v], v] = out[v]
