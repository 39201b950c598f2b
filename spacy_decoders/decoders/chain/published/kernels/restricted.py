r"""The restricted problem of column generation: domains of labels, and messages over them.

Each token p has a domain D of labels. Messages over the domains, from the left and the right, are

.. math::

    a_p(y) = \max_{x \in D_{p-1}} a_{p-1}(x) + E_{p-1}(x) + T(x, y) \quad (7), \qquad
    b_p(x) = \max_{y \in D_{p+1}} T(x, y) + E_{p+1}(y) + b_{p+1}(y) \quad (11).

Tokens are numbered from 1 to n. Tokens 0 and n + 1 stand for the start and the end and have the
single label `size`: the transitions from it are the start scores, those into it the end scores.
Messages are relative to the best of each domain, so that they do not grow, and a message that has
not changed is bitwise equal, so that its dependants need not be recomputed (section 4.2).
"""

from typing import Any, NamedTuple

import numpy as np

from .....jit import jit, uncounted
from .....simd import (
    add,
    at_least,
    fill64,
    first_lane,
    fold_largest,
    largest,
    load64,
    maximum,
    select_greater,
    store,
)
from ...kernels.layout import BLOCK, FORBIDDEN, emissions64

__all__ = [
    "BOTH",
    "LEFT",
    "SPLIT",
    "ChainArrays",
    "adopt",
    "best_at",
    "close",
    "open_domains",
    "send",
    "trace",
    "workspace",
]

#: The reduced costs of equations 12, 8 and 9.
BOTH, LEFT, SPLIT = 0, 1, 2


class ChainArrays(NamedTuple):
    """The arrays that all sentences share.

    transitions, transposed: padded, in the layout of :mod:`...kernels.layout`. most_in, most_out:
    **shape (width,)**, the largest transition into and out of each label. emissions:
    **shape (total * size,)**. mode: which reduced cost. forbids: whether transitions can be
    ``-inf``.
    """

    transitions: Any
    transposed: Any
    most_in: Any
    most_out: Any
    emissions: Any
    size: int
    stride: int
    mode: int
    forbids: bool


class Domains(NamedTuple):
    """The labels of the restricted problem at each token.

    labels: **shape (n + 2, size)**, of which the first `counts` are used. inside, joining:
    **shape (n + 2, blocks)**, bit sets of those in the domain, and of those to join it. grown:
    whether any joined in the last iteration.
    """

    labels: Any
    counts: Any
    inside: Any
    joining: Any
    grown: Any


class Messages(NamedTuple):
    """The messages in one direction.

    rows: **shape (n + 2, width)**, the message into every label. values: **shape (n + 2, size)**,
    the scores of the labels of a domain, with their emissions, less the best of them, which is in
    `tops`. moved: whether a value has changed.
    """

    rows: Any
    values: Any
    tops: Any
    moved: Any


@jit()
def workspace(longest, size):
    """Return domains, messages from both ends, and an array for the parts of reduced costs."""
    places, blocks = longest + 2, (size + BLOCK - 1) // BLOCK
    width = blocks * BLOCK
    domains = Domains(
        np.full((places, size), size, np.int64),
        np.ones(places, np.int64),
        np.zeros((places, blocks), np.int64),
        np.zeros((places, blocks), np.int64),
        np.zeros(places, np.uint8),
    )
    ahead, behind = empty_messages(places, size, width), empty_messages(places, size, width)
    return domains, ahead, behind, np.empty((2, width), np.float32)


@jit()
def empty_messages(places, size, width):
    return Messages(
        np.empty((places, width), np.float32),
        np.zeros((places, size), np.float32),
        np.zeros(places, np.float32),
        np.zeros(places, np.uint8),
    )


# --- domains ---------------------------------------------------------------------


@jit(inline="always")
def emission(arrays, begin, p, x):
    return arrays.emissions[(begin + p - 1) * arrays.size + x]


