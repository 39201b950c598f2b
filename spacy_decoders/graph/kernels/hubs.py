"""Distances by hubs, and what they miss.

A shortest path either meets a hub, and then its length is the least sum of two entries of
the hub table, or runs in the graph without hubs. There, paths of up to three edges are found
for all pairs at once: `touched` vertices are those within one edge of a candidate, and two
candidates are at most three apart if they share a touched vertex or two touched ones are
adjacent. Paths of four edges are looked for from those candidates alone that may have some.
"""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = [
    "four_edges",
    "hub_bounds",
    "near_pairs",
    "short_paths",
    "touched_edges",
    "touched_vertices",
]


@jit()
def hub_bounds(rows, columns, out):
    """out[u, v] = least rows[u, h] + columns[v, h] over the hubs h.

    **Shapes:** (a, hubs), (b, hubs), (a, b), all uint8; entries of at most 127 keep the
    sums in range.
    """
    hubs = rows.shape[1]
    for u in range(len(rows)):
        of_row = rows[u]
        for v in range(len(columns)):
            of_column = columns[v]
            least = np.uint8(255)
            for h in range(hubs):
                through = np.uint8(of_row[h] + of_column[h])
                least = through if through < least else least
            out[u, v] = least


@jit()
def touched_vertices(indptr, indices, candidates, first, slot_of):
    """Number the vertices from `first` on that are within one edge of a candidate.

    `slot_of` (one int32 a vertex, all -1) gets the numbers. Returns the touched vertices,
    and for each of them which candidates touch it, as flat lists.
    """
    total = 0
    for c in candidates:
        total += indptr[c + 1] - indptr[c] + 1
    vertices = np.empty(total, np.int32)
    counts = np.zeros(total + 1, np.int64)
    n_slots = 0
    for step in range(2):
        if step == 1:
            starts = np.zeros(n_slots + 1, np.int64)
            for s in range(n_slots):
                starts[s + 1] = starts[s] + counts[s]
            at = starts[:-1].copy()
            touching = np.empty(starts[n_slots], np.int32)
        for i in range(len(candidates)):
            c = candidates[i]
            if c < first:
                continue
            for e in range(indptr[c] - 1, indptr[c + 1]):
                # the candidate itself, then its neighbours
                x = c if e < indptr[c] else indices[e]
                if x < first:
                    continue
                if step == 0:
                    if slot_of[x] < 0:
                        slot_of[x] = n_slots
                        vertices[n_slots] = x
                        n_slots += 1
                    counts[slot_of[x]] += 1
                else:
                    touching[at[slot_of[x]]] = i
                    at[slot_of[x]] += 1
    return vertices[:n_slots].copy(), starts, touching


@jit()
def touched_edges(indptr, indices, vertices, starts, touching, is_open, first, slot_of):
    """Return the edges between touched vertices as pairs of their numbers, (edges, 2).

    Only those that an open candidate touches at one end at least need be there.
    """
    size = len(indptr) - 1
    # a bit a vertex stays in the cache where a number a vertex would not
    bits = np.zeros((size >> 6) + 1, np.uint64)
    wanted = np.zeros(len(vertices), np.bool_)
    of_all, of_wanted = 0, 0
    for s in range(len(vertices)):
        x = vertices[s]
        bits[x >> 6] |= np.uint64(1) << np.uint64(x & 63)
        for at in range(starts[s], starts[s + 1]):
            wanted[s] |= is_open[touching[at]]
        of_all += indptr[x + 1] - indptr[x]
        if wanted[s]:
            of_wanted += indptr[x + 1] - indptr[x]
    # all edges of a few vertices; or of all, but each from its end of lower degree: of
    # neighbours with a higher degree there are few
    whole = 8 * of_wanted < of_all
    edges = np.empty((4 * len(vertices) + 16, 2), np.int32)
    count = 0
    for s in range(len(vertices)):
        if whole and not wanted[s]:
            continue
        x = vertices[s]
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if y >= x and not whole:
                break
            if y < first:
                continue
            if bits[y >> 6] >> np.uint64(y & 63) & np.uint64(1):
                if count == len(edges):
                    grown = np.empty((2 * count, 2), np.int32)
                    grown[:count] = edges
                    edges = grown
                edges[count, 0] = s
                edges[count, 1] = slot_of[y]
                count += 1
    return edges[:count].copy()


@jit()
def short_paths(touching, starts, edges, column_starts, column_of, begin, words, two, three):
    """Find which columns each candidate reaches within two and three edges.

    Candidate i stands in the columns ``column_of[column_starts[i]:column_starts[i + 1]]``;
    those from `begin` on are looked at, 64 to a word. `two` and `three`, uint64 of shape
    (candidates, words), get the bits.
    """
    slots = len(starts) - 1
    within_one = np.zeros((slots, words), np.uint64)
    for s in range(slots):
        for at in range(starts[s], starts[s + 1]):
            i = touching[at]
            for to in range(column_starts[i], column_starts[i + 1]):
                column = column_of[to] - begin
                if 0 <= column < 64 * words:
                    within_one[s, column >> 6] |= np.uint64(1) << np.uint64(column & 63)
    within_two = within_one.copy()
    for e in range(len(edges)):
        s, t = edges[e, 0], edges[e, 1]
        for w in range(words):
            within_two[s, w] |= within_one[t, w]
            within_two[t, w] |= within_one[s, w]
    two[:] = 0
    three[:] = 0
    for s in range(slots):
        for at in range(starts[s], starts[s + 1]):
            i = touching[at]
            for w in range(words):
                two[i, w] |= within_one[s, w]
                three[i, w] |= within_two[s, w]


