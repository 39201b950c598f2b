r"""Column generation over flat arrays: figure 1 of Belanger et al. 2012, in float32.

With the messages of :mod:`.restricted`, the reduced cost of labels x and y of tokens p and p + 1
is half of

.. math::

    a_p(x) + E_p(x) + 2\,T(x, y) + E_{p+1}(y) + b_{p+1}(y) - b_p(x) - a_{p+1}(y) \quad (12).

With messages from the left alone it is ``a_p(x) + E_p(x) + T(x, y) - a_{p+1}(y)`` (8), where half
of each emission may be charged to either side (9). Labels join the domains if it is positive.

Nothing is proven here: the proof of :mod:`...proof` detects rounding errors.
"""

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
from ...kernels.layout import BLOCK, FORBIDDEN, emissions64, longest_of
from .restricted import (
    BOTH,
    LEFT,
    SPLIT,
    ChainArrays,
    adopt,
    best_at,
    close,
    open_domains,
    send,
    trace,
    workspace,
)

__all__ = ["BOTH", "LEFT", "SPLIT", "ChainArrays", "decode", "legal_emissions"]

#: The least reduced cost that counts as positive.
POSITIVE = np.float32(1e-30)

#: Dense decoding is faster if domains grow beyond this share of the labels plus this number.
SHARE, SPARE = 0.2, 8

# --- pricing -----------------------------------------------------------------------


@uncounted()
def price(arrays, domains, ahead, behind, parts, begin, n):
    """Mark both labels of every pair with a positive reduced cost as joining (section 4.3).

    Returns whether any label joins, and the sum of the largest reduced costs: an upper bound on
    the best score less that of the restricted problem.
    """
    both = arrays.mode == BOTH
    total = 0.0
    for p in range(n + 1):
        stale = ahead.moved[p] or domains.grown[min(p + 1, n)]
        stale = stale or (p > 0 and ahead.moved[p - 1])
        stale = stale or (both and (behind.moved[p + 1] or (p < n and behind.moved[p + 2])))
        if not stale:
            continue
        if 0 < p < n:
            total += price_pairs(arrays, domains, ahead, behind, parts, begin, p)
        elif p == n:
            total += price_end(arrays, domains, ahead, arrays.transposed, begin, n)
        elif both:
            total += price_end(arrays, domains, behind, arrays.transitions, begin, 1)
    ahead.moved[0] = behind.moved[n + 1] = 0
    found = False
    for p in range(1, n + 1):
        for block in range(domains.inside.shape[1]):
            found |= (domains.joining[p, block] & ~domains.inside[p, block]) != 0
    return found, total / 2.0 if both else total


