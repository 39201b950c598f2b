"""Hashed features of arcs, grandparents, siblings and larger parts of a tree.

Every part gives a handful of indices into one table of weights; its score is their sum.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SIZE = 1 << 21
MASK = SIZE - 1
ARC, CHAIN, PAIR, LARGE = 24, 12, 12, 8  # templates of each kind of part


@njit(cache=True, inline="always")
def _mix(a, b):
    x = (a * 0x9E3779B1 + b + 0x7F4A7C15) & 0x7FFFFFFFFFFF
    return ((x ^ (x >> 23)) * 0x85EBCA6B) & 0x7FFFFFFFFFFF


@njit(cache=True, inline="always")
def _slot(template, a, b, c, d):
    x = _mix(_mix(_mix(_mix(template * 7919 + 17, a), b), c), d)
    return (x ^ (x >> 19)) & MASK


@njit(cache=True, inline="always")
def _bucket(h, m):
    """Direction and length, 16 buckets."""
    d = abs(h - m)
    length = d if d < 5 else (5 if d < 8 else (6 if d < 15 else 7))
    return length * 2 + (1 if h < m else 0)


@njit(cache=True)
def arc_features(forms, tags, h, m, out):
    """`forms` and `tags` have the root at 0 and a boundary after the last token."""
    fh, fm, th, tm = forms[h], forms[m], tags[h], tags[m]
    hl, hr = (tags[h - 1] if h > 0 else 0), tags[h + 1]
    ml, mr = tags[m - 1], tags[m + 1]
    b = _bucket(h, m)
    s = b & 1
    out[0] = _slot(0, th, tm, b, 0)
    out[1] = _slot(1, fh, tm, b, 0)
    out[2] = _slot(2, th, fm, b, 0)
    out[3] = _slot(3, fh, fm, s, 0)
    out[4] = _slot(4, fm, b, 0, 0)
    out[5] = _slot(5, fh, b, 0, 0)
    out[6] = _slot(6, th * 32 + tm, hr, ml, b)
    out[7] = _slot(7, th * 32 + tm, hl, mr, b)
    out[8] = _slot(8, th * 32 + tm, hl, ml, b)
    out[9] = _slot(9, th * 32 + tm, hr, mr, b)
    out[10] = _slot(10, th * 32 + tm, fh, s, 0)
    out[11] = _slot(11, th * 32 + tm, fm, s, 0)
    out[12] = _slot(12, th * 32 + tm, hr * 32 + ml, s, 0)
    out[13] = _slot(13, th, tm, s, 0)
    out[14] = _slot(14, tm * 32 + ml, mr, b, 0)
    seen = np.int64(0)
    low, high = min(h, m), max(h, m)
    for k in range(low + 1, high):
        seen |= np.int64(1) << tags[k]
    out[15] = _slot(15, th * 32 + tm, seen, s, 0)
    commas = 0
    for k in range(low + 1, high):
        commas += tags[k] == 2
    out[16] = _slot(16, th * 32 + tm, min(commas, 3), s, 0)
    out[17] = _slot(17, th, fm, tm * 32 + ml, s)
    out[18] = _slot(18, fh, tm, th * 32 + hr, s)
    out[19] = _slot(19, th * 32 + tm, ml * 32 + mr, s, 0)
    out[20] = _slot(20, th * 32 + tm, hl * 32 + hr, s, 0)
    out[21] = _slot(21, tm, fm, ml * 32 + mr, s)
    out[22] = _slot(22, th, tm, abs(h - m), s)
    out[23] = _slot(23, th * 32 + tm, hl * 32 + hr, ml * 32 + mr, s)


@njit(cache=True)
def chain_features(forms, tags, g, h, m, out):
    tg, th, tm = tags[g], tags[h], tags[m]
    a, b = _bucket(g, h), _bucket(h, m)
    order = (a & 1) * 2 + (b & 1)
    order = order * 2 + (1 if g < m else 0)
    t = (tg * 32 + th) * 32 + tm
    out[0] = _slot(40, t, order, 0, 0)
    out[1] = _slot(41, t, a, b, 0)
    out[2] = _slot(42, forms[g], th * 32 + tm, order, 0)
    out[3] = _slot(43, forms[h], tg * 32 + tm, order, 0)
    out[4] = _slot(44, forms[m], tg * 32 + th, order, 0)
    out[5] = _slot(45, tg * 32 + tm, order, 0, 0)
    out[6] = _slot(46, forms[g], forms[m], order, 0)
    out[7] = _slot(47, forms[g], tm, order, 0)
    out[8] = _slot(48, forms[m], tg, order, 0)
    out[9] = _slot(49, t, order, tags[m + 1], tags[m - 1])
    out[10] = _slot(50, t, order, tags[h + 1], tags[h - 1] if h > 0 else 0)
    out[11] = _slot(51, tg * 32 + tm, _bucket(g, m), order, 0)


@njit(cache=True)
def pair_features(forms, tags, h, a, b, out):
    th, ta, tb = tags[h], tags[a], tags[b]
    order = (1 if h < a else 0) + (1 if h < b else 0)
    gap = _bucket(a, b)
    t = (th * 32 + ta) * 32 + tb
    out[0] = _slot(60, t, order, 0, 0)
    out[1] = _slot(61, t, order, gap, 0)
    out[2] = _slot(62, ta * 32 + tb, order, gap, 0)
    out[3] = _slot(63, forms[a], tb, order, th)
    out[4] = _slot(64, ta, forms[b], order, th)
    out[5] = _slot(65, forms[a], forms[b], order, 0)
    out[6] = _slot(66, forms[h], ta * 32 + tb, order, 0)
    out[7] = _slot(67, ta * 32 + tb, order, 0, 0)
    out[8] = _slot(68, forms[a], tb, order, 0)
    out[9] = _slot(69, ta, forms[b], order, 0)
    out[10] = _slot(70, t, order, tags[a + 1], tags[b - 1])
    out[11] = _slot(71, t, order, min(abs(h - a), 3), min(abs(h - b), 3))


@njit(cache=True)
def large_features(kind, forms, tags, tokens, out):
    """Parts of more arcs, `tokens` being its head and modifiers, or its chain from the top."""
    code = kind
    order = 0
    for i in range(len(tokens)):
        code = _mix(code, tags[tokens[i]])
        if i:
            order = order * 2 + (1 if tokens[0] < tokens[i] else 0)
    first, last = tokens[0], tokens[len(tokens) - 1]
    out[0] = _slot(80, code, order, kind, 0)
    out[1] = _slot(81, code, order, min(abs(first - last), 6), kind)
    out[2] = _slot(82, code, order, forms[first], kind)
    out[3] = _slot(83, code, order, forms[last], kind)
    out[4] = _slot(84, tags[first] * 32 + tags[last], order, kind, len(tokens))
    out[5] = _slot(85, code, order, forms[tokens[1]], kind)
    out[6] = _slot(86, forms[first], forms[last], order, kind)
    out[7] = _slot(87, code, kind, len(tokens), 0)


@njit(cache=True)
def score_arcs(forms, tags, weights):
    size = len(tags) - 1
    out = np.empty(ARC, np.int64)
    scores = np.zeros((size, size))
    for h in range(size):
        for m in range(1, size):
            if h != m:
                arc_features(forms, tags, h, m, out)
                total = 0.0
                for i in range(ARC):
                    total += weights[out[i]]
                scores[h, m] = total
    return scores


@njit(cache=True)
def score_chains(forms, tags, weights, allowed):
    size = len(tags) - 1
    out = np.empty(CHAIN, np.int64)
    scores = np.zeros((size, size, size))
    for h in range(1, size):
        for g in range(size):
            if not allowed[g, h]:
                continue
            for m in range(1, size):
                if allowed[h, m] and g != m:
                    chain_features(forms, tags, g, h, m, out)
                    total = 0.0
                    for i in range(CHAIN):
                        total += weights[out[i]]
                    scores[g, h, m] = total
    return scores


@njit(cache=True)
def score_pairs(forms, tags, weights, allowed, window):
    size = len(tags) - 1
    out = np.empty(PAIR, np.int64)
    scores = np.zeros((size, size, size))
    for h in range(size):
        for a in range(1, size):
            if not allowed[h, a]:
                continue
            for b in range(a + 1, min(size, a + 1 + window)):
                if allowed[h, b]:
                    pair_features(forms, tags, h, a, b, out)
                    total = 0.0
                    for i in range(PAIR):
                        total += weights[out[i]]
                    scores[h, a, b] = total
    return scores


@njit(cache=True)
def score_large(kind, forms, tags, weights, parts):
    out = np.empty(LARGE, np.int64)
    scores = np.zeros(len(parts))
    for p in range(len(parts)):
        large_features(kind, forms, tags, parts[p], out)
        for i in range(LARGE):
            scores[p] += weights[out[i]]
    return scores


@njit(cache=True)
def add_tree(forms, tags, heads, by, time, weights, totals, families, window):
    """Add `by` to the weights of all parts of a tree; `totals` sums them over time.

    `families`: 1 arcs, 2 grandparents, 4 siblings.
    """
    size = len(tags) - 1
    out = np.empty(ARC, np.int64)
    for m in range(1, size):
        h = heads[m - 1]
        if families & 1:
            arc_features(forms, tags, h, m, out)
            _add(out, ARC, by, time, weights, totals)
        if families & 2 and h > 0:
            chain_features(forms, tags, heads[h - 1], h, m, out)
            _add(out, CHAIN, by, time, weights, totals)
        if families & 4:
            for b in range(m + 1, min(size, m + 1 + window)):
                if heads[b - 1] == h:
                    pair_features(forms, tags, h, m, b, out)
                    _add(out, PAIR, by, time, weights, totals)


@njit(cache=True)
def add_large(kind, forms, tags, parts, by, time, weights, totals):
    out = np.empty(LARGE, np.int64)
    for p in range(len(parts)):
        large_features(kind, forms, tags, parts[p], out)
        _add(out, LARGE, by, time, weights, totals)


@njit(cache=True)
def _add(out, count, by, time, weights, totals):
    for i in range(count):
        weights[out[i]] += by
        totals[out[i]] += by * time