@jit()
def near_pairs(
    candidates, slot_of, touching, starts, column_starts, column_of, two, three, begin, out
):
    """Lower the bounds in `out` to what the short paths say; count those still open.

    An entry above 4 that no short path explains may still have a longer one.
    """
    words = two.shape[1]
    end = min(begin + 64 * words, out.shape[1])
    open_pairs = 0
    for i in range(len(candidates)):
        row = out[i]
        for column in range(begin, end):
            if row[column] > 2:
                at = column - begin
                w, bit = at >> 6, np.uint64(at & 63)
                if two[i, w] >> bit & np.uint64(1):
                    row[column] = 2
                elif row[column] > 3 and three[i, w] >> bit & np.uint64(1):
                    row[column] = 3
                open_pairs += row[column] > 4
        slot = slot_of[candidates[i]]
        if slot >= 0:
            # who touches the candidate itself is at most one edge away
            for at in range(starts[slot], starts[slot + 1]):
                other = touching[at]
                near = 0 if candidates[other] == candidates[i] else 1
                for to in range(column_starts[other], column_starts[other + 1]):
                    column = column_of[to]
                    if begin <= column < end and row[column] > near:
                        row[column] = near
    return open_pairs


@jit()
def four_edges(
    indptr, indices, candidates, sources, first, vertices, slot_of, starts, touching, ball_of
):
    """Find which candidates are within four edges of a few of them, the sources.

    `sources` are positions in `candidates`; `ball_of` is a workspace of one int32 a
    vertex, all -1. Returns uint64 of shape (candidates, words), a bit a source.
    """
    words = (len(sources) + 63) >> 6
    slots = len(vertices)
    one = np.zeros((slots, words), np.uint64)
    is_one = np.zeros(slots, np.bool_)
    room = 0
    for a in range(len(sources)):
        c = candidates[sources[a]]
        if c < first:
            continue
        for e in range(indptr[c] - 1, indptr[c + 1]):
            x = c if e < indptr[c] else indices[e]
            if x < first:
                continue
            s = slot_of[x]
            if not is_one[s]:
                is_one[s] = True
                room += indptr[x + 1] - indptr[x] + 1
            one[s, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
    # everything within two edges of a source
    ball = np.empty(min(room, len(indptr) - 1), np.int32)
    two = np.zeros((len(ball), words), np.uint64)
    n_ball = 0
    for s in range(slots):
        if not is_one[s]:
            continue
        x = vertices[s]
        for e in range(indptr[x] - 1, indptr[x + 1]):
            z = x if e < indptr[x] else indices[e]
            if z < first:
                continue
            b = ball_of[z]
            if b < 0:
                b = n_ball
                ball_of[z] = b
                ball[b] = z
                n_ball += 1
            for w in range(words):
                two[b, w] |= one[s, w]
    # a bit a vertex stays in the cache where a number a vertex would not
    in_ball = np.zeros((len(indptr) >> 6) + 1, np.uint64)
    for b in range(n_ball):
        in_ball[ball[b] >> 6] |= np.uint64(1) << np.uint64(ball[b] & 63)
    is_touched = np.zeros((len(indptr) >> 6) + 1, np.uint64)
    for x in vertices:
        is_touched[x >> 6] |= np.uint64(1) << np.uint64(x & 63)
    # the touched vertices one edge further, each edge from its end of lower degree
    three = np.zeros((slots, words), np.uint64)
    for s in range(slots):
        x = vertices[s]
        if ball_of[x] >= 0:
            for w in range(words):
                three[s, w] |= two[ball_of[x], w]
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if z >= x:
                break
            # hubs are in no ball
            b = ball_of[z] if in_ball[z >> 6] >> np.uint64(z & 63) & np.uint64(1) else -1
            if b >= 0:
                for w in range(words):
                    three[s, w] |= two[b, w]
    for b in range(n_ball):
        z = ball[b]
        for e in range(indptr[z], indptr[z + 1]):
            x = indices[e]
            if x >= z:
                break
            s = slot_of[x] if is_touched[x >> 6] >> np.uint64(x & 63) & np.uint64(1) else -1
            if s >= 0:
                for w in range(words):
                    three[s, w] |= two[b, w]
    four = np.zeros((len(candidates), words), np.uint64)
    for s in range(slots):
        for at in range(starts[s], starts[s + 1]):
            for w in range(words):
                four[touching[at], w] |= three[s, w]
    return four
