"""Renumbering a subset of the vertices.

A bitmap of the vertices with the number of bits set before each word fits the cache, where a table
of all vertices would not.
"""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = ["AHEAD", "number_of", "prefetch", "ranked"]

#: Lists of neighbours that are fetched together.
AHEAD = 64


@jit()
def _bit_count(word):
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit()
def ranked(bits):
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
def number_of(bits, before, v):
    """Return the number of vertex v, or -1 if it has none."""
    word = bits[v >> 6]
    bit = np.uint64(1) << np.uint64(v & 63)
    if word & bit:
        return before[v >> 6] + _bit_count(word & (bit - np.uint64(1)))
    return np.int64(-1)


@jit()
def prefetch(indptr, indices, vertices, first, least):
    """Write the smallest neighbours of the next vertices, or the largest int32 for none.

    They lie far apart in memory: loading them together overlaps the cache misses, which would
    otherwise be serial.
    """
    for i in range(min(len(least), len(vertices) - first)):
        x = vertices[first + i]
        begin = indptr[x]
        least[i] = indices[begin] if begin < indptr[x + 1] else np.int32(2**31 - 1)
