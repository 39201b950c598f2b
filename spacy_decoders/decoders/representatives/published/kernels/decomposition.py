"""Cutting a graph at its useful bridges, and the spanning tree of its quotient."""

from __future__ import annotations

import numpy as np

from .....jit import jit

__all__ = ["cut", "distances_within", "quotient_tree"]


@jit()
def cut(indptr, indices, set_of, representatives):
    """Find the useful bridges, and the parts of the graph without them.

    A bridge is useful if its ends are not of one set, and sets lie on both sides of it.

    Parameters
    ----------
    set_of
        The set of each vertex, or -1.
    representatives
        One vertex of each set.

    Returns
    -------
    parent, below, is_cut, part
        For each vertex its parent in a depth-first forest (-1: none), the number of sets
        at or below it, whether its edge to the parent is a useful bridge, and which part
        it is in (the first vertex of it).
    beside
        For each vertex the number of sets in its connected component.
    """
    size = len(indptr) - 1
    parent = np.full(size, -1, np.int32)
    number = np.full(size, -1, np.int32)
    lowest = np.empty(size, np.int32)
    preorder = np.empty(size, np.int32)
    at = indptr[:-1].copy()
    below = np.zeros(size, np.int32)
    beside = np.zeros(size, np.int32)
    for v in representatives:
        below[v] += 1
    count = 0
    for root in range(size):
        if number[root] >= 0:
            continue
        begin = count
        number[root] = lowest[root] = count
        preorder[count] = root
        count += 1
        v = root
        while v >= 0:
            if at[v] < indptr[v + 1]:
                u = indices[at[v]]
                at[v] += 1
                if number[u] < 0:
                    parent[u] = v
                    number[u] = lowest[u] = count
                    preorder[count] = u
                    count += 1
                    v = u
                elif u != parent[v]:
                    lowest[v] = min(lowest[v], number[u])
            else:
                p = parent[v]
                if p >= 0:
                    lowest[p] = min(lowest[p], lowest[v])
                    below[p] += below[v]
                v = p
        for i in range(begin, count):
            beside[preorder[i]] = below[root]
    is_cut = np.zeros(size, np.bool_)
    part = np.empty(size, np.int32)
    for i in range(size):
        v = preorder[i]
        p = parent[v]
        if p < 0:
            part[v] = v
            continue
        bridge = lowest[v] == number[v]
        inside = set_of[v] >= 0 and set_of[v] == set_of[p]
        is_cut[v] = bridge and not inside and 0 < below[v] < beside[v]
        part[v] = v if is_cut[v] else part[p]
    return parent, below, is_cut, part, beside


@jit()
def distances_within(indptr, indices, parent, is_cut, source, wanted, queue, distances):
    """Return the distances from `source` to `wanted`, without crossing a cut edge.

    `distances` is a workspace of one int32 a vertex, all -1, and is left so.
    """
    out = np.full(len(wanted), -1, np.int32)
    distances[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            crosses = (parent[u] == v and is_cut[u]) or (parent[v] == u and is_cut[v])
            if distances[u] < 0 and not crosses:
                distances[u] = distances[v] + 1
                queue[tail] = u
                tail += 1
    for i in range(len(wanted)):
        out[i] = distances[wanted[i]]
    for i in range(tail):
        distances[queue[i]] = -1
    return out


@jit()
def quotient_tree(indptr, indices, class_of, starts, members, sizes, begin):
    """Build a breadth-first tree of the graph in which each class is one vertex.

    Parameters
    ----------
    class_of
        The class of each vertex, or -1 if it stands alone.
    starts, members
        The vertices of class c are ``members[starts[c]:starts[c + 1]]``.
    sizes
        The number of sets in each class.
    begin
        Classes, in the order in which trees are begun.

    Returns
    -------
    outer, inner
        For each class the tree edge to its parent, from vertex `outer` into its own
        vertex `inner`; -1 at the root of a tree.
    below, beside
        For each class the number of sets in its subtree, and in its tree.
    links
        One row (class, its vertex, sets beyond) for each tree edge that leads away from
        the root, if any sets are beyond.
    """
    size = len(indptr) - 1
    n_classes = len(sizes)
    come_from = np.full(size, -1, np.int32)  # the vertex before, in the tree
    seen = np.zeros(size, np.bool_)
    outer = np.full(n_classes, -1, np.int32)
    inner = np.full(n_classes, -1, np.int32)
    queue = np.empty(size, np.int32)
    weight = np.zeros(size, np.int64)  # sets at or below: of a class, at its first vertex
    below = np.zeros(n_classes, np.int64)
    beside = np.zeros(n_classes, np.int64)
    links = np.empty((2 * n_classes + 16, 3), np.int64)
    n_links = 0
    for root in begin:
        if seen[members[starts[root]]]:
            continue
        tail = 0
        for i in range(starts[root], starts[root + 1]):
            seen[members[i]] = True
            queue[tail] = members[i]
            tail += 1
        head = 0
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if seen[u]:
                    continue
                c = class_of[u]
                if c < 0:
                    seen[u] = True
                    come_from[u] = v
                    queue[tail] = u
                    tail += 1
                    continue
                outer[c] = v
                inner[c] = u
                for i in range(starts[c], starts[c + 1]):
                    seen[members[i]] = True
                    queue[tail] = members[i]
                    tail += 1
        # upwards: the last visited first; a class hands on at its first vertex
        for at in range(tail - 1, -1, -1):
            v = queue[at]
            c = class_of[v]
            if c < 0:
                up, amount = come_from[v], weight[v]
            else:
                if v != members[starts[c]]:
                    continue
                below[c] += sizes[c]
                up, amount = outer[c], below[c]
            if up < 0 or amount == 0:
                continue
            above = class_of[up]
            if above < 0:
                weight[up] += amount
            else:
                below[above] += amount
                if n_links == len(links):
                    grown = np.empty((2 * n_links, 3), np.int64)
                    grown[:n_links] = links
                    links = grown
                links[n_links, 0] = above
                links[n_links, 1] = up
                links[n_links, 2] = amount
                n_links += 1
        for at in range(tail):
            c = class_of[queue[at]]
            if c >= 0:
                beside[c] = below[root]
    return outer, inner, below, beside, links[:n_links].copy()
