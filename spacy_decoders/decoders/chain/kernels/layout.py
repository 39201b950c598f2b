"""The layout of the arrays of chain kernels, and the constants that all of them use.

Tables of scores are flat, in rows of `stride` entries: the number of labels rounded up to a
multiple of 16, padded with ``-inf``. The transitions have one more row than there are labels: row
`size` has the start scores, so that the first token is like any other; row `size` of their
transpose has the end scores. A block of 64 can be loaded even at the end of the last row.
Emissions are not padded.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    fill16,
    fold_magnitudes,
    load16,
    load16_part,
    load64,
    load64_part,
)

__all__ = [
    "BLOCK",
    "FORBIDDEN",
    "LANES",
    "LARGEST",
    "TINY",
    "UP32",
    "UP64",
    "aligned",
    "all_valid",
    "emissions16",
    "emissions64",
    "longest_of",
]

#: Floats of a vector: one cache line.
LANES = 16

#: Labels of a block: the results of their comparisons fit one 64-bit integer.
BLOCK = 4 * LANES

FORBIDDEN = np.float32(-np.inf)

#: The largest magnitude of a finite score: sums of many such scores, and of their bounds, do not
#: overflow float32; sums with the lowest float as a mask would become -inf.
LARGEST = np.float32(1e30)

#: Eight units in the last place of float32, four of float64, by which sums are rounded up.
UP32, UP64 = 2.0**-21, 2.0**-51

#: More than the absolute error of any sum of denormal numbers.
TINY = 1e-36


@jit()
def aligned(count):
    """Return an array that is aligned to a cache line and followed by a block of ``-inf``.

    Vectors that cross a cache line take twice as long to load.
    """
    buffer = np.empty(count + BLOCK + LANES, np.float32)
    skipped = -(buffer.ctypes.data // 4) % LANES
    buffer[skipped + count :] = FORBIDDEN
    return buffer[skipped : skipped + count]


@jit()
def longest_of(offsets):
    """Return the length of the longest sentence."""
    longest = np.int64(0)
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    return longest


@jit(inline="always")
def emissions16(emissions, row, first, size):
    """Return the emissions of 16 labels, ``-inf`` beyond the last."""
    if first + LANES <= size:
        return load16(emissions, row + first)
    return load16_part(emissions, row + first, size - first)


@jit(inline="always")
def emissions64(emissions, row, first, size):
    """Return the emissions of 64 labels, ``-inf`` beyond the last."""
    if first + BLOCK <= size:
        return load64(emissions, row + first)
    return load64_part(emissions, row + first, size - first)


@uncounted()
def all_valid(scores, begin, stop):
    """Return whether ``scores[begin:stop]`` are all ``-inf`` or of magnitude up to `LARGEST`."""
    sums = fill16(np.float32(0))
    for at in range(begin, stop, BLOCK):
        if at + BLOCK <= stop:
            sums = add(sums, fold_magnitudes(load64(scores, at)))
        else:
            sums = add(sums, fold_magnitudes(load64_part(scores, at, stop - at)))
    if at_least(fill16(LARGEST), sums) == 0xFFFF:
        return True
    for k in range(begin, stop):
        if not (abs(scores[k]) <= LARGEST or scores[k] == FORBIDDEN):
            return False
    return True
