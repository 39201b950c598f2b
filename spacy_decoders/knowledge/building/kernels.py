"""Compiled loops over UTF-8 bytes: hashing lines, and finding names in text."""

import numpy as np

from ...jit import jit

__all__ = ["count_names", "hash_lines"]

_NEWLINE = np.uint8(10)
_SPACE = np.uint8(32)
# FNV-1a
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@jit()
def _finished(code):
    # a bucket is read from the top bits, which FNV mixes badly
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xFF51AFD7ED558CCD)
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xC4CEB9FE1A85EC53)
    return code ^ (code >> np.uint64(33))


@jit()
def hash_lines(data, count):
    """Hash each of `count` newline-ended lines: uint64 (count,)."""
    codes = np.empty(count, np.uint64)
    line = 0
    code = _BASIS
    for byte in data:
        if byte == _NEWLINE:
            codes[line] = _finished(code)
            line += 1
            code = _BASIS
        else:
            code = (code ^ np.uint64(byte)) * _PRIME
    return codes


@jit()
def _is_word(byte):
    # letters and digits, and every byte of a character beyond ASCII
    return byte >= 128 or 48 <= byte <= 57 or 97 <= (byte | 32) <= 122


@jit()
def count_names(texts, longest, codes, buckets, shift, seen, counts):
    """Count in how many newline-ended texts the lines of an index occur.

    A line is looked for from the beginning of every word to the end of each of the next
    `longest`, with or without one punctuation mark after it.

    **Shapes:** texts uint8 (bytes,); codes, buckets and shift are an index; seen and counts int32
    (lines,), zeros, the second of which is the result.
    """
    text = 1
    for start in range(texts.size):
        if texts[start] == _NEWLINE:
            text += 1
            continue
        if not _is_word(texts[start]) or (start and _is_word(texts[start - 1])):
            continue
        code = _BASIS
        words = 0
        stop = start
        while words < longest and texts[stop] != _NEWLINE:
            code = (code ^ np.uint64(texts[stop])) * _PRIME
            ended = _is_word(texts[stop])
            stop += 1
            if ended and _is_word(texts[stop]):
                continue
            if not ended and (texts[stop - 1] == _SPACE or not _is_word(texts[stop - 2])):
                continue
            # after a word, or after one punctuation mark that follows it
            if ended:
                words += 1
            whole = _finished(code)
            bucket = np.int64(whole >> shift)
            for row in range(buckets[bucket], buckets[bucket + 1]):
                if codes[row] == whole and seen[row] != text:
                    seen[row] = text
                    counts[row] += 1
