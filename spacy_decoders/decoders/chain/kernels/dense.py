"""Dense decoding over all labels in float64: the fallback.

The labelling comes from messages from the left, the bound from messages from the right, so that
neither can hide an error of the other. Arrays are laid out as :mod:`.layout` says.
"""

import numpy as np

from ....jit import jit
from .layout import UP64, longest_of

__all__ = ["bounds", "decode"]


@jit()
def pass_on(table, row_scores, size, stride, reached):
    """Set ``reached[y]`` to the best of ``row_scores[x] + table[x, y]`` over all x."""
    reached[:] = -np.inf
    for x in range(size):
        score = row_scores[x]
        if score > -np.inf:
            at = x * stride
            for y in range(stride):
                value = score + np.float64(table[at + y])
                reached[y] = value if value > reached[y] else reached[y]


@jit()
def decode(transitions, end, emissions, offsets, size, chosen, labels):
    """Write the best labelling of some sentences to `labels`: **shape (total,)**, int32.

    Returns
    -------
    sentence, token
        The first sentence without a legal labelling, and the token where all its paths end; -1 if
        all have one.
    """
    stride = len(end)
    messages = np.empty((longest_of(offsets), stride))
    for s in chosen:
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        for i in range(n):
            if i == 0:
                for y in range(stride):
                    messages[0, y] = transitions[size * stride + y]
            else:
                pass_on(transitions, messages[i - 1], size, stride, messages[i])
            alive = False
            for y in range(size):
                value = messages[i, y] + np.float64(emissions[(begin + i) * size + y])
                if i == n - 1:
                    value += np.float64(end[y])
                messages[i, y] = value
                alive |= value > -np.inf
            if not alive:
                return s, i
        y = np.argmax(messages[n - 1, :size]) if n else 0
        for i in range(n - 1, -1, -1):
            labels[begin + i] = y
            if i:
                best, origin = -np.inf, 0
                for x in range(size):
                    value = messages[i - 1, x] + np.float64(transitions[x * stride + y])
                    if value > best:
                        best, origin = value, x
                y = origin
    return -1, -1


@jit()
def bounds(transitions, transposed, emissions, offsets, size, stride, chosen, found):
    """Write upper bounds on all labellings of some sentences to `found`: **shape (sentences,)**.

    After each step a message is rounded up by more than the step's error, which depends only on
    the terms of that message.
    """
    message, local = np.empty(stride), np.empty(stride)
    for s in chosen:
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        for y in range(stride):
            message[y] = transposed[size * stride + y]
        for i in range(n - 1, -1, -1):
            for y in range(size):
                value = message[y] + np.float64(emissions[(begin + i) * size + y])
                local[y] = value + UP64 * abs(value) if value > -np.inf else value
            if i:
                pass_on(transposed, local, size, stride, message)
                for x in range(size):
                    if message[x] > -np.inf:
                        message[x] += UP64 * abs(message[x])
        best = -np.inf if n else 0.0
        if n:
            for y in range(size):
                best = max(best, local[y] + np.float64(transitions[size * stride + y]))
        found[s] = best + UP64 * abs(best)
