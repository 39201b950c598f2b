"""Which scores chains can be decoded with."""

import numpy as np

from ....jit import jit, uncounted
from .vectors import WORD, add, at_least, fill, load_part_word, load_word, sizes

__all__ = ["LARGEST", "all_sound", "calm"]

# the largest size of a score but -inf: sums of many such scores, and of their bounds, still
# fit float32, where a lowest float as a mask would become -inf and be forbidden
LARGEST = np.float32(1e30)
FORBIDDEN = np.float32(-np.inf)


@jit(inline="always")
def calm(sums):
    """Say whether sums of sizes show that no score is NaN, ``+inf``, or too large."""
    return at_least(fill(LARGEST), sums) == 0xFFFF


@uncounted()
def all_sound(scores, begin, stop):
    """Say whether ``scores[begin:stop]`` are ``-inf`` or of a size up to `LARGEST`."""
    sums = fill(np.float32(0))
    for word in range(begin, stop, WORD):
        if word + WORD <= stop:
            sums = add(sums, sizes(load_word(scores, word)))
        else:
            sums = add(sums, sizes(load_part_word(scores, word, stop - word)))
    if calm(sums):
        return True
    for k in range(begin, stop):
        if not (abs(scores[k]) <= LARGEST or scores[k] == FORBIDDEN):
            return False
    return True
