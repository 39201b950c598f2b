"""Compiled loops over UTF-8 bytes: hashing lines and finding them again."""

from __future__ import annotations

import numpy as np

from ...jit import jit

__all__ = [
    "count_names",
    "equal_to_previous",
    "find_lines",
    "gather_lines",
    "hash_lines",
]

_NEWLINE = np.uint8(10)
_SPACE = np.uint8(32)


@jit()
def _finished(code):
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xFF51AFD7ED558CCD)
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xC4CEB9FE1A85EC53)
    return code ^ (code >> np.uint64(33))


@jit()
def _hash(data, start, stop):
    # FNV-1a, then a finaliser: the bucket is read from the top bits, which FNV mixes badly
    code = np.uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        code = (code ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return _finished(code)


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


@jit()
def gather_lines(data, starts, rows):
    """The bytes of some newline-ended lines, in the order of `rows`.

    **Shapes:** data uint8 (bytes,), starts int64 (lines + 1,), rows int64 (any,).
    """
    size = 0
    for row in rows:
        size += starts[row + 1] - starts[row]
    out = np.empty(size, np.uint8)
    at = 0
    for row in rows:
        for i in range(starts[row], starts[row + 1]):
            out[at] = data[i]
            at += 1
    return out


@jit()
def _is_word(byte):
    # letters and digits, and every byte of a character beyond ASCII
    return byte >= 128 or 48 <= byte <= 57 or 97 <= (byte | 32) <= 122


@jit()
def count_names(texts, longest, codes, buckets, shift, data, offsets, seen, counts):
    """Count in how many newline-ended texts the strings of an index occur.

    A string is looked for from the beginning of every word to the end of each of the next
    `longest`, with or without one sign behind it.

    **Shapes:** texts uint8 (bytes,); the next five are an index; seen and counts int32 (strings,),
    zeros, the second of which is the result.
    """
    text = 1
    for start in range(texts.size):
        if texts[start] == _NEWLINE:
            text += 1
            continue
        if not _is_word(texts[start]) or (start and _is_word(texts[start - 1])):
            continue
        code = np.uint64(0xCBF29CE484222325)
        words = 0
        stop = start
        while words < longest and texts[stop] != _NEWLINE:
            code = (code ^ np.uint64(texts[stop])) * np.uint64(0x100000001B3)
            ended = _is_word(texts[stop])
            stop += 1
            if ended and _is_word(texts[stop]):
                continue
            if not ended and (texts[stop - 1] == _SPACE or not _is_word(texts[stop - 2])):
                continue
            # behind a word, or behind one sign that follows it
            if ended:
                words += 1
            bucket = np.int64(_finished(code) >> shift)
            for row in range(buckets[bucket], buckets[bucket + 1]):
                length = offsets[row + 1] - offsets[row]
                if length != stop - start or codes[row] != _finished(code):
                    continue
                if seen[row] != text and _same(data, offsets[row], texts, start, length):
                    seen[row] = text
                    counts[row] += 1
