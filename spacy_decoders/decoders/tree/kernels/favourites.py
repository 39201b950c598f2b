"""Each token's best head and the best root: mostly the best tree itself.

The arcs of several sentences stand end to end, (n + 1) x (n + 1) each, with eight entries behind.
"""

import numpy as np

from ....arrays import LARGEST_SCORE
from ....jit import internal, jit
from ....simd import fill8, load8, maximum, select_greater, store
from .rows import LANES


@internal()
def _forbid_root_and_self(flat, begin, size):
    """Set what is no arc to -inf: the root as a modifier, and tokens that head themselves.

    Returns whether all scores are ``-inf`` or numbers up to `LARGEST_SCORE`.
    """
    wrong = 0
    for at in range(begin, begin + size * size):
        wrong += not flat[at] <= LARGEST_SCORE
        wrong += -np.inf < flat[at] < -LARGEST_SCORE
    for h in range(size):
        flat[begin + h * size] = -np.inf
        flat[begin + h * size + h] = -np.inf
    return wrong == 0


@jit()
def favourite_heads(flat, begins, sizes, offsets, heads):
    """Write the best head of each token among tokens, and one root: who gains most by it.

    What is no arc is set to -inf before. Returns the first sentence with NaN or a score beyond
    `LARGEST_SCORE`, -1 if there is none.
    """
    best, argument = np.empty(sizes.max() + LANES), np.empty(sizes.max() + LANES)
    for s in range(sizes.shape[0]):
        begin, size, first = begins[s], sizes[s], offsets[s]
        if not _forbid_root_and_self(flat, begin, size):
            return s
        for m in range(1, size, LANES):
            highest, whose = fill8(-np.inf), fill8(0.0)
            for h in range(1, size):
                row = load8(flat, begin + h * size + m)
                whose = select_greater(row, highest, fill8(np.float64(h)), whose)
                highest = maximum(row, highest)
            store(best, m, highest)
            store(argument, m, whose)
        root, most = 0, -np.inf
        for m in range(1, size):
            heads[first + m - 1] = np.int32(argument[m])
            gain = flat[begin + m] - best[m]
            if gain > most:
                root, most = m, gain
        if root > 0:
            heads[first + root - 1] = 0
    return -1
