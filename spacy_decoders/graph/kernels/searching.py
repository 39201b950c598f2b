"""Breadth-first search, from many sources at once or from both ends; adjacency; shared groups.

Vertices are the graph's inner numbers. `between` leaves out those below `first`; they come first
in each adjacency list, since lists are sorted.
"""

import numpy as np

from ...jit import jit
from ...simd import first_lane

__all__ = ["add_pairs", "adjacent_pairs", "between", "multi_source"]


@jit()
def first_from(indptr, indices, v, first):
    """Return the position of v's first neighbour that is at least `first`."""
    low, high = indptr[v], indptr[v + 1]
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < first:
            low = middle + 1
        else:
            high = middle
    return low


@jit()
def multi_source(indptr, indices, sources, targets, depth, out):
    """Search breadth first from up to 64 sources at once, one bit each.

    ``out[t, s]`` becomes the distance of target t from source s where that is at most
    `depth`, and keeps its value elsewhere.
    """
    size = len(indptr) - 1
    full = np.uint64(0)
    seen = np.zeros(size, np.uint64)
    frontier = np.zeros(size, np.uint64)
    reached = np.zeros(size, np.uint64)
    members = np.empty(size, np.int32)
    count = 0
    for s in range(len(sources)):
        bit = np.uint64(1) << np.uint64(s)
        full |= bit
        v = sources[s]
        if frontier[v] == 0:
            members[count] = v
            count += 1
        frontier[v] |= bit
        seen[v] |= bit
    for level in range(depth + 1):
        missing = False
        for t in range(len(targets)):
            bits = frontier[targets[t]]
            if bits:
                _record(out[t], bits, level)
            missing = missing or seen[targets[t]] != full
        if count == 0 or level == depth or not missing:
            return
        # bottom-up if the frontier has a large share of all edges, else top-down
        edges = 0
        for i in range(count):
            edges += indptr[members[i] + 1] - indptr[members[i]]
        fresh = 0
        if edges * 8 > len(indices):
            for v in range(size):
                wanted = full & ~seen[v]
                if wanted:
                    bits = np.uint64(0)
                    for e in range(indptr[v], indptr[v + 1]):
                        bits |= frontier[indices[e]]
                        if bits & wanted == wanted:
                            break
                    reached[v] = bits & wanted
            for i in range(count):
                frontier[members[i]] = 0
            for v in range(size):
                if reached[v]:
                    seen[v] |= reached[v]
                    frontier[v] = reached[v]
                    reached[v] = 0
                    members[fresh] = v
                    fresh += 1
        else:
            touched = np.empty(min(edges, size), np.int32)
            n_touched = 0
            for i in range(count):
                v = members[i]
                bits = frontier[v]
                for e in range(indptr[v], indptr[v + 1]):
                    u = indices[e]
                    new = bits & ~seen[u]
                    if new:
                        if reached[u] == 0:
                            touched[n_touched] = u
                            n_touched += 1
                        reached[u] |= new
            for i in range(count):
                frontier[members[i]] = 0
            for i in range(n_touched):
                u = touched[i]
                seen[u] |= reached[u]
                frontier[u] = reached[u]
                reached[u] = 0
                members[fresh] = u
                fresh += 1
        count = fresh


@jit()
def _record(row, bits, level):
    while bits:
        row[first_lane(bits)] = level
        bits &= bits - np.uint64(1)


@jit()
def between(indptr, indices, source, target, first, depth, stamp, marks):
    """Return the distance between two vertices, or depth + 1 if they are farther apart.

    Bidirectional breadth-first search, of the smaller frontier first. `marks` is a workspace with
    an entry for each vertex, none of which is `stamp` or `stamp` + 1 yet.
    """
    size = len(indptr) - 1
    near, far = np.full(1, source, np.int32), np.full(1, target, np.int32)
    marks[source], marks[target] = stamp, stamp + 1
    near_edges = indptr[source + 1] - indptr[source]
    far_edges = indptr[target + 1] - indptr[target]
    for level in range(1, depth + 1):
        if len(near) == 0 or len(far) == 0:
            return depth + 1
        forward = near_edges <= far_edges
        frontier = near if forward else far
        own = stamp if forward else stamp + 1
        following = np.empty(min(size, near_edges, far_edges), np.int32)  # each edge leads to one
        count, edges = 0, 0
        for v in frontier:
            for e in range(first_from(indptr, indices, v, first), indptr[v + 1]):
                u = indices[e]
                if marks[u] == own:
                    continue
                if marks[u] == stamp or marks[u] == stamp + 1:
                    return level
                marks[u] = own
                following[count] = u
                count += 1
                edges += indptr[u + 1] - indptr[u]
        if forward:
            near, near_edges = following[:count], edges
        else:
            far, far_edges = following[:count], edges
    return depth + 1


@jit()
def adjacent_pairs(indptr, indices, vertices, out):
    """Set ``out[i, j]`` where an edge joins two of some distinct vertices.

    Vertices go by descending degree, so the larger number has the shorter list.
    """
    for i in range(vertices.size):
        for j in range(i):
            few, many = vertices[i], vertices[j]
            if few < many:
                few, many = many, few
            stop = indptr[few + 1]
            at = first_from(indptr, indices, few, many)
            if at < stop and indices[at] == many:
                out[i, j] = True
                out[j, i] = True


@jit()
def add_pairs(indptr, members, weights, out):
    """Add the weight of each group to ``out[u, v]`` of all its members u and v."""
    for group in range(weights.size):
        for i in range(indptr[group], indptr[group + 1]):
            for j in range(indptr[group], indptr[group + 1]):
                out[members[i], members[j]] += weights[group]
