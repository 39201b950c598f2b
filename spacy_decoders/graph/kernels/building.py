"""From an edge list to sorted, degree-ordered adjacency lists, by counting sorts."""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = ["components", "deduplicated", "merged", "ordered", "symmetrised"]


@jit()
def symmetrised(edges, size):
    """Return indptr and indices of all edges both ways; loops are dropped.

    **Shapes:** edges (m, 2) integer; returns int64 (size + 1,), int32 (up to 2m,).
    """
    indptr = np.zeros(size + 1, np.int64)
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        if u != v:
            indptr[u + 1] += 1
            indptr[v + 1] += 1
    for v in range(size):
        indptr[v + 1] += indptr[v]
    at = indptr[:-1].copy()
    indices = np.empty(indptr[size], np.int32)
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        if u != v:
            indices[at[u]] = v
            at[u] += 1
            indices[at[v]] = u
            at[v] += 1
    return indptr, indices


@jit()
def deduplicated(indptr, indices):
    """Transpose a symmetric list, which sorts it, and skip repeats.

    Returns the indices, with gaps, and the degrees: the neighbours of v are
    ``indices[indptr[v]:indptr[v] + degrees[v]]``.
    """
    size = len(indptr) - 1
    out = np.empty(len(indices), np.int32)
    degrees = np.zeros(size, np.int32)
    for v in range(size):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            to = indptr[u] + degrees[u]
            # v ascends, so a repeat can only be the last entry
            if degrees[u] == 0 or out[to - 1] != v:
                out[to] = v
                degrees[u] += 1
    return out, degrees


@jit()
def components(indptr, indices, degrees):
    """Return the component of each vertex, numbered in order of their first vertices."""
    size = len(indptr) - 1
    component = np.full(size, -1, np.int32)
    queue = np.empty(size, np.int32)
    count = 0
    for first in range(size):
        if component[first] >= 0:
            continue
        component[first] = count
        queue[0] = first
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v] + degrees[v]):
                u = indices[e]
                if component[u] < 0:
                    component[u] = count
                    queue[tail] = u
                    tail += 1
        count += 1
    return component


@jit()
def ordered(indptr, indices, degrees, order):
    """Renumber the vertices by `order`; every list is sorted in the result.

    `order` may leave vertices out, but only whole components.
    """
    size = len(order)
    rank = np.full(len(indptr) - 1, -1, np.int32)
    new_indptr = np.zeros(size + 1, np.int64)
    for v in range(size):
        rank[order[v]] = v
        new_indptr[v + 1] = new_indptr[v] + degrees[order[v]]
    at = new_indptr[:-1].copy()
    out = np.empty(new_indptr[size], np.int32)
    for v in range(size):
        old = order[v]
        for e in range(indptr[old], indptr[old] + degrees[old]):
            u = rank[indices[e]]
            out[at[u]] = v
            at[u] += 1
    return new_indptr, out


@jit()
def merged(indptr, indices, more_indptr, more_indices, number, back):
    """Append the lists of a second graph to those of a first; repeats are kept.

    Vertex v of the first is ``number[v]`` in the second, and `back` turns that around.
    """
    size = len(indptr) - 1
    out_indptr = np.zeros(size + 1, np.int64)
    for v in range(size):
        w = number[v]
        more = more_indptr[w + 1] - more_indptr[w]
        out_indptr[v + 1] = out_indptr[v] + indptr[v + 1] - indptr[v] + more
    out = np.empty(out_indptr[size], np.int32)
    for v in range(size):
        at = out_indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            out[at] = indices[e]
            at += 1
        w = number[v]
        for e in range(more_indptr[w], more_indptr[w + 1]):
            out[at] = back[more_indices[e]]
            at += 1
    return out_indptr, out
