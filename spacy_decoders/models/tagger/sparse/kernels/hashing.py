"""Hashes of numbers and of code points, the same on every machine."""

import numpy as np

from .....jit import uncounted

__all__ = ["mixed", "row_of"]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@uncounted(inline="always")
def mixed(state, value):
    """Return a 64-bit state into which a 64-bit value was mixed."""
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> SHIFT)


@uncounted(inline="always")
def row_of(state, bits):
    """Return the row that a state falls to, among 2 to the power of `bits`."""
    return np.int64((state * MULTIPLIER) >> np.uint64(64 - bits))
