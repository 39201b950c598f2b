"""Compiled loops over the discrete templates of non-local factors.

Each family has one function `..._rows` that returns the rows of the weight table for a factor, for
scoring and for learning. An attribute enters a template as a random 64-bit code of its role, codes
are added, and the sum is mixed into a row number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit

ARC_ROWS = 10
GRANDPARENT_ROWS = 9
SIBLING_ROWS = 10

#: Tokens between head and modifier that have features, counted from the modifier.
BETWEEN = 20

#: Scale of the weights. An optimizer's step size suits dense layers, whose weights change at every
#: step; those of a rare template change seldom, and so are scaled up.
GAIN = 8.0

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(31)
_ONE = np.uint64(1)


class Weights(NamedTuple):
    """The weights of one family, and the codes by which a template's row is found."""

    table: NDArray[np.float32]  # (rows,)
    bits: np.uint64  # binary digits of a row's number
    codes: NDArray[np.uint64]  # (roles, values)


class Tokens(NamedTuple):
    """The attributes of a sentence of n tokens that templates use, the root being 0."""

    tags: NDArray[np.int32]  # (n + 1,)
    words: NDArray[np.uint64]  # (n + 1,), hashes
    labels: NDArray[np.int32]  # (n + 1, n + 1), the best label of each arc


@jit(inline="always")
def _row(code, template, bits):
    """Mix a sum of codes and the template's number into a row."""
    x = (code + template * _MIX) * _MIX
    x ^= x >> _SHIFT
    x *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(x >> (np.uint64(64) - bits))


@jit(inline="always")
def _near(distance):
    """Return a class from 0 to 5 for an unsigned distance."""
    if distance < 0:
        distance = -distance
    if distance <= 3:
        return distance - 1
    if distance <= 6:
        return 3
    if distance <= 10:
        return 4
    return 5


@jit(inline="always")
def _arc_rows(rows, codes, bits, tags, words, labels, h, m):
    """Rows of the arc h -> m: words, tags about, label, distance."""
    last = len(tags) - 1
    th, tm, l = codes[0, tags[h]], codes[1, tags[m]], codes[3, labels[h, m]]  # noqa: E741
    after_h, before_h = codes[2, tags[min(h + 1, last)]], codes[4, tags[max(h - 1, 0)]]
    after_m, before_m = codes[7, tags[min(m + 1, last)]], codes[8, tags[max(m - 1, 0)]]
    side = codes[5, np.int64(h < m) + 2 * np.int64(h == 0)]
    far = codes[6, _near(h - m)]
    rows[0] = _row(th + tm + side + far, np.uint64(1), bits)
    rows[1] = _row(words[h] + tm + side, np.uint64(2), bits)
    rows[2] = _row(words[m] + th + side, np.uint64(3), bits)
    rows[3] = _row(words[h] + (words[m] << _ONE) + side, np.uint64(4), bits)
    rows[4] = _row(th + after_h + before_m + tm + side, np.uint64(5), bits)
    rows[5] = _row(before_h + th + tm + after_m + side, np.uint64(6), bits)
    rows[6] = _row(th + tm + l + side, np.uint64(7), bits)
    rows[7] = _row(l + side + far, np.uint64(8), bits)
    rows[8] = _row(words[h] + l + side, np.uint64(9), bits)
    rows[9] = _row(words[m] + l + side, np.uint64(10), bits)


@jit(inline="always")
def _between_row(codes, bits, tags, h, m, between):
    """Row of one token that stands between h and m."""
    side = codes[5, np.int64(h < m)]
    total = codes[0, tags[h]] + codes[1, tags[m]] + codes[2, tags[between]] + side
    return _row(total, np.uint64(11), bits)


@jit(inline="always")
def _grandparent_rows(rows, codes, bits, tag_g, tag_h, tag_m, upper, lower, pattern):
    """Rows of g -> h -> m; `pattern` is their order in the sentence."""
    g, h, m = codes[0, tag_g], codes[1, tag_h], codes[2, tag_m]
    u, l, p = codes[3, upper], codes[4, lower], codes[5, pattern]  # noqa: E741
    rows[0] = _row(g + h + m + p, np.uint64(1), bits)
    rows[1] = _row(g + m + p, np.uint64(2), bits)
    rows[2] = _row(u + l + p, np.uint64(3), bits)
    rows[3] = _row(u + l + h, np.uint64(4), bits)
    rows[4] = _row(u + l + g, np.uint64(5), bits)
    rows[5] = _row(u + l + m, np.uint64(6), bits)
    rows[6] = _row(u + m + p, np.uint64(7), bits)
    rows[7] = _row(g + l + p, np.uint64(8), bits)
    rows[8] = _row(g + h + l + p, np.uint64(9), bits)


@jit(inline="always")
def _grandparent_pattern(g, h, m):
    """Return the order of the three tokens, as a number."""
    return (g < h) * 4 + (h < m) * 2 + (g < m)


@jit(inline="always")
def _sibling_rows(rows, codes, bits, tags, words, labels, h, a, b):
    """Rows of the pair a < b under h."""
    th, ta, tb = codes[0, tags[h]], codes[1, tags[a]], codes[2, tags[b]]
    la, lb = codes[3, labels[h, a]], codes[4, labels[h, b]]
    side = codes[5, (h < a) + 2 * (h < b)]
    gap = codes[6, _near(b - a)]
    rows[0] = _row(th + ta + tb + side, np.uint64(1), bits)
    rows[1] = _row(ta + tb + side, np.uint64(2), bits)
    rows[2] = _row(la + lb + side, np.uint64(3), bits)
    rows[3] = _row(la + lb + th, np.uint64(4), bits)
    rows[4] = _row(la + lb + ta + tb, np.uint64(5), bits)
    rows[5] = _row(la + tb + th + side, np.uint64(6), bits)
    rows[6] = _row(ta + lb + th + side, np.uint64(7), bits)
    rows[7] = _row(la + lb + gap + side, np.uint64(8), bits)
    rows[8] = _row(words[h] + la + lb, np.uint64(9), bits)
    rows[9] = _row(words[a] + (words[b] << _ONE) + side, np.uint64(10), bits)


