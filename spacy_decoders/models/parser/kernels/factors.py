"""Compiled loops over the discrete templates of arcs, grandparents and siblings.

An attribute of a factor has a random 64-bit code for its role and value. A template sums the codes
of some attributes, and hashes the sum to a row of the weight table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit

ARC_TEMPLATES, GRANDPARENT_TEMPLATES, SIBLING_TEMPLATES = 10, 9, 10

#: The most tokens between head and modifier that have features, counted from the modifier.
BETWEEN = 20

#: The scale of the weights: the optimizer's step size suits dense layers, whose weights are
#: updated at every step, whereas those of a rare template seldom are.
GAIN = 8.0

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FINAL = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(31)
_ONE = np.uint64(1)


class Weights(NamedTuple):
    """The weights of one family, and the codes of attributes."""

    table: NDArray[np.float32]  # (rows,)
    bits: np.uint64  # the binary logarithm of the number of rows
    codes: NDArray[np.uint64]  # (roles, values)
    gradient: NDArray[np.float32]  # (rows,), or any if `amount` is 0
    amount: np.float32  # added to the gradient of a row for each occurrence


class Tokens(NamedTuple):
    """The attributes of a sentence of n tokens that templates use; the root is 0."""

    tags: NDArray[np.int32]  # (n + 1,)
    words: NDArray[np.uint64]  # (n + 1,), hashes
    labels: NDArray[np.int32]  # (n + 1, n + 1), the best label of each arc


@jit(inline="always")
def _row(code, template, bits):
    """Hash a sum of codes and the template's number to a row."""
    x = (code + np.uint64(template) * _MIX) * _MIX
    x ^= x >> _SHIFT
    x *= _FINAL
    return np.int64(x >> (np.uint64(64) - bits))


@jit(inline="always")
def _worth(table, bits, joined, count, gradient, amount):
    """Return the score of a factor from its templates' codes; add `amount` to the gradient."""
    total = np.float64(0.0)
    for t in range(count):
        total += table[_row(joined[t], t + 1, bits)]
    if amount != 0.0:
        for t in range(count):
            gradient[_row(joined[t], t + 1, bits)] += amount
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

    An arc without a label, -1, gets an upper bound: `most`, a bound on each weight, for every
    template.
    """
    table, bits, codes, gradient, amount = weights
    tags, words, labels = tokens
    size, last = len(tags), len(tags) - 1
    joined = np.empty(ARC_TEMPLATES, dtype=np.uint64)
    for h in range(size):
        for m in range(1, size):
            if arcs[h, m] == -np.inf:
                continue
            between = min(BETWEEN, abs(h - m) - 1)
            if labels[h, m] < 0:
                arcs[h, m] += GAIN * most * (ARC_TEMPLATES + between)
                continue
            th, tm, label = codes[0, tags[h]], codes[1, tags[m]], codes[3, labels[h, m]]
            before_h, behind_h = codes[4, tags[max(h - 1, 0)]], codes[2, tags[min(h + 1, last)]]
            before_m, behind_m = codes[8, tags[max(m - 1, 0)]], codes[7, tags[min(m + 1, last)]]
            side, far = codes[5, np.int64(h < m) + 2 * np.int64(h == 0)], codes[6, _near(h - m)]
            joined[0] = th + tm + side + far
            joined[1] = words[h] + tm + side
            joined[2] = words[m] + th + side
            joined[3] = words[h] + (words[m] << _ONE) + side
            joined[4] = th + behind_h + before_m + tm + side
            joined[5] = before_h + th + tm + behind_m + side
            joined[6] = th + tm + label + side
            joined[7] = label + side + far
            joined[8] = words[h] + label + side
            joined[9] = words[m] + label + side
            score = _worth(table, bits, joined, ARC_TEMPLATES, gradient, amount)
            step = 1 if m < h else -1
            for i in range(1, between + 1):
                code = th + tm + codes[2, tags[m + step * i]] + codes[5, np.int64(h < m)]
                row = _row(code, ARC_TEMPLATES + 1, bits)
                score += table[row] * GAIN
                if amount != 0.0:
                    gradient[row] += amount
            arcs[h, m] += score


@jit()
def score_grandparents(weights, tokens, allowed, window):
    """Return dense (n + 1)^3 scores of all chains g -> h -> m of allowed arcs; 0 elsewhere."""
    table, bits, codes, gradient, amount = weights
    tags, _, labels = tokens
    size = len(tags)
    scores = np.zeros((size, size, size))
    joined = np.empty(GRANDPARENT_TEMPLATES, dtype=np.uint64)
    for h in range(1, size):
        for g in range(size):
            if not allowed[g, h]:
                continue
            for m in range(1, size):
                if not allowed[h, m] or m == g:
                    continue
                tg, th, tm = codes[0, tags[g]], codes[1, tags[h]], codes[2, tags[m]]
                upper, lower = codes[3, labels[g, h]], codes[4, labels[h, m]]
                order = codes[5, (g < h) * 4 + (h < m) * 2 + (g < m)]
                joined[0] = tg + th + tm + order
                joined[1] = tg + tm + order
                joined[2] = upper + lower + order
                joined[3] = upper + lower + th
                joined[4] = upper + lower + tg
                joined[5] = upper + lower + tm
                joined[6] = upper + tm + order
                joined[7] = tg + lower + order
                joined[8] = tg + th + lower + order
                worth = _worth(table, bits, joined, GRANDPARENT_TEMPLATES, gradient, amount)
                scores[g, h, m] = worth
    return scores


@jit()
def score_siblings(weights, tokens, allowed, window):
    """Return dense (n + 1)^3 scores of pairs of allowed modifiers within the window; 0 elsewhere.

    Pairs of the root's modifiers are not scored, since a sentence has one root.
    """
    table, bits, codes, gradient, amount = weights
    tags, words, labels = tokens
    size = len(tags)
    scores = np.zeros((size, size, size))
    joined = np.empty(SIBLING_TEMPLATES, dtype=np.uint64)
    for h in range(1, size):
        for a in range(1, size):
            if not allowed[h, a]:
                continue
            for b in range(a + 1, min(size, a + window + 1)):
                if not allowed[h, b]:
                    continue
                th, ta, tb = codes[0, tags[h]], codes[1, tags[a]], codes[2, tags[b]]
                la, lb = codes[3, labels[h, a]], codes[4, labels[h, b]]
                side, gap = codes[5, (h < a) + 2 * (h < b)], codes[6, _near(b - a)]
                joined[0] = th + ta + tb + side
                joined[1] = ta + tb + side
                joined[2] = la + lb + side
                joined[3] = la + lb + th
                joined[4] = la + lb + ta + tb
                joined[5] = la + tb + th + side
                joined[6] = ta + lb + th + side
                joined[7] = la + lb + gap + side
                joined[8] = words[h] + la + lb
                joined[9] = words[a] + (words[b] << _ONE) + side
                worth = _worth(table, bits, joined, SIBLING_TEMPLATES, gradient, amount)
                scores[h, a, b] = worth
    return scores
