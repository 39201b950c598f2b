"""Compiled loops over the discrete templates of arcs, grandparents and siblings.

An attribute of a factor is a random 64-bit code of its role and value. A template adds the codes
of some attributes, and mixes the sum into a row of the weight table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import internal, jit

#: Tokens between head and modifier that have features, counted from the modifier.
BETWEEN = 20

#: Scale of the weights. An optimizer's step size suits dense layers, whose weights change at every
#: step; those of a rare template change seldom, and so are scaled up.
GAIN = 8.0

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FINAL = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(31)
_ONE = np.uint64(1)


class Weights(NamedTuple):
    """The weights of one family, and how a template's row is found."""

    table: NDArray[np.float32]  # (rows,)
    bits: np.uint64  # binary digits of a row's number
    codes: NDArray[np.uint64]  # (roles, values)
    templates: NDArray[np.int64]  # (templates, places), the attributes that each joins; -1: none
    gradient: NDArray[np.float32]  # (rows,), or any where `amount` is 0
    amount: np.float32  # what each occurrence of a row adds to its gradient


class Tokens(NamedTuple):
    """The attributes of a sentence of n tokens that templates use, the root being 0."""

    tags: NDArray[np.int32]  # (n + 1,)
    words: NDArray[np.uint64]  # (n + 1,), hashes
    labels: NDArray[np.int32]  # (n + 1, n + 1), the best label of each arc


@jit(inline="always")
def _row(code, template, bits):
    """Mix a sum of codes and the template's number into a row."""
    x = (code + np.uint64(template) * _MIX) * _MIX
    x ^= x >> _SHIFT
    x *= _FINAL
    return np.int64(x >> (np.uint64(64) - bits))


@internal()
def _worth(weights, of):
    """Return the score of a factor with the attributes `of`; count its rows for the gradient."""
    table, templates, gradient = weights.table, weights.templates, weights.gradient
    total = np.float64(0.0)
    for t in range(len(templates)):
        code = np.uint64(0)
        for place in range(templates.shape[1]):
            if templates[t, place] >= 0:
                code += of[templates[t, place]]
        row = _row(code, t + 1, weights.bits)
        total += table[row]
        if weights.amount != 0.0:
            gradient[row] += weights.amount
    return total * GAIN


@jit(inline="always")
def _near(distance):
    """Return a class from 0 to 5 for a distance."""
    distance = abs(distance)
    if distance <= 3:
        return distance - 1
    if distance <= 6:
        return 3
    return 4 if distance <= 10 else 5


@jit()
def score_arcs(weights, tokens, most, arcs):
    """Add the template scores to each arc that is not forbidden, in place.

    An arc without a label, -1, gets an upper bound: `most`, which is one on each weight, for every
    row.
    """
    codes, tags, words, labels = weights.codes, tokens.tags, tokens.words, tokens.labels
    size, last = len(tags), len(tags) - 1
    of = np.empty(12, dtype=np.uint64)
    for h in range(size):
        for m in range(1, size):
            if arcs[h, m] == -np.inf:
                continue
            between = min(BETWEEN, abs(h - m) - 1)
            if labels[h, m] < 0:
                arcs[h, m] += GAIN * most * (len(weights.templates) + between)
                continue
            of[0], of[1], of[2] = codes[0, tags[h]], codes[1, tags[m]], codes[3, labels[h, m]]
            of[3], of[4] = codes[4, tags[max(h - 1, 0)]], codes[2, tags[min(h + 1, last)]]
            of[5], of[6] = codes[8, tags[max(m - 1, 0)]], codes[7, tags[min(m + 1, last)]]
            of[7], of[8] = codes[5, np.int64(h < m) + 2 * np.int64(h == 0)], codes[6, _near(h - m)]
            of[9], of[10], of[11] = words[h], words[m], words[m] << _ONE
            score = _worth(weights, of)
            step = 1 if m < h else -1
            for i in range(1, between + 1):
                code = of[0] + of[1] + codes[2, tags[m + step * i]] + codes[5, np.int64(h < m)]
                row = _row(code, len(weights.templates) + 1, weights.bits)
                score += weights.table[row] * GAIN
                if weights.amount != 0.0:
                    weights.gradient[row] += weights.amount
            arcs[h, m] += score


@jit()
def score_grandparents(weights, tokens, allowed, window):
    """Dense (n + 1)^3 scores of all chains g -> h -> m of allowed arcs; 0 elsewhere."""
    codes, tags, labels = weights.codes, tokens.tags, tokens.labels
    size = len(tags)
    scores = np.zeros((size, size, size))
    of = np.empty(6, dtype=np.uint64)
    for h in range(1, size):
        for g in range(size):
            if not allowed[g, h]:
                continue
            for m in range(1, size):
                if allowed[h, m] and m != g:
                    of[0], of[1], of[2] = codes[0, tags[g]], codes[1, tags[h]], codes[2, tags[m]]
                    of[3], of[4] = codes[3, labels[g, h]], codes[4, labels[h, m]]
                    of[5] = codes[5, (g < h) * 4 + (h < m) * 2 + (g < m)]
                    scores[g, h, m] = _worth(weights, of)
    return scores


@jit()
def score_siblings(weights, tokens, allowed, window):
    """Dense (n + 1)^3 scores of pairs of allowed modifiers within the window; 0 elsewhere.

    No pairs of the root's modifiers: a sentence has one root.
    """
    codes, tags, words, labels = weights.codes, tokens.tags, tokens.words, tokens.labels
    size = len(tags)
    scores = np.zeros((size, size, size))
    of = np.empty(10, dtype=np.uint64)
    for h in range(1, size):
        for a in range(1, size):
            if not allowed[h, a]:
                continue
            for b in range(a + 1, min(size, a + window + 1)):
                if allowed[h, b]:
                    of[0], of[1], of[2] = codes[0, tags[h]], codes[1, tags[a]], codes[2, tags[b]]
                    of[3], of[4] = codes[3, labels[h, a]], codes[4, labels[h, b]]
                    of[5], of[6] = codes[5, (h < a) + 2 * (h < b)], codes[6, _near(b - a)]
                    of[7], of[8], of[9] = words[h], words[a], words[b] << _ONE
                    scores[h, a, b] = _worth(weights, of)
    return scores
