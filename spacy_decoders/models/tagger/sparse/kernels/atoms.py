"""What can be read off the letters of a word: its beginnings and ends, shape and kind."""

import numpy as np

from .....jit import jit, uncounted
from .hashing import mixed

__all__ = ["AFFIX", "letters"]

#: Letters of the longest prefix and suffix.
AFFIX = 4
_SEEDS = np.arange(1, 2 * AFFIX + 3, dtype=np.uint64) << np.uint64(40)

LOWER, UPPER, DIGIT, OTHER = 1, 2, 4, 8


@uncounted(inline="always")
def class_of(code, lower):
    """Return whether a letter is lower or upper case, a digit or something else."""
    if code != lower:
        return UPPER
    if 48 <= code <= 57:
        return DIGIT
    if 97 <= code <= 122 or code >= 192:
        return LOWER
    return OTHER


@jit()
def letters(codes, lowered, offsets, seeds, out):
    """Write the hashes of what the letters of words show; 0 for an affix that is no part.

    Parameters
    ----------
    codes, lowered
        **Shape (letters,)**, uint32: the code points of all words, and those of the same words
        in lower case.
    offsets
        **Shape (words + 1,)**, int64.
    seeds
        **Shape (2 * AFFIX + 2,)**, uint64: one for each column.
    out
        **Shape (words, 2 * AFFIX + 2)**, uint64: prefixes of 1 to `AFFIX` letters, suffixes,
        the shape with runs cut to one, and which classes of letters there are.
    """
    for w in range(len(offsets) - 1):
        begin, stop = offsets[w], offsets[w + 1]
        length = stop - begin
        prefix, suffix = np.uint64(0), np.uint64(0)
        for k in range(AFFIX):
            if k >= length:
                out[w, k] = out[w, AFFIX + k] = 0
                continue
            prefix = mixed(prefix, np.uint64(codes[begin + k]) + np.uint64(1))
            suffix = mixed(suffix, np.uint64(codes[stop - 1 - k]) + np.uint64(1))
            out[w, k] = mixed(prefix, seeds[k])
            out[w, AFFIX + k] = mixed(suffix, seeds[AFFIX + k])
        shape, kinds, before = np.uint64(0), np.uint64(0), np.uint64(0)
        for k in range(begin, stop):
            kind = class_of(codes[k], lowered[k])
            shown = np.uint64(codes[k]) if kind == OTHER else np.uint64(kind)
            kinds |= np.uint64(kind)
            if k == begin and kind == UPPER:
                kinds |= np.uint64(16)
            if shown != before:
                shape = mixed(shape, shown)
            before = shown
        kinds |= np.uint64(32) if length == 1 else np.uint64(0)
        out[w, 2 * AFFIX] = mixed(shape, seeds[2 * AFFIX])
        out[w, 2 * AFFIX + 1] = mixed(kinds, seeds[2 * AFFIX + 1])