@jit(inline="always")
def join(domains, p, x):
    domains.labels[p, domains.counts[p]] = x
    domains.counts[p] += 1
    domains.inside[p, x // BLOCK] |= np.int64(1) << (x % BLOCK)
    domains.grown[p] = 1


@uncounted()
def open_domains(arrays, domains, ahead, behind, begin, n):
    """Start every domain with the best label by local evidence (section 4.1).

    Returns whether every token has a label.
    """
    size, stride = arrays.size, arrays.stride
    for p in range(1, n + 1):
        row = (begin + p - 1) * size
        best, x = FORBIDDEN, np.int64(-1)
        for block in range(0, size, BLOCK):
            score = emissions64(arrays.emissions, row, block, size)
            if p == 1:
                score = add(score, load64(arrays.transitions, size * stride + block))
            if p == n:
                score = add(score, load64(arrays.transposed, size * stride + block))
            top = largest(fold_largest(score))
            if top > best:
                best, x = top, block + first_lane(at_least(score, fill64(top)))
        if x < 0:
            return False
        domains.counts[p] = 0
        domains.inside[p] = 0
        domains.joining[p] = 0
        join(domains, p, x)
    for p in (0, n + 1):
        domains.labels[p, 0], domains.counts[p] = size, 1
        ahead.values[p, 0] = behind.values[p, 0] = 0.0
    ahead.moved[0] = behind.moved[n + 1] = 1
    return True


@uncounted()
def adopt(domains, n):
    """Add the labels that pricing found to the domains; return the total size of all domains."""
    total = np.int64(0)
    for p in range(1, n + 1):
        domains.grown[p] = 0
        for block in range(domains.inside.shape[1]):
            bits = domains.joining[p, block] & ~domains.inside[p, block]
            domains.joining[p, block] = 0
            while bits:
                join(domains, p, block * BLOCK + first_lane(bits))
                bits &= bits - 1
        total += domains.counts[p]
    return total


@uncounted()
def close(arrays, domains, begin, n):
    """Give every label of a domain a legal neighbour in the adjacent domains.

    Every legal label is part of some legal labelling, so there always is one to add.
    """
    for ahead in (True, False):
        table = arrays.transitions if ahead else arrays.transposed
        for j in range(1, n):
            p, q = (j, j + 1) if ahead else (n + 1 - j, n - j)
            for k in range(domains.counts[p]):
                at = domains.labels[p, k] * arrays.stride
                alone = True
                for i in range(domains.counts[q]):
                    alone &= table[at + domains.labels[q, i]] == FORBIDDEN
                if alone:
                    best, y = FORBIDDEN, np.int64(0)
                    for x in range(arrays.size):
                        score = emission(arrays, begin, q, x) + table[at + x]
                        if score > best:
                            best, y = score, x
                    join(domains, q, y)


# --- the restricted problem --------------------------------------------------------


@uncounted()
def send(arrays, domains, messages, begin, n, ahead):
    """Update the messages of one direction (equations 7 and 11) that may have changed.

    A label without a legal predecessor in the previous domain has no message; its dual is
    arbitrary, and is set to the largest transition, as if the best label could precede it.
    """
    size, stride, width = arrays.size, arrays.stride, messages.rows.shape[1]
    table = arrays.transitions if ahead else arrays.transposed
    limits = arrays.most_in if ahead else arrays.most_out
    for j in range(1, n + 1):
        p = j if ahead else n + 1 - j
        q = p - 1 if ahead else p + 1
        if messages.moved[q]:
            for block in range(0, size, BLOCK):
                row = fill64(FORBIDDEN)
                for k in range(domains.counts[q]):
                    step = load64(table, domains.labels[q, k] * stride + block)
                    row = maximum(add(fill64(messages.values[q, k]), step), row)
                if arrays.forbids and j > 1:
                    none = fill64(FORBIDDEN)
                    row = select_greater(row, none, row, load64(limits, block))
                store(messages.rows, p * width + block, row)
        elif not domains.grown[p]:
            messages.moved[p] = 0
            continue
        top = FORBIDDEN
        for k in range(domains.counts[p]):
            x = domains.labels[p, k]
            top = max(top, messages.rows[p, x] + arrays.emissions[(begin + p - 1) * size + x])
        messages.tops[p] = top
        messages.moved[p] = domains.grown[p]
        for k in range(domains.counts[p]):
            x = domains.labels[p, k]
            value = messages.rows[p, x] + arrays.emissions[(begin + p - 1) * size + x] - top
            if value != messages.values[p, k]:
                messages.values[p, k] = value
                messages.moved[p] = 1


@uncounted()
def best_at(domains, messages, table, at, p):
    """Return the best score and label of a domain, with the transitions of a table row."""
    best, label = FORBIDDEN, np.int64(0)
    for k in range(domains.counts[p]):
        x = domains.labels[p, k]
        score = messages.values[p, k] + table[at + x]
        if score > best:
            best, label = score, x
    return best, label


@uncounted()
def trace(arrays, domains, ahead, labels, begin, n):
    """Write the best labelling of the restricted problem."""
    y = arrays.size
    for p in range(n, 0, -1):
        y = best_at(domains, ahead, arrays.transposed, y * arrays.stride, p)[1]
        labels[begin + p - 1] = y
