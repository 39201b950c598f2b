"""Flat arrays for vectorised kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["LANES", "WORD", "aligned"]

#: Floats that the kernels take at a time: a line of the processor's cache.
LANES = 16

#: Labels whose comparisons fit one integer.
WORD = 4 * LANES


def aligned(count: int) -> NDArray[np.float32]:
    """Return an array that begins with a cache line and has a word of memory behind it.

    Vectors that lie across two lines take twice the time to load.
    """
    whole = np.empty(count + WORD + LANES, dtype=np.float32)
    skip = -(whole.ctypes.data // whole.itemsize) % LANES
    whole[skip + count :] = -np.inf
    return whole[skip : skip + count]
