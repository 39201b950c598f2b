"""Decoding by forward dominance, over flat arrays.

Models come in two kinds: where no transition is forbidden (`unconstrained`), and where some
are (`constrained`). Both begin with the transitions, the end scores and their magnitude, laid
out as `dominance` says; the compiler tells them apart by their length.
"""

import numpy as np

from ....jit import jit, uncounted
from . import constrained, unconstrained
from .dominance import DENSE, DONE, FLAT, FORBIDDEN, LOST, UNSOUND
from .soundness import all_sound
from .vectors import peek, poke

__all__ = ["decode", "survivors", "trace", "workspace"]

FREE = 5  # entries of a model where no transition is forbidden


@jit()
def workspace(model, longest, size):
    """Return scratch space, and the lists of survivors."""
    if len(model) == FREE:
        return unconstrained.workspace(longest, size, len(model[1]))
    return constrained.workspace(model, longest, size)


@jit()
def survivors(model, emissions, begin, n, size, slack, patience, work, names, scores):
    """Find the survivors of each token of one sentence.

    A survivor lies on a path that may be within `slack` of the best; with a slack of
    `EVERYTHING`, on any legal one. Those of token i are ``marks[i + 1]:marks[i + 2]`` of
    `names` and `scores`, which grow as needed; `marks` are the first of `work`.

    Returns
    -------
    names, scores
    status, token
        `DONE`; or `DEAD` at a token; or `DENSE` when `patience` ends; or `UNSOUND`; or `LOST`
        without a reference path, which only constrained models need.
    """
    if len(model) == FREE:
        return unconstrained.forward(
            model, emissions, begin, n, size, slack, patience, work, names, scores
        )
    return constrained.forward(
        model, emissions, begin, n, size, slack, patience, work, names, scores
    )


@uncounted()
def trace(model, n, marks, names, scores, labels, place):
    """Follow the best labelling of a sentence back through the survivors.

    Its labels go to ``labels[place : place + n]``.
    """
    transitions, stride = model[0], len(model[1])
    y = peek(names, peek(marks, n))
    for i in range(n - 1, -1, -1):
        poke(labels, place + i, np.int32(y))
        first, past = peek(marks, i), peek(marks, i + 1)
        origin = peek(names, first)
        if past - first > 1:
            most = FORBIDDEN
            for k in range(first, past):
                reached = peek(scores, k) + peek(transitions, peek(names, k) * stride + y)
                if reached > most:
                    most = reached
                    origin = peek(names, k)
        y = origin


@jit()
def decode(model, emissions, offsets, size):
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    left
        Sentences in which so many labels survive that dense decoding is faster, or in which no
        legal labelling was found.
    sound
        Whether no emission met is NaN, ``+inf``, or so large that sums would not fit float32.
    """
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    left = np.zeros(count, np.int64)
    lefts = 0
    longest = 0
    for s in range(count):
        longest = max(longest, offsets[s + 1] - offsets[s])
    work, names, scores = workspace(model, longest, size)
    none = np.float32(0)
    skip = 0  # sentences that go to Viterbi untried, since those before did
    wait = 1
    for s in range(count):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        status = DENSE
        if skip:
            skip -= 1
        else:
            names, scores, status, _ = survivors(
                model, emissions, begin, n, size, none, FLAT, work, names, scores
            )
            if status == DENSE or status == LOST:
                skip = wait
                wait = min(4 * wait, 64)
        if status == DONE:
            wait = 1
            trace(model, n, work[0], names, scores, labels, begin)
        elif status == UNSOUND or not all_sound(emissions, begin * size, (begin + n) * size):
            return labels, left[:lefts], False
        else:
            left[lefts] = s
            lefts += 1
    return labels, left[:lefts], True
