"""The search for the best labelling: a greedy reference, pruning by it, and a back-trace.

The reference takes, from the left, the best label given the previous one. :mod:`.dual` finds the
labels that a better labelling may have, one or two for each token with trained scores, and the
best labelling among these is found exactly. If too many survive, or the reference leads to a dead
end, messages between all labels are faster.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import peek, poke
from .dual import FORTH, PROVEN, best_after, bound
from .layout import FORBIDDEN, longest_of
from .tables import lattice_for

__all__ = ["decode", "trace"]

#: The average share of labels that may survive before messages between all labels are faster.
SHARE = 0.3


@uncounted()
def greedy(transitions, end, emissions, begin, n, size, labels):
    """Write each token's best label given the previous one; return False at a dead end."""
    before = np.int64(size)
    for token in range(begin, begin + n):
        last = token == begin + n - 1
        top, before = best_after(
            transitions, end, emissions, token * size, before * len(end), last, size
        )
        if not (FORBIDDEN < top < np.inf):
            return False
        poke(labels, token, np.int32(before))
    return True


@uncounted()
def trace(links, emissions, begin, n, size, lattice, labels):
    """Write the best labelling through the survivors, whose messages are in the lattice."""
    transitions, stride = links.transitions, len(links.end)
    marks, names, values = lattice.marks, lattice.names, lattice.values
    state = peek(marks, n)
    for k in range(state + 1, peek(marks, n + 1)):
        if peek(values, k) > peek(values, state):
            state = k
    y = peek(names, state)
    for i in range(n - 1, -1, -1):
        poke(labels, begin + i, np.int32(y))
        first, past = peek(marks, i), peek(marks, i + 1)
        origin = peek(names, first)
        if past - first > 1:
            most = -np.inf
            for k in range(first, past):
                link = np.float64(peek(transitions, peek(names, k) * stride + y))
                if peek(values, k) + link > most:
                    most = peek(values, k) + link
                    origin = peek(names, k)
        y = origin


@uncounted()
def decode_all(links, emissions, offsets, size, labels, left, lattice):
    """Decode all sentences; return how many are left for dense decoding."""
    lefts = np.int64(0)
    for s in range(len(offsets) - 1):
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        if n == 0:
            continue
        done = False
        if greedy(links.transitions, links.end, emissions, begin, n, size, labels):
            status, _ = bound(links, emissions, begin, FORTH, n, size, labels, 0.0, SHARE, lattice)
            done = status == PROVEN
            if done and peek(lattice.marks, n + 1) > n + 1:
                trace(links, emissions, begin, n, size, lattice, labels)
        if not done:
            poke(left, lefts, s)
            lefts += 1
    return lefts


@jit()
def decode(links, emissions, offsets, size):
    """Decode a batch with the tables of a model.

    Returns the labels, int32 **(total,)**, and the sentences left for dense decoding: those in
    which too many labels survive, or the reference leads to a dead end.
    """
    labels = np.zeros(offsets[-1], np.int32)
    left = np.zeros(len(offsets) - 1, np.int64)
    lattice = lattice_for(longest_of(offsets), size)
    lefts = decode_all(links, emissions, offsets, size, labels, left, lattice)
    return labels, left[:lefts]
