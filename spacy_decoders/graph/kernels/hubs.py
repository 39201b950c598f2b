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
    "far_pairs",
    "four_at_most",
    "four_edges",
    "hub_bounds",
    "made_symmetric",
    "near_pairs",
    "short_paths",
    "touched_edges",
    "touched_vertices",
    "widened",
]

#: Lists of neighbours that are fetched together.
AHEAD = 64


@jit()
def hub_bounds(rows, columns, symmetric, out):
    """out[u, v] = least rows[u, h] + columns[v, h] over the hubs h.

    **Shapes:** (a, hubs), (b, hubs), (a, b), all uint8; entries of at most 127 keep the
    sums in range. If `symmetric`, rows and columns are the same.
    """
    hubs = rows.shape[1]
    for u in range(len(rows)):
        of_row = rows[u]
        for v in range(u if symmetric else 0, len(columns)):
            of_column = columns[v]
            least = np.uint8(255)
            for h in range(hubs):
                through = np.uint8(of_row[h] + of_column[h])
                least = through if through < least else least
            out[u, v] = least
    if symmetric:
        for u in range(len(rows)):
            for v in range(u):
                out[u, v] = out[v, u]


# --- numbering some vertices ----------------------------------------------------
#
# A bit a vertex, and how many bits are set before each word: this stays in the cache, where
# a table of all vertices would not.


@jit()
def _ranked(bits):
    """Return how many bits are set before each word, and the numbers of all set bits."""
    before = np.empty(len(bits) + 1, np.int32)
    count = 0
    for w in range(len(bits)):
        before[w] = count
        count += _bit_count(bits[w])
    before[len(bits)] = count
    members = np.empty(count, np.int32)
    at = 0
    for w in range(len(bits)):
        left = bits[w]
        while left:
            rest = left & (left - np.uint64(1))
            members[at] = 64 * w + _bit_count((left ^ rest) - np.uint64(1))
            at += 1
            left = rest
    return before, members


@jit()
def _bit_count(word):
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit()
def _number(bits, before, v):
    """Return the number of vertex v, or -1 if it has none."""
    word = bits[v >> 6]
    bit = np.uint64(1) << np.uint64(v & 63)
    if word & bit:
        return before[v >> 6] + _bit_count(word & (bit - np.uint64(1)))
    return np.int64(-1)


@jit()
def _fetch(indptr, indices, vertices, first, least):
    """Write the least neighbours of the next vertices, or the largest int32 for none.

    They lie far apart: asked for together, the memory brings many of them at a time, where
    list after list would be waited for.
    """
    for i in range(min(len(least), len(vertices) - first)):
        x = vertices[first + i]
        begin = indptr[x]
        least[i] = indices[begin] if begin < indptr[x + 1] else np.int32(2**31 - 1)


# --- paths without hubs -----------------------------------------------------------


