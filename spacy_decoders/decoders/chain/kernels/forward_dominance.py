"""Decoding by forward dominance, over flat arrays.

Models come in two kinds: where no transition is forbidden (`unconstrained`), and where some
are (`constrained`). Both begin with the transitions, the end scores and their magnitude, laid
out as `dominance` says; the compiler tells them apart by their length.
"""

import numpy as np

from ....jit import jit, uncounted
from . import constrained, unconstrained
from .dominance import DEAD, DENSE, DONE, FLAT, FORBIDDEN, LOST, UNIT32
from .soundness import all_sound
from .vectors import peek, poke

__all__ = ["decode", "survivors", "trace", "workspace"]

FREE = 6  # entries of a model where no transition is forbidden


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
    roundings
        Sum of the sizes of all that is rounded on a path that counts.
    """
    if len(model) == FREE:
        return unconstrained.forward(
            model, emissions, begin, n, size, slack, patience, work, names, scores
        )
    return constrained.forward(
        model, emissions, begin, n, size, slack, patience, work, names, scores
    )


@uncounted()
def trace(model, emissions, begin, n, size, marks, names, scores, labels, place):
    """Follow the best labelling of a sentence back through the survivors.

    Its labels go to ``labels[place : place + n]``. Returns what it is worth, and the sum of
    the absolute terms, in float64: while the sentence is still in the cache.
    """
    transitions, end = model[0], model[1]
    stride = len(end)
    y = peek(names, peek(marks, n))
    link = np.float64(peek(end, y))
    worth, terms = link, abs(link)
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
        link = np.float64(peek(transitions, origin * stride + y))
        local = np.float64(peek(emissions, (begin + i) * size + y))
        worth += link + local
        terms += abs(link) + abs(local)
        y = origin
    return worth, terms


@jit()
def decode(model, emissions, offsets, size):
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    slacks
        **Shape (sentences,)**: what rounding may have cost.
    worth
        **Shape (sentences, 2)**: score and sum of absolute terms, in float64.
    left
        Sentences in which so many labels survive that dense decoding is faster.
    sound
        Whether no emission met is NaN, ``+inf``, or so large that sums would not fit float32.
    sentence, token
        Where the first dead end is; -1 without one.
    """
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    slacks = np.zeros(count)
    worth = np.zeros((count, 2))
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
        if skip:
            skip -= 1
            if not all_sound(emissions, begin * size, (begin + n) * size):
                return labels, slacks, worth, left[:lefts], False, s, -1
            left[lefts] = s
            lefts += 1
            continue
        names, scores, status, token, roundings = survivors(
            model, emissions, begin, n, size, none, FLAT, work, names, scores
        )
        if status == DENSE or status == LOST:
            if not all_sound(emissions, begin * size, (begin + n) * size):
                return labels, slacks, worth, left[:lefts], False, s, -1
            left[lefts] = s
            lefts += 1
            skip = wait
            wait = min(4 * wait, 64)
            continue
        if status != DONE:
            return labels, slacks, worth, left[:lefts], status == DEAD, s, token
        wait = 1
        slacks[s] = 2.0 * UNIT32 * roundings * (1.0 + 1e-5)
        worth[s, 0], worth[s, 1] = trace(
            model, emissions, begin, n, size, work[0], names, scores, labels, begin
        )
    return labels, slacks, worth, left[:lefts], True, -1, -1
