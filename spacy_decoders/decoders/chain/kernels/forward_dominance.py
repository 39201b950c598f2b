"""Decoding by forward dominance, over flat arrays.

Models come in two kinds: where no transition is forbidden (`unconstrained`), and where some
are (`constrained`). The compiler tells them apart by their length.
"""

from typing import NamedTuple

import numpy as np

from ....jit import jit, uncounted
from ....simd import peek, poke
from . import constrained, unconstrained
from .dominance import DENSE, DONE, FULL, INVALID, NO_PATH, NO_REFERENCE
from .layout import FORBIDDEN, all_valid, longest_of

__all__ = ["decode"]

FREE = 2  # entries of a model where no transition is forbidden


class State(NamedTuple):
    """The next sentence; how many are left to dense decoding, and of the next are untried.

    skip: sentences that go to dense decoding untried, since those before did; wait: how many
    that will be when the next one does.
    """

    sentence: int
    lefts: int
    skip: int
    wait: int


@jit()
def workspace(model, longest, size):
    """Allocate scratch space, and the lists of survivors."""
    if len(model) == FREE:
        return unconstrained.workspace(longest, size, len(model.links.end))
    return constrained.workspace(model, longest, size)


@uncounted()
def trace(transitions, stride, n, marks, names, scores, labels, place):
    """Follow the best labelling of a sentence back through the survivors.

    Its labels go to ``labels[place : place + n]``.
    """
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


@uncounted()
def decode_from(model, emissions, offsets, size, work, names, scores, labels, left, state):
    """Decode the sentences from `state` on, until the lists of survivors are `FULL`.

    One function over all sentences: passing so many arrays takes as long as some tokens.
    """
    s, lefts, skip, wait = state
    while s < len(offsets) - 1:
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        status = DONE
        if n and skip:
            skip -= 1
            status = NO_PATH
        elif n:
            if len(model) == FREE:
                transitions, stride = model.links.transitions, len(model.links.end)
                status = unconstrained.forward(
                    model, emissions, begin, n, size, work, names, scores
                )
            else:
                transitions, stride = model.transitions, len(model.end)
                status = constrained.forward(model, emissions, begin, n, size, work, names, scores)
            if status == DONE:
                trace(transitions, stride, n, work.marks, names, scores, labels, begin)
            if status == FULL:
                return FULL, State(s, lefts, skip, wait)
            if status == DENSE or status == NO_REFERENCE:
                skip = wait
                wait = min(4 * wait, 64)
        if status == DONE:
            wait = 1
        elif status == INVALID or not all_valid(emissions, begin * size, (begin + n) * size):
            return INVALID, State(s, lefts, skip, wait)
        else:
            poke(left, lefts, s)
            lefts += 1
        s += 1
    return DONE, State(s, lefts, skip, wait)


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
    valid
        Whether no emission met is NaN, ``+inf``, or so large that sums would not fit float32.
    """
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    left = np.zeros(count, np.int64)
    work, names, scores = workspace(model, longest_of(offsets), size)
    state = State(0, 0, 0, 1)
    while True:
        status, state = decode_from(
            model, emissions, offsets, size, work, names, scores, labels, left, state
        )
        if status != FULL:
            return labels, left[: state.lefts], status != INVALID
        capacity = 2 * len(names)
        names, scores = np.empty(capacity, np.int64), np.empty(capacity, np.float32)
