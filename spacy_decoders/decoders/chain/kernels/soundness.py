"""Which scores chains can be decoded with."""

import numpy as np

from ....jit import uncounted

__all__ = ["LARGEST", "all_sound"]

# the largest size of a score but -inf: sums of many such scores, and of their bounds, still
# fit float32, where a lowest float as a mask would become -inf and be forbidden
LARGEST = np.float32(1e30)
FORBIDDEN = np.float32(-np.inf)


@uncounted()
def all_sound(scores, begin, stop):
    """Say whether ``scores[begin:stop]`` are ``-inf`` or of a size up to `LARGEST`."""
    sound = True
    for k in range(begin, stop):
        # no branches, so that it is done by vectors
        sound &= (abs(scores[k]) <= LARGEST) | (scores[k] == FORBIDDEN)
    return sound
