"""Compiled loops over UTF-8 bytes: hashing lines and finding them again."""

from __future__ import annotations

import numpy as np

from ..jit import jit

__all__ = ["equal_to_previous", "find_lines", "hash_lines"]

_NEWLINE = np.uint8(10)


@jit()
def _hash(data, start, stop):
    # FNV-1a, then a finaliser: the bucket is read from the top bits, which FNV mixes badly
    code = np.uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        code = (code ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xFF51AFD7ED558CCD)
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xC4CEB9FE1A85EC53)
    return code ^ (code >> np.uint64(33))


@jit()
def hash_lines(data, count):
    """Hash each newline-ended line: (codes (count,), offsets (count + 1,) of their starts)."""
    codes = np.empty(count, np.uint64)
    offsets = np.empty(count + 1, np.int64)
    start = 0
    line = 0
    for i in range(data.size):
        if data[i] == _NEWLINE:
            offsets[line] = start
            codes[line] = _hash(data, start, i)
            line += 1
            start = i + 1
    offsets[line] = start
    return codes, offsets


@jit()
def _same(first, at, second, other, length):
    """Whether `length` bytes from `at` on are those of `second` from `other` on."""
    for j in range(length):
        if first[at + j] != second[other + j]:
            return False
    return True


@jit()
def equal_to_previous(data, offsets, order, codes):
    """Compare each line with the one before it in `order`.

    1: the same line; 0: another code; -1: another line of the same code, a collision.
    """
    same = np.zeros(order.size, np.int8)
    for i in range(1, order.size):
        a, b = order[i - 1], order[i]
        if codes[a] != codes[b]:
            continue
        length = offsets[a + 1] - offsets[a]
        alike = length == offsets[b + 1] - offsets[b]
        alike = alike and _same(data, offsets[a], data, offsets[b], length)
        same[i] = 1 if alike else -1
    return same


@jit()
def find_lines(query, count, codes, buckets, shift, data, offsets):
    """Row of each newline-ended line of `query` in a string index, -1 where it is absent."""
    rows = np.full(count, -1, np.int64)
    start = 0
    line = 0
    for i in range(query.size):
        if query[i] != _NEWLINE:
            continue
        code = _hash(query, start, i)
        bucket = np.int64(code >> shift)
        for row in range(buckets[bucket], buckets[bucket + 1]):
            length = offsets[row + 1] - offsets[row]
            if codes[row] != code or length != i - start:
                continue
            if _same(data, offsets[row], query, start, length):
                rows[line] = row
        line += 1
        start = i + 1
    return rows
