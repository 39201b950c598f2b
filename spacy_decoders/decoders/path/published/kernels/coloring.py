"""Colour-coding: dynamic programming over the sets of colours visited."""

import numpy as np

from .....jit import jit
from ...kernels.walks import best_steps

__all__ = ["best_colorful"]


@jit()
def _trace(edges, colors, values, met, last, path):
    """Write the best path that ends at the vertex `last` and has the set of colours `met`."""
    path[path.size - 1] = last
    for i in range(path.size - 2, -1, -1):
        v = path[i + 1]
        value = values[met, v]
        met ^= 1 << colors[v]
        for j in range(colors.size):
            if met >> colors[j] & 1 and edges[j, v] + values[met, j] == value:
                path[i] = j
                break


@jit()
def best_colorful(graph, colors, members, first_of, begin, stop, values, best, path):
    """Process the colour sets `begin` <= S < `stop`; return whether a better path was found.

    ``values[S, v]`` is the score of the best path to v whose vertices have exactly the colours S,
    all different. An entry has one predecessor set, S without v's colour, so each is written once
    and the table needs no clearing; it is already filled for the sets before `begin`.

    **Shape**: colors (n,), that of each vertex; members (n,) and first_of (colours + 1,): the
    vertices of colour c are ``members[first_of[c]:first_of[c + 1]]``; values (2 ** colours, n);
    best (1,), the score to exceed, updated; path int32 (length,), written if one is found.
    """
    start, edges, end = graph.start, graph.edges, graph.end
    n, length = start.size, path.size
    if begin == 0:
        for v in range(n):
            values[1 << colors[v], v] = start[v]
    kept_values = np.empty(n)
    kept = np.empty(n, np.int64)
    out = np.empty(n)
    best_set = best_vertex = -1
    for met in range(max(begin, 1), stop):
        size = 0
        bits = met
        while bits:
            bits &= bits - 1
            size += 1
        if size > length:
            continue
        reached = values[met]
        count = 0
        for c in range(first_of.size - 1):
            if met >> c & 1:
                for i in range(first_of[c], first_of[c + 1]):
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
                    best_set, best_vertex = met, kept[i]
            continue
        best_steps(kept_values, kept, count, edges, out)
        for c in range(first_of.size - 1):
            if not met >> c & 1:
                target = values[met | 1 << c]
                for i in range(first_of[c], first_of[c + 1]):
                    target[members[i]] = out[members[i]]
    if best_vertex < 0:
        return False
    _trace(edges, colors, values, best_set, best_vertex, path)
    return True
