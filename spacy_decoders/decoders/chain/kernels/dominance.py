"""What the kernels of forward dominance share: gains, and lists of survivors.

Arrays are laid out as :mod:`.layout` says: the first token is entered from the survivor `size`.
The gains too have a row `size`, that of the last token, after which nothing can be gained.

Survivors are kept in two growing lists, `names` and `scores`; those of token i are ``marks[i +
1]:marks[i + 2]``. The first of them is the best and has the score 0.
"""

import numpy as np

from ....jit import jit
from ....simd import add, fill64, load64, maximum, peek, poke
from .layout import FORBIDDEN

__all__ = [
    "NO_PATH",
    "DENSE",
    "DONE",
    "FULL",
    "NO_REFERENCE",
    "UNDECIDED",
    "INVALID",
    "given_up",
    "promote",
    "reached64",
]

PATIENCE = 3  # tokens before a sentence may be given up
# a sentence is given up when on average more than this share of all labels survive, after this
# share of the work of dense decoding
SHARE, TRIAL = 0.1, 0.03
# how a sentence ended: decoded, no legal path, left to Viterbi, no room for survivors, with
# emissions that are NaN or +inf, no reference path found, not decided by one-block pruning
DONE, NO_PATH, DENSE, FULL, INVALID, NO_REFERENCE, UNDECIDED = 0, 1, 2, 3, 4, 5, 6


@jit(inline="always")
def reached64(transitions, names, scores, first, past, block, stride):
    """Return the best of score + transition over some survivors, for 64 labels."""
    best = load64(transitions, peek(names, first) * stride + block)  # its score is 0
    for k in range(first + 1, past):
        step = load64(transitions, peek(names, k) * stride + block)
        best = maximum(add(fill64(peek(scores, k)), step), best)
    return best


@jit(inline="always")
def promote(names, scores, start, used, best, gains, at):
    """Put survivor number `best` first, and prune those that it dominates by its gains `at`.

    Returns the new end of the list, and the second best score.
    """
    lead, height = peek(names, best), peek(scores, best)
    poke(names, best, peek(names, start))
    poke(scores, best, peek(scores, start))
    poke(names, start, lead)
    poke(scores, start, height)
    second = FORBIDDEN
    kept = start
    for k in range(start, used):
        x, score = peek(names, k), peek(scores, k) - height
        poke(names, kept, x)
        poke(scores, kept, score)
        stays = score + peek(gains, at + x) >= 0
        if stays and kept > start:
            second = max(second, score)
        # counting, not branching: which survivors stay cannot be predicted
        kept += np.int64(stays)
    return kept, second


@jit(inline="always")
def given_up(used, i, n, size):
    """Return whether so many labels survived up to token i that dense decoding is faster."""
    many = used > (SHARE * size + 2) * (i + 1) and used > (TRIAL * size + 3) * n
    return many and i >= PATIENCE - 1