@jit()
def touched_vertices(indptr, indices, candidates, first):
    """Number the vertices from `first` on that are within one edge of a candidate.

    Returns their bits and counts, as `_number` takes them, the vertices, and which
    candidates touch each, as flat lists.
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
    before, vertices = _ranked(bits)
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
                slots[at] = _number(bits, before, x)
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
    return bits, before, vertices, starts, touching


@jit()
def touched_edges(indptr, indices, bits, before, vertices, starts, touching, is_open, first):
    """Return the edges between touched vertices as pairs of their numbers, (edges, 2).

    Only those that an open candidate touches at one end at least need be there.
    """
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
                _fetch(indptr, indices, vertices, s, least)
            if least[s % AHEAD] >= x:
                continue
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if y >= x and not whole:
                break
            if y < first:
                continue
            t = _number(bits, before, y)
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
def short_paths(touching, starts, edges, column_starts, column_of, two, three):
    """Find which columns each candidate reaches within two edges, and by three.

    Candidate i stands in the columns ``column_of[column_starts[i]:column_starts[i + 1]]``.
    `two` and `three`, uint64 of shape (candidates, words) and all 0, get a bit a column.
    """
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
                for c in range(column_starts[j], column_starts[j + 1]):
                    bit = np.uint64(1) << np.uint64(column_of[c] & 63)
                    dense[dense_of[s], column_of[c] >> 6] |= bit
    # the one candidate that touches a vertex, and its one column; -1 if there are several
    toucher = np.full(slots, -1, np.int32)
    column = np.full(slots, -1, np.int32)
    for s in range(slots):
        if starts[s + 1] - starts[s] == 1:
            # alone it meets but itself
            toucher[s] = i = touching[starts[s]]
            if column_starts[i + 1] - column_starts[i] == 1:
                column[s] = column_of[column_starts[i]]
        else:
            _meet(touching, starts, column_starts, column_of, dense_of, dense, s, s, two)
    for e in range(len(edges)):
        for way in range(2):
            s, t = edges[e, way], edges[e, 1 - way]
            i, c = toucher[s], column[t]
            if i >= 0 and c >= 0:
                three[i, c >> 6] |= np.uint64(1) << np.uint64(c & 63)
            else:
                _meet(touching, starts, column_starts, column_of, dense_of, dense, s, t, three)


@jit()
def _meet(touching, starts, column_starts, column_of, dense_of, dense, s, t, out):
    """Let all candidates that touch s reach the columns of those that touch t."""
    if dense_of[t] >= 0:
        for at in range(starts[s], starts[s + 1]):
            i = touching[at]
            for w in range(out.shape[1]):
                out[i, w] |= dense[dense_of[t], w]
        return
    for to in range(starts[t], starts[t + 1]):
        j = touching[to]
        for c in range(column_starts[j], column_starts[j + 1]):
            w = column_of[c] >> 6
            bit = np.uint64(1) << np.uint64(column_of[c] & 63)
            for at in range(starts[s], starts[s + 1]):
                out[touching[at], w] |= bit


@jit()
def near_pairs(
    candidates, bits, before, touching, starts, column_starts, column_of, two, three, out
):
    """Lower the bounds in `out` to what the short paths say; count those still open.

    An entry above 4 that no short path explains may still have a longer one.
    """
    open_pairs = 0
    for i in range(len(candidates)):
        row = out[i]
        for column in range(out.shape[1]):
            if row[column] > 2:
                w, bit = column >> 6, np.uint64(column & 63)
                if two[i, w] >> bit & np.uint64(1):
                    row[column] = 2
                elif row[column] > 3 and three[i, w] >> bit & np.uint64(1):
                    row[column] = 3
        slot = _number(bits, before, candidates[i])
        if slot >= 0:
            # who touches the candidate itself is at most one edge away
            for at in range(starts[slot], starts[slot + 1]):
                other = touching[at]
                near = 0 if candidates[other] == candidates[i] else 1
                for to in range(column_starts[other], column_starts[other + 1]):
                    column = column_of[to]
                    if row[column] > near:
                        row[column] = near
        for column in range(out.shape[1]):
            open_pairs += row[column] > 4
    return open_pairs


@jit()
def far_pairs(bounds, beyond, below, symmetric):
    """Return the rows and columns of all entries between two limits, exclusively.

    If `symmetric`, of each pair the one above the diagonal.
    """
    count = 0
    for step in range(2):
        if step == 1:
            rows = np.empty(count, np.int64)
            columns = np.empty(count, np.int64)
            count = 0
        for u in range(bounds.shape[0]):
            for v in range(u + 1 if symmetric else 0, bounds.shape[1]):
                if beyond < bounds[u, v] < below:
                    if step == 1:
                        rows[count] = u
                        columns[count] = v
                    count += 1
    return rows, columns


@jit()
def four_edges(
    indptr, indices, candidates, sources, first, bits, before, vertices, starts, touching
):
    """Find which candidates are within four edges of a few of them, the sources.

    `sources` are positions in `candidates`. Returns uint64 of shape (candidates, words),
    a bit a source.
    """
    words = (len(sources) + 63) >> 6
    slots = len(vertices)
    one = np.zeros((slots, words), np.uint64)
    is_one = np.zeros(slots, np.bool_)
    in_ball = np.zeros(len(bits), np.uint64)  # everything within two edges of a source
    for a in range(len(sources)):
        c = candidates[sources[a]]
        if c < first:
            continue
        for e in range(indptr[c] - 1, indptr[c + 1]):
            x = c if e < indptr[c] else indices[e]
            if x < first:
                continue
            s = _number(bits, before, x)
            one[s, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
            if is_one[s]:
                continue
            is_one[s] = True
            in_ball[x >> 6] |= np.uint64(1) << np.uint64(x & 63)
            for f in range(indptr[x], indptr[x + 1]):
                z = indices[f]
                if z >= first:
                    in_ball[z >> 6] |= np.uint64(1) << np.uint64(z & 63)
    ball_before, ball = _ranked(in_ball)
    two = np.zeros((len(ball), words), np.uint64)
    for s in range(slots):
        if not is_one[s]:
            continue
        x = vertices[s]
        for e in range(indptr[x] - 1, indptr[x + 1]):
            z = x if e < indptr[x] else indices[e]
            if z >= first:
                b = _number(in_ball, ball_before, z)
                for w in range(words):
                    two[b, w] |= one[s, w]
    # the touched vertices one edge further, each edge from its end of lower degree
    three = np.zeros((slots, words), np.uint64)
    least = np.empty(AHEAD, np.int32)
    for s in range(slots):
        if s % AHEAD == 0:
            _fetch(indptr, indices, vertices, s, least)
        x = vertices[s]
        for e in range(indptr[x] - 1, indptr[x + 1]):
            z = x if e < indptr[x] else indices[e]
            if z > x:
                break
            b = _number(in_ball, ball_before, z)
            if b >= 0:
                for w in range(words):
                    three[s, w] |= two[b, w]
    for b in range(len(ball)):
        if b % AHEAD == 0:
            _fetch(indptr, indices, ball, b, least)
        z = ball[b]
        if least[b % AHEAD] >= z:
            continue
        for e in range(indptr[z], indptr[z + 1]):
            x = indices[e]
            if x >= z:
                break
            s = _number(bits, before, x)
            if s >= 0:
                for w in range(words):
                    three[s, w] |= two[b, w]
    four = np.zeros((len(candidates), words), np.uint64)
    for s in range(slots):
        for at in range(starts[s], starts[s + 1]):
            for w in range(words):
                four[touching[at], w] |= three[s, w]
    return four


@jit()
def four_at_most(four, sources, column_starts, column_of, out):
    """Lower the bounds in `out` of the sources to the paths of four edges that were found."""
    for a in range(len(sources)):
        row = out[sources[a]]
        w, bit = a >> 6, np.uint64(a & 63)
        for j in range(len(four)):
            if four[j, w] >> bit & np.uint64(1):
                for at in range(column_starts[j], column_starts[j + 1]):
                    row[column_of[at]] = min(row[column_of[at]], 4)


@jit()
def made_symmetric(values):
    """Lower each of two opposite entries to the lesser, in place."""
    side = 64  # squares of this side stay in the cache
    size = len(values)
    for top in range(0, size, side):
        for left in range(top, size, side):
            for u in range(top, min(top + side, size)):
                for v in range(max(left, u + 1), min(left + side, size)):
                    least = min(values[u, v], values[v, u])
                    values[u, v] = least
                    values[v, u] = least


@jit()
def widened(values, rows, columns, limit):
    """Return the entries at some rows and columns as int32, those from `limit` on as -1."""
    out = np.empty((len(rows), len(columns)), np.int32)
    for u in range(len(rows)):
        row = values[rows[u]]
        for v in range(len(columns)):
            value = row[columns[v]]
            out[u, v] = value if value < limit else -1
    return out
