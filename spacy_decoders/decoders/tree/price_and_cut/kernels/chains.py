"""Loops over chains: which are bought at given prices, and which may have positive reduced costs.

Scores of chains are upper bounds until they are computed: where a kernel needs exact scores, it
returns the chains that it needs.
"""

import numpy as np

from .....jit import FAST, jit


@jit(fastmath=FAST)
def _children(allowed):
    """Return the lists of the modifiers that each token may have, concatenated."""
    size = allowed.shape[0]
    begin = np.empty(size + 1, dtype=np.int64)
    modifiers = np.empty(size * size, dtype=np.int64)
    count = 0
    for h in range(size):
        begin[h] = count
        for m in range(1, size):
            if allowed[h, m]:
                modifiers[count] = m
                count += 1
    begin[size] = count
    return begin, modifiers


@jit(fastmath=FAST)
def buy(arcs, upper, prices, allowed):
    """Return the arcs' scores plus their prices and the chains they buy; see `pricing`."""
    size = arcs.shape[0]
    begin, modifiers = _children(allowed)
    bought = np.full((size, size), -np.inf)
    for g in range(size):
        for p in range(1, size):
            if not allowed[g, p]:
                continue
            gain = 0.0
            for i in range(begin[p], begin[p + 1]):
                c = modifiers[i]
                gain += max(upper[g, p, c] - prices[p, c], 0.0)
            bought[g, p] = arcs[g, p] + gain + (prices[g, p] if g > 0 else 0.0)
    return bought


@jit(fastmath=FAST)
def subgradient(upper, known, prices, allowed, heads, wanted):
    """Return a subgradient of the bound at its tree, and the number of chains to score.

    An arc of the tree adds its price; each chain that is bought subtracts the price of its lower
    arc, in the tree or not. If chains have to be scored first, their triples are written and the
    subgradient is incomplete.
    """
    size = prices.shape[0]
    slope = np.zeros((size, size))
    count = 0
    for p in range(1, size):
        g = heads[p]
        if g > 0:
            slope[g, p] += 1.0
        for c in range(1, size):
            if allowed[p, c] and upper[g, p, c] > prices[p, c]:
                slope[p, c] -= 1.0
                if not known[g, p, c]:
                    count = _want(wanted, count, g, p, c)
    return slope, count


@jit(fastmath=FAST)
def _want(wanted, count, g, p, c):
    wanted[0, count] = g
    wanted[1, count] = p
    wanted[2, count] = c
    return count + 1


@jit(fastmath=FAST)
def priced(upper, known, prices, short, allowed, column, tolerance, unknown_only):
    """Return the chains without a column that may have a positive reduced cost.

    `short` is the negative reduced cost of each arc; see `pricing.priced`.
    """
    size = prices.shape[0]
    begin, modifiers = _children(allowed)
    found = np.empty((3, 64), dtype=np.int64)
    count = 0
    for g in range(size):
        for p in range(1, size):
            if not allowed[g, p]:
                continue
            gain = 0.0
            for i in range(begin[p], begin[p + 1]):
                c = modifiers[i]
                if column[g, p, c] < 0:
                    gain += max(upper[g, p, c] - prices[p, c], 0.0)
            if gain <= short[g, p] + tolerance:
                continue
            for i in range(begin[p], begin[p + 1]):
                c = modifiers[i]
                if (
                    column[g, p, c] < 0
                    and upper[g, p, c] - prices[p, c] > tolerance
                    and not (unknown_only and known[g, p, c])
                ):
                    if count == found.shape[1]:
                        larger = np.empty((3, 2 * count), dtype=np.int64)
                        larger[:, :count] = found
                        found = larger
                    count = _want(found, count, g, p, c)
    return found[:, :count].copy()


@jit(fastmath=FAST)
def _hangs_below(heads, token, top):
    while token > 0 and token != top:
        token = heads[token]
    return token == top


@jit(fastmath=FAST)
def _crosses(heads, h, m):
    """Return whether the arc h -> m crosses an arc of the tree other than that of m."""
    low, high = min(h, m), max(h, m)
    for other in range(1, heads.shape[0]):
        if other != m:
            left, right = min(heads[other], other), max(heads[other], other)
            if (low < left < high < right) or (left < low < right < high):
                return True
    return False


@jit(fastmath=FAST)
def _score_of(arcs, upper, heads, h, m):
    """Return the score of the arc h -> m and of the chains that it is part of."""
    score = arcs[h, m]
    if h > 0:
        score += upper[heads[h], h, m]
    for c in range(1, heads.shape[0]):
        if heads[c] == m:
            score += upper[h, m, c]
    return score


@jit(fastmath=FAST)
def local_search(arcs, upper, known, allowed, heads, single_root, projective, wanted):
    """Improve single heads until none can be; return the number of chains to score.

    The scores of the chains that a move adds must be known: if they are not, the chains are
    written and the search ends.
    """
    size = arcs.shape[0]
    quiet, m = 0, 0
    while quiet < size - 1:
        m = m % (size - 1) + 1
        quiet += 1
        if single_root and heads[m] == 0:
            continue
        now = _score_of(arcs, upper, heads, heads[m], m)
        best, to = now + 1e-9 * max(1.0, abs(now)), -1
        for h in range(1 if single_root else 0, size):
            if h == heads[m] or not allowed[h, m] or _hangs_below(heads, h, m):
                continue
            score = _score_of(arcs, upper, heads, h, m)
            if score > best and not (projective and _crosses(heads, h, m)):
                best, to = score, h
        if to < 0:
            continue
        count = 0
        if to > 0 and not known[heads[to], to, m]:
            count = _want(wanted, count, heads[to], to, m)
        for c in range(1, size):
            if heads[c] == m and not known[to, m, c]:
                count = _want(wanted, count, to, m, c)
        if count > 0:
            return count
        heads[m] = to
        quiet = 0
    return 0
