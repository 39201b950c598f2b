"""Hub-free paths of four edges, from those candidates only that may have some.

Searching the graph from them instead takes 19 seconds where this takes 0.05: 1,152 candidates
among 3.7 million vertices.
"""

from __future__ import annotations

import numpy as np

from ...jit import jit
from .vertex_numbers import AHEAD, number_of, prefetch, ranked

__all__ = ["four_at_most", "four_edges"]


@jit()
def four_edges(indptr, indices, candidates, sources, first, touched):
    """Find which candidates are within four edges of a few of them, the sources.

    `sources` are positions in `candidates`. Returns uint64 of shape (candidates, words),
    a bit a source.
    """
    bits, before, vertices, starts, touching = touched
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
            s = number_of(bits, before, x)
            one[s, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
            if is_one[s]:
                continue
            is_one[s] = True
            in_ball[x >> 6] |= np.uint64(1) << np.uint64(x & 63)
            for f in range(indptr[x], indptr[x + 1]):
                z = indices[f]
                if z >= first:
                    in_ball[z >> 6] |= np.uint64(1) << np.uint64(z & 63)
    ball_before, ball = ranked(in_ball)
    two = np.zeros((len(ball), words), np.uint64)
    for s in range(slots):
        if not is_one[s]:
            continue
        x = vertices[s]
        for e in range(indptr[x] - 1, indptr[x + 1]):
            z = x if e < indptr[x] else indices[e]
            if z >= first:
                b = number_of(in_ball, ball_before, z)
                for w in range(words):
                    two[b, w] |= one[s, w]
    # the touched vertices one edge further, each edge from its end of lower degree
    three = np.zeros((slots, words), np.uint64)
    least = np.empty(AHEAD, np.int32)
    for s in range(slots):
        if s % AHEAD == 0:
            prefetch(indptr, indices, vertices, s, least)
        x = vertices[s]
        for e in range(indptr[x] - 1, indptr[x + 1]):
            z = x if e < indptr[x] else indices[e]
            if z > x:
                break
            b = number_of(in_ball, ball_before, z)
            if b >= 0:
                for w in range(words):
                    three[s, w] |= two[b, w]
    for b in range(len(ball)):
        if b % AHEAD == 0:
            prefetch(indptr, indices, ball, b, least)
        z = ball[b]
        if least[b % AHEAD] >= z:
            continue
        for e in range(indptr[z], indptr[z + 1]):
            x = indices[e]
            if x >= z:
                break
            s = number_of(bits, before, x)
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
def four_at_most(four, sources, out):
    """Lower the bounds in `out` of the sources to the paths of four edges that were found."""
    for a in range(len(sources)):
        row = out[sources[a]]
        w, bit = a >> 6, np.uint64(a & 63)
        for j in range(len(four)):
            if four[j, w] >> bit & np.uint64(1):
                row[j] = min(row[j], 4)