@jit(inline="always")
def charge(arrays, domains, begin, p, block):
    """Return the part of 64 labels' emissions that is charged to pairs with the next token.

    For labels outside the domain, it is half of the difference to its first label (equation 9).
    """
    row = (begin + p - 1) * arrays.size
    own = emissions64(arrays.emissions, row, block, arrays.size)
    lack = subtract(own, fill64(arrays.emissions[row + domains.labels[p, 0]]))
    nothing = fill64(np.float32(0))
    inside = domains.inside[p, block // BLOCK] if p > 1 else np.int64(-1)
    return select_lanes(inside, nothing, multiply(fill64(np.float32(0.5)), lack))


@uncounted()
def price_end(arrays, domains, messages, table, begin, p):
    """Price the labels of the first or the last token; return the largest reduced cost, or 0."""
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
        bits = at_least(cost, fill64(POSITIVE)) & ~domains.inside[p, block // BLOCK]
        domains.joining[p, block // BLOCK] |= bits
        worst = max(worst, largest(fold_largest(keep_lanes(bits, cost))))
    return np.float64(worst)


@uncounted()
def part(arrays, domains, ahead, behind, parts, begin, p):
    """Split the reduced costs of pairs of tokens p and p + 1 into parts of the two labels.

    That of labels x and y is ``parts[0, x] + weight * T[x, y] + parts[1, y]``; in mode `BOTH` the
    weight is 2, and all is twice as large. Returns the largest left part.
    """
    size, width = arrays.size, parts.shape[1]
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
                left = subtract(left, charge(arrays, domains, begin, p, block))
                right = add(right, charge(arrays, domains, begin, p + 1, block))
            # a label that is forbidden here needs no dual
            right = select_greater(own, fill64(FORBIDDEN), right, own)
        store(parts, block, left)
        store(parts, width + block, right)
        peak = maximum(left, peak)
    return largest(fold_largest(peak))


@uncounted()
def price_pairs(arrays, domains, ahead, behind, parts, begin, p):
    """Price the pairs of labels of tokens p and p + 1; return the largest reduced cost, or 0.

    A label y of token p + 1 is priced only if its cost could be positive with the largest left
    part and its largest transition (13); then it is priced with all x at p, 64 at a time.
    """
    size, stride, width = arrays.size, arrays.stride, parts.shape[1]
    twice = arrays.mode == BOTH
    peak = part(arrays, domains, ahead, behind, parts, begin, p)
    worst = fill64(np.float32(0))
    for block in range(0, size, BLOCK):
        most = load64(arrays.most_in, block)
        bound = add(load64(parts, width + block), fill64(peak))
        bound = add(bound, add(most, most) if twice else most)
        candidates = at_least(bound, fill64(POSITIVE))
        while candidates:
            lane = first_lane(candidates)
            candidates &= candidates - 1
            y = block + lane
            known = (domains.inside[p + 1, block // BLOCK] >> lane) & 1
            right = fill64(parts[1, y])
            for column in range(0, size, BLOCK):
                step = load64(arrays.transposed, y * stride + column)
                cost = add(add(load64(parts, column), right), step)
                if twice:
                    cost = add(cost, step)
                bits = at_least(cost, fill64(POSITIVE))
                bits &= ~(domains.inside[p, column // BLOCK] & -known)
                if bits:
                    worst = maximum(keep_lanes(bits, cost), worst)
                    domains.joining[p, column // BLOCK] |= bits
                    domains.joining[p + 1, block // BLOCK] |= np.int64(1) << lane
    return np.float64(largest(fold_largest(worst)))


# --- the method --------------------------------------------------------------------


@uncounted()
def converge(arrays, work, begin, n, gap, limit):
    """Generate columns until the best labelling of the domains is optimal (figure 1).

    `limit` is the most iterations; -1 for none. Returns whether it succeeded, which it does not if
    a token has no label or domains grow too large, and the number of restricted problems solved.
    """
    domains, ahead, behind, parts = work
    if not open_domains(arrays, domains, ahead, behind, begin, n):
        return False, 0
    bound, iterations = np.inf, 0
    while True:
        if arrays.forbids:
            close(arrays, domains, begin, n)
        send(arrays, domains, ahead, begin, n, True)
        if arrays.mode == BOTH:
            send(arrays, domains, behind, begin, n, False)
        at = arrays.size * arrays.stride
        score = np.float64(best_at(domains, ahead, arrays.transposed, at, n)[0])
        for p in range(1, n + 1):
            score += np.float64(ahead.tops[p])
        found, excess = price(arrays, domains, ahead, behind, parts, begin, n)
        iterations += 1
        bound = min(bound, score + excess)
        if not found or iterations == limit or bound - score <= gap:
            return True, iterations
        if adopt(domains, n) > (SHARE * arrays.size + SPARE) * n:
            return False, iterations


@jit()
def decode(arrays, offsets, gap, limit):
    """Decode a batch, with a limit on iterations: see :func:`converge`.

    Returns the labels, int32 **(total,)**, the iterations, **(sentences,)**, and the sentences
    that were not solved.
    """
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    iterations, left = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    work = workspace(longest_of(offsets), arrays.size)
    domains, ahead, _, _ = work
    for s in range(count):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n:
            solved, iterations[s] = converge(arrays, work, begin, n, gap, limit)
            left[s] = not solved
            if solved:
                trace(arrays, domains, ahead, labels, begin, n)
    return labels, iterations, np.flatnonzero(left)


@jit()
def legal_emissions(rows, columns, emissions, offsets, size, stride):
    """Return the emissions with ``-inf`` for labels of no legal labelling of their sentence.

    Also returns the sentence and the token of the first dead end, or -1. `rows` and `columns` are
    the padded transitions and their transpose.
    """
    legal = emissions.copy()
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        for ahead in (True, False):
            table, ends = (columns, rows) if ahead else (rows, columns)
            for j in range(n):
                i = j if ahead else n - 1 - j
                row = (begin + i) * size
                before = row - size if ahead else row + size
                alive, hint = False, np.int64(0)
                for x in range(size):
                    if legal[row + x] == FORBIDDEN:
                        continue
                    if j == 0:
                        allowed = ends[size * stride + x] > FORBIDDEN
                    else:
                        # the predecessor found for the previous label is often legal here too
                        z, at = hint, x * stride
                        allowed = table[at + z] > FORBIDDEN and legal[before + z] > FORBIDDEN
                        z = np.int64(-1)
                        while not allowed and z < size - 1:
                            z += 1
                            if table[at + z] > FORBIDDEN and legal[before + z] > FORBIDDEN:
                                allowed, hint = True, z
                    alive |= allowed
                    if not allowed:
                        legal[row + x] = FORBIDDEN
                if not alive:
                    return legal, s, i
    return legal, np.int64(-1), np.int64(-1)
