"""Hub-free paths of up to three edges, for all pairs of candidates at once.

A shortest path either meets a hub, and then its length is the least sum of two entries of the hub
table, or runs in the graph without hubs. There, the *touched* vertices are those within one edge
of a candidate, and two candidates are at most three edges apart if they share a touched vertex or
two touched ones are adjacent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...jit import jit
from .vertex_numbers import AHEAD, number_of, prefetch, ranked

__all__ = [
    "hub_bounds",
    "near_pairs",
    "short_paths",
    "touched_edges",
    "touched_vertices",
]


class Touched(NamedTuple):
    """The vertices within one edge of a candidate, hubs left out, numbered in their order."""

    # (words,), uint64, and (words + 1,), int32: which vertices they are, as `number_of` takes them
    bits: NDArray[np.uint64]
    before: NDArray[np.int32]
    vertices: NDArray[np.int32]  # (t,), int32
    # (t + 1,), int64, and (touches,), int32: the candidates that touch vertex s are
    # `touching[starts[s]:starts[s + 1]]`
    starts: NDArray[np.int64]
    touching: NDArray[np.int32]


@jit()
def touched_vertices(indptr, indices, candidates, first):
    """Number the vertices from `first` on that are within one edge of a candidate.

    Returns :class:`Touched`.
    """
    bits = np.zeros((len(indptr) >> 6) + 1, np.uint64)
    pairs = 0
    for c in candidates:
        if c < first:
            continue
        pairs += indptr[c + 1] - indptr[c] + 1
        bits[c >> 6] |= np.uint64(1) << np.uint64(c & 63)
        for e in range(indptr[c], indptr[c + 1]):
            x = indices[e]
            if x >= first:
                bits[x >> 6] |= np.uint64(1) << np.uint64(x & 63)
    before, vertices = ranked(bits)
    starts = np.zeros(len(vertices) + 1, np.int64)
    slots = np.empty(pairs, np.int32)
    at = 0
    for c in candidates:
        if c < first:
            continue
        for e in range(indptr[c] - 1, indptr[c + 1]):
            # the candidate itself, then its neighbours
            x = c if e < indptr[c] else indices[e]
            if x >= first:
                slots[at] = number_of(bits, before, x)
                starts[slots[at] + 1] += 1
            else:
                slots[at] = -1
            at += 1
    for s in range(len(vertices)):
        starts[s + 1] += starts[s]
    ends = starts[:-1].copy()
    touching = np.empty(starts[-1], np.int32)
    at = 0
    for i in range(len(candidates)):
        c = candidates[i]
        if c < first:
            continue
        for _ in range(indptr[c] - 1, indptr[c + 1]):
            s = slots[at]
            at += 1
            if s >= 0:
                touching[ends[s]] = i
                ends[s] += 1
    return Touched(bits, before, vertices, starts, touching)


@jit()
def touched_edges(indptr, indices, touched, is_open, first):
    """Return the edges between touched vertices as pairs of their numbers, (edges, 2).

    Only those with an end that an open candidate touches are required.
    """
    bits, before, vertices, starts, touching = touched
    wanted = np.zeros(len(vertices), np.bool_)
    n_wanted = 0
    for s in range(len(vertices)):
        for at in range(starts[s], starts[s + 1]):
            wanted[s] |= is_open[touching[at]]
        n_wanted += wanted[s]
    # all edges of a few vertices; or of all, but each from its end of lower degree: of
    # neighbours with a higher degree there are few
    whole = 8 * n_wanted < len(vertices)
    edges = np.empty((4 * len(vertices) + 16, 2), np.int32)
    count = 0
    least = np.empty(AHEAD, np.int32)
    for s in range(len(vertices)):
        x = vertices[s]
        if whole:
            if not wanted[s]:
                continue
        else:
            if s % AHEAD == 0:
                prefetch(indptr, indices, vertices, s, least)
            if least[s % AHEAD] >= x:
                continue
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if y >= x and not whole:
                break
            if y < first:
                continue
            t = number_of(bits, before, y)
            if t >= 0:
                if count == len(edges):
                    grown = np.empty((2 * count, 2), np.int32)
                    grown[:count] = edges
                    edges = grown
                edges[count, 0] = s
                edges[count, 1] = t
                count += 1
    return edges[:count].copy()


@jit()
def short_paths(touched, edges, two, three):
    """Find which candidates each candidate reaches within two edges, and by three.

    `two` and `three`, uint64 of shape (candidates, words) and all 0, get a bit a candidate.
    """
    starts, touching = touched.starts, touched.touching
    slots = len(starts) - 1
    words = two.shape[1]
    # most vertices are touched by one candidate or two; those of many get words of bits
    dense_of = np.full(slots, -1, np.int32)
    n_dense = 0
    for s in range(slots):
        if starts[s + 1] - starts[s] > words:
            dense_of[s] = n_dense
            n_dense += 1
    dense = np.zeros((n_dense, words), np.uint64)
    for s in range(slots):
        if dense_of[s] >= 0:
            for at in range(starts[s], starts[s + 1]):
                j = touching[at]
                dense[dense_of[s], j >> 6] |= np.uint64(1) << np.uint64(j & 63)
    toucher = np.full(slots, -1, np.int32)  # the one that touches a vertex; -1 if several do
    for s in range(slots):
        if starts[s + 1] - starts[s] == 1:
            # it is the only candidate there
            toucher[s] = touching[starts[s]]
        else:
            _meet(touching, starts, dense_of, dense, s, s, two)
    for e in range(len(edges)):
        for way in range(2):
            s, t = edges[e, way], edges[e, 1 - way]
            i, j = toucher[s], toucher[t]
            if i >= 0 and j >= 0:
                three[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            else:
                _meet(touching, starts, dense_of, dense, s, t, three)


@jit()
def _meet(touching, starts, dense_of, dense, s, t, out):
    """Let all candidates that touch s reach those that touch t."""
    if dense_of[t] >= 0:
        for at in range(starts[s], starts[s + 1]):
            i = touching[at]
            for w in range(out.shape[1]):
                out[i, w] |= dense[dense_of[t], w]
        return
    for to in range(starts[t], starts[t + 1]):
        j = touching[to]
        bit = np.uint64(1) << np.uint64(j & 63)
        for at in range(starts[s], starts[s + 1]):
            out[touching[at], j >> 6] |= bit


@jit()
def near_pairs(candidates, touched, two, three, out):
    """Lower the bounds in `out` to what the short paths say; count those still open.

    An entry above 4 that no short path explains may still have a longer one.
    """
    bits, before, _, starts, touching = touched
    open_pairs = 0
    for i in range(len(candidates)):
        row = out[i]
        for j in range(out.shape[1]):
            if row[j] > 2:
                w, bit = j >> 6, np.uint64(j & 63)
                if two[i, w] >> bit & np.uint64(1):
                    row[j] = 2
                elif row[j] > 3 and three[i, w] >> bit & np.uint64(1):
                    row[j] = 3
        slot = number_of(bits, before, candidates[i])
        if slot >= 0:
            # a candidate that touches another one is at most one edge away
            for at in range(starts[slot], starts[slot + 1]):
                j = touching[at]
                row[j] = min(row[j], np.uint8(i != j))
        for j in range(out.shape[1]):
            open_pairs += row[j] > 4
    return open_pairs


# --- bounds through hubs ------------------------------------------------------------


@jit()
def hub_bounds(rows, out):
    """out[u, v] = least rows[u, h] + rows[v, h] over the hubs h.

    **Shapes:** (a, hubs), (a, a), both uint8; entries of at most 127 keep the sums in range.
    """
    for u in range(len(rows)):
        of_row = rows[u]
        for v in range(u, len(rows)):
            of_column = rows[v]
            least = np.uint8(255)
            for h in range(rows.shape[1]):
                through = np.uint8(of_row[h] + of_column[h])
                least = through if through < least else least
            out[u, v] = least
    for u in range(len(rows)):
        for v in range(u):
            out[u, v] = out[v, u]
