"""Decoding chains with scores of whole spans, in float64: what agreement of entities needs.

A span with a score is called a mention. It is worth something if it is exactly an entity: its
first token begins it, the others continue it, and the token behind does not. The state of a chain
is thus the label and, inside an entity, whether this began where some mention begins. A `slot`
stands for such a beginning: 0 for none, and mentions that overlap have different ones.

`forward` and `best_path` search; `max_marginals` bounds the best labelling in which a mention is
of each kind. The proof of a bound is in `span_bounds`, which shares nothing with them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import internal, jit

__all__ = ["SpanChain", "SpanMentions", "best_paths", "max_marginals"]


class SpanChain(NamedTuple):
    """The scores that all sentences share, and what the labels mean."""

    # (L, L), (L,), (L,)
    transitions: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    kinds: NDArray[np.int64]  # (L,): the kind of entity that a label is part of, -1 for none
    # (L,): whether a label continues an entity. Such a label can only follow one of its
    # kind.
    goes_on: NDArray[np.bool_]


class SpanMentions(NamedTuple):
    """The mentions of some sentences, ordered by sentence and by their ends."""

    offsets: NDArray[np.int64]  # (sentences + 1,): the mentions of each sentence
    ends: NDArray[np.int64]  # (mentions,): the token behind each
    # (mentions,): from 1 on; the same for mentions that begin at the same token
    slots: NDArray[np.int64]
    # (tokens,): the slot of the mentions that begin at a token, 0 for none
    begins: NDArray[np.int64]
    # (tokens, width): whether a slot still stands for the beginning that it stood for at
    # the token before
    keeps: NDArray[np.bool_]


@internal()
def exits(chain, row, width, mentions, at, last, token, worth, values, origins):
    """Write the best score of leaving each label before `token`, and the slot it is left from.

    `at` is the first mention that may end here, `last` the first of the next sentence; returns
    the first mention that ends later.
    """
    size = len(chain.kinds)
    for x in range(size):
        values[x] = -np.inf
        origins[x] = 0
        for w in range(width):
            if row[w, x] > values[x]:
                values[x] = row[w, x]
                origins[x] = w
    stop = at
    while stop < last and mentions.ends[stop] == token:
        stop += 1
    if stop > at:
        for x in range(size):
            kind = chain.kinds[x]
            if kind >= 0:
                values[x] = -np.inf
                for w in range(width):
                    value = row[w, x]
                    for m in range(at, stop):
                        if mentions.slots[m] == w:
                            value += worth[m, kind]
                    if value > values[x]:
                        values[x] = value
                        origins[x] = w
    return stop


@internal(counted=True)
def forward(chain, emissions, begin, stop, mentions, first, last, worth, alpha, labels, slots):
    """Write the best score of all beginnings that end in each state, and where each came from.

    Parameters
    ----------
    emissions
        **Shape (total, L)**, float32.
    begin, stop
        The sentence's tokens.
    first, last
        The sentence's mentions.
    worth
        **Shape (mentions, kinds)**: what it is worth that a mention is an entity of each kind.
    alpha, labels, slots
        **Shape (n + 1, width, L)**: score, label before and slot before of each state. The row
        behind the last token has the labels that are left there, in slot 0.
    """
    size, width = len(chain.kinds), alpha.shape[1]
    values, origins = np.empty(size), np.zeros(size, dtype=np.int64)
    alpha[:] = -np.inf
    for y in range(size):
        slot = mentions.begins[begin] if chain.kinds[y] >= 0 and not chain.goes_on[y] else 0
        alpha[0, slot, y] = chain.start[y] + np.float64(emissions[begin, y])
    at = first
    for i in range(1, stop - begin):
        token = begin + i
        at = exits(chain, alpha[i - 1], width, mentions, at, last, token, worth, values, origins)
        for y in range(size):
            own = np.float64(emissions[token, y])
            if own == -np.inf:
                continue
            if not chain.goes_on[y]:
                slot = mentions.begins[token] if chain.kinds[y] >= 0 else 0
                best, origin = -np.inf, 0
                for x in range(size):
                    value = values[x] + chain.transitions[x, y]
                    if value > best:
                        best, origin = value, x
                alpha[i, slot, y] = best + own
                labels[i, slot, y] = origin
                slots[i, slot, y] = origins[origin]
                continue
            for w in range(width):
                best, origin = -np.inf, 0
                for x in range(size):
                    if chain.kinds[x] == chain.kinds[y]:
                        value = alpha[i - 1, w, x] + chain.transitions[x, y]
                        if value > best:
                            best, origin = value, x
                slot = w if w > 0 and mentions.keeps[token, w] else 0
                if best + own > alpha[i, slot, y]:
                    alpha[i, slot, y] = best + own
                    labels[i, slot, y] = origin
                    slots[i, slot, y] = w
    n = stop - begin
    exits(chain, alpha[n - 1], width, mentions, at, last, stop, worth, values, origins)
    for x in range(size):
        alpha[n, 0, x] = values[x] + chain.end[x]
        slots[n, 0, x] = origins[x]


@jit()
def best_paths(chain, emissions, offsets, mentions, worth, chosen):
    """Write the best labelling of each sentence to `chosen`: **shape (total,)**, int32.

    Returns the first sentence without a legal labelling, or -1.
    """
    size, width = len(chain.kinds), mentions.keeps.shape[1]
    for s in range(len(offsets) - 1):
        begin, stop = offsets[s], offsets[s + 1]
        n = stop - begin
        if n == 0:
            continue
        alpha = np.empty((n + 1, width, size))
        labels = np.zeros((n + 1, width, size), dtype=np.int32)
        slots = np.zeros((n + 1, width, size), dtype=np.int32)
        forward(
            chain,
            emissions,
            begin,
            stop,
            mentions,
            mentions.offsets[s],
            mentions.offsets[s + 1],
            worth,
            alpha,
            labels,
            slots,
        )
        y = np.argmax(alpha[n, 0])
        if alpha[n, 0, y] == -np.inf:
            return s
        w = slots[n, 0, y]
        for i in range(n - 1, -1, -1):
            chosen[begin + i] = y
            y, w = labels[i, w, y], slots[i, w, y]
    return -1


@internal(counted=True)
def backward(chain, emissions, begin, stop, mentions, first, last, worth, beta):
    """Write the best score of all continuations of each state: **shape (n, width, L)**."""
    size, width = len(chain.kinds), beta.shape[1]
    n = stop - begin
    arrival = np.empty(size)
    at = last
    for i in range(n - 1, -1, -1):
        token = begin + i + 1
        for y in range(size):
            arrival[y] = -np.inf
            if i + 1 < n and not chain.goes_on[y]:
                slot = mentions.begins[token] if chain.kinds[y] >= 0 else 0
                arrival[y] = beta[i + 1, slot, y] + np.float64(emissions[token, y])
        stop_at = at
        while at > first and mentions.ends[at - 1] == token:
            at -= 1
        for x in range(size):
            leaving = chain.end[x] if i + 1 == n else -np.inf
            if i + 1 < n:
                for y in range(size):
                    leaving = max(leaving, chain.transitions[x, y] + arrival[y])
            kind = chain.kinds[x]
            for w in range(width):
                value = leaving
                for m in range(at, stop_at):
                    if kind >= 0 and mentions.slots[m] == w:
                        value += worth[m, kind]
                if i + 1 < n and kind >= 0:
                    slot = w if w > 0 and mentions.keeps[token, w] else 0
                    for y in range(size):
                        if chain.goes_on[y] and chain.kinds[y] == kind:
                            value = max(
                                value,
                                chain.transitions[x, y]
                                + np.float64(emissions[token, y])
                                + beta[i + 1, slot, y],
                            )
                beta[i, w, x] = value


@jit()
def max_marginals(chain, emissions, offsets, mentions, worth, best, found):
    """Find the best score of each sentence, and that with each mention being of each kind.

    Parameters
    ----------
    best
        **Shape (sentences,)**: the best scores are written here.
    found
        **Shape (mentions, kinds + 1)**: the best scores with the mention exactly an entity of
        each kind, and in the last column no entity, are written here.
    """
    size, width, none = len(chain.kinds), mentions.keeps.shape[1], found.shape[1] - 1
    found[:] = -np.inf
    for s in range(len(offsets) - 1):
        begin, stop = offsets[s], offsets[s + 1]
        n = stop - begin
        best[s] = 0.0
        if n == 0:
            continue
        first, last = mentions.offsets[s], mentions.offsets[s + 1]
        alpha = np.empty((n + 1, width, size))
        beta = np.empty((n, width, size))
        labels = np.zeros((n + 1, width, size), dtype=np.int32)
        slots = np.zeros((n + 1, width, size), dtype=np.int32)
        forward(chain, emissions, begin, stop, mentions, first, last, worth, alpha, labels, slots)
        backward(chain, emissions, begin, stop, mentions, first, last, worth, beta)
        best[s] = np.max(alpha[n, 0])
        for m in range(first, last):
            i = mentions.ends[m] - begin - 1
            for w in range(width):
                for x in range(size):
                    score, kind = alpha[i, w, x], chain.kinds[x]
                    if score == -np.inf:
                        continue
                    if kind < 0 or w != mentions.slots[m]:
                        found[m, none] = max(found[m, none], score + beta[i, w, x])
                        continue
                    leaving = chain.end[x] if i + 1 == n else -np.inf
                    if i + 1 < n:
                        token = begin + i + 1
                        slot = w if mentions.keeps[token, w] else 0
                        for y in range(size):
                            step = chain.transitions[x, y] + np.float64(emissions[token, y])
                            if chain.goes_on[y]:
                                if chain.kinds[y] == kind:
                                    value = score + step + beta[i + 1, slot, y]
                                    found[m, none] = max(found[m, none], value)
                            else:
                                begun = mentions.begins[token] if chain.kinds[y] >= 0 else 0
                                leaving = max(leaving, step + beta[i + 1, begun, y])
                    value = score + leaving + worth[m, kind]
                    found[m, kind] = max(found[m, kind], value)
