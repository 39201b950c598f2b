"""Pricing: which pairs of labels have a positive reduced cost (section 4.3)."""

import numpy as np

from .....jit import jit, uncounted
from .....simd import (
    add,
    at_least,
    fill64,
    first_lane,
    fold_largest,
    keep_lanes,
    largest,
    load64,
    maximum,
    multiply,
    select_greater,
    select_lanes,
    store,
    subtract,
)
from ...kernels.layout import BLOCK, FORBIDDEN, emissions64
from .restricted import BOTH, SPLIT, best_at

__all__ = ["price"]


@uncounted()
def price(arrays, state, begin, n, least):
    """Add both labels of every pair whose reduced cost is above `least` (section 4.3).

    Returns whether any label joins, and the sum of the largest reduced costs: an upper bound on
    the difference between the best score and that of the restricted problem.
    """
    domains, ahead, behind = state.domains, state.ahead, state.behind
    both = arrays.mode == BOTH
    bar = np.float32(2.0 * least if both else least)
    total = 0.0
    for p in range(n + 1):
        stale = ahead.moved[p] or bar <= 0 or domains.grown[min(p + 1, n)]
        stale = stale or (p > 0 and ahead.moved[p - 1])
        stale = stale or (both and (behind.moved[p + 1] or (p < n and behind.moved[p + 2])))
        if not stale:
            continue
        if 0 < p < n:
            total += price_pairs(arrays, state, begin, p, bar)
        elif p == n:
            total += price_end(arrays, domains, ahead, arrays.transposed, begin, n, bar)
        elif both:
            total += price_end(arrays, domains, behind, arrays.transitions, begin, 1, bar)
    ahead.moved[0] = behind.moved[n + 1] = 0
    found = False
    for p in range(1, n + 1):
        for block in range(domains.inside.shape[1]):
            found |= (domains.joining[p, block] & ~domains.inside[p, block]) != 0
    return found, total / 2.0 if both else total


@uncounted()
def price_end(arrays, domains, messages, table, begin, p, bar):
    """Price the labels of the first or the last token; return the largest reduced cost or 0."""
    size, stride, width = arrays.size, arrays.stride, messages.rows.shape[1]
    at = size * stride
    best = best_at(domains, messages, table, at, p)[0] + messages.tops[p]
    worst = np.float32(0)
    for block in range(0, size, BLOCK):
        score = emissions64(arrays.emissions, (begin + p - 1) * size, block, size)
        score = add(load64(messages.rows, p * width + block), score)
        cost = subtract(add(score, load64(table, at + block)), fill64(best))
        if arrays.mode == SPLIT:
            cost = subtract(cost, charge(arrays, domains, begin, p, block))
        bits = at_least(cost, fill64(bar)) & ~domains.inside[p, block // BLOCK]
        domains.joining[p, block // BLOCK] |= bits
        worst = max(worst, largest(fold_largest(keep_lanes(bits, cost))))
    return np.float64(worst)


@jit(inline="always")
def charge(arrays, domains, begin, p, block):
    """Return how much of the emissions of 64 labels is charged to the pair with the next token.

    Half of the difference to the domain's first label for labels outside the domain (equation 9).
    """
    row = (begin + p - 1) * arrays.size
    own = emissions64(arrays.emissions, row, block, arrays.size)
    lack = subtract(own, fill64(arrays.emissions[row + domains.labels[p, 0]]))
    nothing = fill64(np.float32(0))
    inside = domains.inside[p, block // BLOCK] if p > 1 else np.int64(-1)
    return select_lanes(inside, nothing, multiply(fill64(np.float32(0.5)), lack))


@uncounted()
def part(arrays, state, begin, p):
    """Split the reduced cost of the pairs of tokens p and p + 1 (equation 13).

    That of labels x and y is ``left[x] + weight * transitions[x, y] + right[y]``, where in mode
    `BOTH` the weight is 2 and all is twice as much. Returns the largest of `left`.
    """
    size, width, ahead, behind = arrays.size, len(state.left), state.ahead, state.behind
    at, after = p * width, (p + 1) * width
    top, bottom = fill64(ahead.tops[p]), fill64(behind.tops[p + 1])
    peak = fill64(FORBIDDEN)
    for block in range(0, size, BLOCK):
        own = emissions64(arrays.emissions, (begin + p - 1) * size, block, size)
        left = subtract(add(load64(ahead.rows, at + block), own), top)
        own = emissions64(arrays.emissions, (begin + p) * size, block, size)
        passed = load64(ahead.rows, after + block)
        if arrays.mode == BOTH:
            left = subtract(left, load64(behind.rows, at + block))
            right = subtract(
                subtract(add(load64(behind.rows, after + block), own), bottom), passed
            )
        else:
            right = subtract(fill64(np.float32(0)), passed)
            if arrays.mode == SPLIT:
                left = subtract(left, charge(arrays, state.domains, begin, p, block))
                right = add(right, charge(arrays, state.domains, begin, p + 1, block))
            # a label that is forbidden here needs no dual
            right = select_greater(own, fill64(FORBIDDEN), right, own)
        store(state.left, block, left)
        store(state.right, block, right)
        peak = maximum(left, peak)
    return largest(fold_largest(peak))


@uncounted()
def price_pairs(arrays, state, begin, p, bar):
    """Price the pairs of labels of tokens p and p + 1; return the largest reduced cost or 0.

    A label y of token p + 1 is looked at only if its cost could be positive together with the
    best left part and with its largest transition; then all x at p are, 64 at a time.
    """
    size, stride, domains = arrays.size, arrays.stride, state.domains
    twice = arrays.mode == BOTH
    peak = part(arrays, state, begin, p)
    worst = fill64(np.float32(0))
    for block in range(0, size, BLOCK):
        most = load64(arrays.most_in, block)
        bound = add(load64(state.right, block), fill64(peak))
        bound = add(bound, add(most, most) if twice else most)
        candidates = at_least(bound, fill64(bar))
        while candidates:
            lane = first_lane(candidates)
            candidates &= candidates - 1
            y = block + lane
            known = (domains.inside[p + 1, block // BLOCK] >> lane) & 1
            right = fill64(state.right[y])
            for column in range(0, size, BLOCK):
                step = load64(arrays.transposed, y * stride + column)
                cost = add(add(load64(state.left, column), right), step)
                if twice:
                    cost = add(cost, step)
                bits = at_least(cost, fill64(bar))
                bits &= ~(domains.inside[p, column // BLOCK] & -known)
                if bits:
                    worst = maximum(keep_lanes(bits, cost), worst)
                    domains.joining[p, column // BLOCK] |= bits
                    domains.joining[p + 1, block // BLOCK] |= np.int64(1) << lane
    return np.float64(largest(fold_largest(worst)))
