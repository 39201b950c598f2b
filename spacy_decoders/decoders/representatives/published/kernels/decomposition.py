"""The parts of a graph without its bridges, and the spanning tree of its quotient."""

from __future__ import annotations

import numpy as np

from .....jit import jit

__all__ = ["parts_without_bridges", "quotient_tree"]


@jit()
def parts_without_bridges(indptr, indices, set_of):
    """Return which part of the graph each vertex is in once its bridges are cut.

    A part is called by one of its vertices. Bridges between two vertices of one set stay.

    Parameters
    ----------
    set_of
        The set of each vertex, or -1.
    """
    size = len(indptr) - 1
    parent = np.full(size, -1, np.int32)
    number = np.full(size, -1, np.int32)
    lowest = np.empty(size, np.int32)
    preorder = np.empty(size, np.int32)
    at = indptr[:-1].copy()
    count = 0
    for root in range(size):
        v = root if number[root] < 0 else -1
        while v >= 0:
            if number[v] < 0:
                number[v] = lowest[v] = count
                preorder[count] = v
                count += 1
            if at[v] < indptr[v + 1]:
                u = indices[at[v]]
                at[v] += 1
                if number[u] < 0:
                    parent[u] = v
                    v = u
                elif u != parent[v]:
                    lowest[v] = min(lowest[v], number[u])
            else:
                p = parent[v]
                if p >= 0:
                    lowest[p] = min(lowest[p], lowest[v])
                v = p
    part = np.empty(size, np.int32)
    for i in range(size):
        v = preorder[i]
        p = parent[v]
        # a bridge: no edge leads from beneath v to above it
        bridge = p < 0 or lowest[v] == number[v]
        inside = p >= 0 and set_of[v] >= 0 and set_of[v] == set_of[p]
        part[v] = v if bridge and not inside else part[p]
    return part


@jit()
def _enter(c, starts, members, seen, left_at, queue, tail):
    """Put all vertices of a class in the queue; return its new end."""
    for i in range(starts[c], starts[c + 1]):
        v = members[i]
        seen[v] = True
        left_at[v] = v
        queue[tail] = v
        tail += 1
    return tail


@jit()
def quotient_tree(indptr, indices, class_of, starts, members, begin):
    """Build a breadth-first tree of the graph in which each class is one vertex.

    Parameters
    ----------
    class_of
        The class of each vertex, or -1 if it stands alone.
    starts, members
        The vertices of class c are ``members[starts[c]:starts[c + 1]]``.
    begin
        Classes, in the order in which trees are begun.

    Returns
    -------
    outer, inner
        For each class the vertex over which the tree's path to it leaves the last class before,
        and the one by which it enters; -1 at the root of a tree.
    order
        The classes in the order of visits.
    """
    size = len(indptr) - 1
    n_classes = len(starts) - 1
    left_at = np.full(size, -1, np.int32)  # where the path to a vertex has left a class
    seen = np.zeros(size, np.bool_)
    outer = np.full(n_classes, -1, np.int32)
    inner = np.full(n_classes, -1, np.int32)
    order = np.empty(n_classes, np.int32)
    queue = np.empty(size, np.int32)
    count = 0
    for root in begin:
        if seen[members[starts[root]]]:
            continue
        order[count] = root
        count += 1
        head, tail = 0, _enter(root, starts, members, seen, left_at, queue, 0)
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
                    left_at[u] = left_at[v]
                    queue[tail] = u
                    tail += 1
                else:
                    outer[c] = left_at[v]
                    inner[c] = u
                    order[count] = c
                    count += 1
                    tail = _enter(c, starts, members, seen, left_at, queue, tail)
    return outer, inner, order[:count]