@jit(inline="always")
def _sum(table, rows, count):
    total = np.float64(0.0)
    for i in range(count):
        total += table[rows[i]]
    return total * GAIN


@jit()
def add_arc_scores(weights, tokens, most, arcs):
    """Add the template scores to each arc that is not forbidden, in place.

    An arc without a label, -1, gets an upper bound: `most`, which is one on each weight, for every
    row.
    """
    table, bits, codes = weights.table, weights.bits, weights.codes
    tags, words, labels = tokens.tags, tokens.words, tokens.labels
    size = len(tags)
    rows = np.empty(ARC_ROWS, dtype=np.int64)
    for h in range(size):
        for m in range(1, size):
            if arcs[h, m] == -np.inf:
                continue
            if labels[h, m] < 0:
                arcs[h, m] += GAIN * most * (ARC_ROWS + min(BETWEEN, abs(h - m) - 1))
                continue
            _arc_rows(rows, codes, bits, tags, words, labels, h, m)
            score = _sum(table, rows, ARC_ROWS)
            step = 1 if m < h else -1
            for i in range(1, min(BETWEEN + 1, abs(h - m))):
                score += table[_between_row(codes, bits, tags, h, m, m + step * i)] * GAIN
            arcs[h, m] += score


@jit()
def score_grandparents(weights, tokens, allowed):
    """Dense (n + 1)^3 scores of all chains of allowed arcs; 0 elsewhere."""
    table, bits, codes = weights.table, weights.bits, weights.codes
    tags, labels = tokens.tags, tokens.labels
    size = len(tags)
    scores = np.zeros((size, size, size))
    rows = np.empty(GRANDPARENT_ROWS, dtype=np.int64)
    for h in range(1, size):
        for g in range(size):
            if not allowed[g, h]:
                continue
            for m in range(1, size):
                if not allowed[h, m] or m == g:
                    continue
                _grandparent_rows(
                    rows, codes, bits, tags[g], tags[h], tags[m],
                    labels[g, h], labels[h, m], _grandparent_pattern(g, h, m),
                )  # fmt: skip
                scores[g, h, m] = _sum(table, rows, GRANDPARENT_ROWS)
    return scores


@jit()
def score_siblings(weights, tokens, allowed, window):
    """Dense (n + 1)^3 scores of pairs of allowed modifiers within the window; 0 elsewhere.

    No pairs of the root's modifiers: a sentence has one root.
    """
    table, bits, codes = weights.table, weights.bits, weights.codes
    tags, words, labels = tokens.tags, tokens.words, tokens.labels
    size = len(tags)
    scores = np.zeros((size, size, size))
    rows = np.empty(SIBLING_ROWS, dtype=np.int64)
    for h in range(1, size):
        for a in range(1, size):
            if not allowed[h, a]:
                continue
            for b in range(a + 1, min(size, a + window + 1)):
                if allowed[h, b]:
                    _sibling_rows(rows, codes, bits, tags, words, labels, h, a, b)
                    scores[h, a, b] = _sum(table, rows, SIBLING_ROWS)
    return scores


@jit()
def add_arcs(weights, tokens, heads, amount):
    """Add `amount` to the rows of all arcs in a tree."""
    table, bits, codes = weights.table, weights.bits, weights.codes
    tags, words, labels = tokens.tags, tokens.words, tokens.labels
    rows = np.empty(ARC_ROWS, dtype=np.int64)
    for m in range(1, len(tags)):
        h = heads[m - 1]
        _arc_rows(rows, codes, bits, tags, words, labels, h, m)
        for i in range(ARC_ROWS):
            table[rows[i]] += amount
        step = 1 if m < h else -1
        for i in range(1, min(BETWEEN + 1, abs(h - m))):
            table[_between_row(codes, bits, tags, h, m, m + step * i)] += amount


@jit()
def add_grandparents(weights, tokens, heads, amount):
    """Add `amount` to the rows of all grandparent chains in a tree."""
    table, bits, codes = weights.table, weights.bits, weights.codes
    tags, labels = tokens.tags, tokens.labels
    rows = np.empty(GRANDPARENT_ROWS, dtype=np.int64)
    for m in range(1, len(tags)):
        h = heads[m - 1]
        if h == 0:
            continue
        g = heads[h - 1]
        _grandparent_rows(
            rows, codes, bits, tags[g], tags[h], tags[m],
            labels[g, h], labels[h, m], _grandparent_pattern(g, h, m),
        )  # fmt: skip
        for i in range(GRANDPARENT_ROWS):
            table[rows[i]] += amount


@jit()
def add_siblings(weights, tokens, heads, window, amount):
    """Add `amount` to the rows of all sibling pairs in a tree."""
    table, bits, codes = weights.table, weights.bits, weights.codes
    tags, words, labels = tokens.tags, tokens.words, tokens.labels
    rows = np.empty(SIBLING_ROWS, dtype=np.int64)
    for a in range(1, len(tags)):
        for b in range(a + 1, min(len(tags), a + window + 1)):
            if heads[a - 1] == heads[b - 1]:
                _sibling_rows(rows, codes, bits, tags, words, labels, heads[a - 1], a, b)
                for i in range(SIBLING_ROWS):
                    table[rows[i]] += amount
