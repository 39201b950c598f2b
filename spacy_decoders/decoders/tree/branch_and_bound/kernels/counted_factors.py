"""Factors that score if at least `need` of their arcs are in the tree.

Their bounds are linear in the arcs. If all arcs are needed for a gain, each arc gets a share of it
(eq. 5 of Qian and Liu, on a simplex). Otherwise the indicator is bounded by a line in the number
of arcs or by a constant, weighted by a single multiplier x <= abs(score): min(1, number / need)
for a gain, and max(0, (number - need + 1) / (size - need + 1)) for a loss (eq. 8, section 5.1).
"""

import numpy as np

from .....jit import internal
from .records import CountedFactors, in_range

INF = np.inf


@internal()
def _all_needed(factors, f):
    size = factors.offsets[f + 1] - factors.offsets[f]
    return factors.score[f] > 0.0 and factors.need[f] == size


@internal(counted=True)
def gather_factors(arcs, scores):
    """Reduce factors to free arcs, and rewrite them as "`score` for at least `need` arcs".

    Arcs outside the mask are removed, and arcs that are a token's only ones are counted as
    present, so that a factor is exact once its arcs are decided. "Between `low` and `high`" is "at
    least low" less "at least high + 1"; a negative score with both of these open is bounded by 0.
    """
    count, total = scores.factor_scores.shape[0], scores.factor_arcs.shape[0]
    offsets, home = np.zeros(2 * count + 1, np.int64), np.empty(2 * total, np.int64)
    heads, modifiers = np.empty(2 * total, np.int32), np.empty(2 * total, np.int32)
    score, need = np.empty(2 * count), np.empty(2 * count, np.int32)
    constant, made = 0.0, 0
    for f in range(count):
        low, high = scores.factor_low[f], scores.factor_high[f]
        value, begin = scores.factor_scores[f], offsets[made]
        at = begin
        for i in range(scores.factor_offsets[f], scores.factor_offsets[f + 1]):
            h, m = scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]
            if arcs.mask[h, m] and arcs.choices[m] > 1:
                heads[at], modifiers[at], home[at] = h, m, i
                at += 1
            elif arcs.mask[h, m]:
                low -= 1
                high -= 1
        free = at - begin
        if high < 0 or low > free or value == 0.0 or (0 < low and high < free and value < 0.0):
            continue
        if low <= 0:
            constant += value
        else:
            offsets[made + 1], score[made], need[made] = at, value, low
            made += 1
        if high < free:
            if low > 0:  # the same arcs once more
                for i in range(free):
                    heads[at + i], modifiers[at + i] = heads[begin + i], modifiers[begin + i]
                    home[at + i] = home[begin + i] + total
                at += free
            offsets[made + 1], score[made], need[made] = at, -value, high + 1
            made += 1
    room = np.empty(total)
    return CountedFactors(offsets[: made + 1], heads, modifiers, score, need, home, constant, room)


@internal()
def settle_factors(factors, stored):
    """Initialise new multipliers, and project all of them onto their feasible set."""
    for f in range(factors.offsets.shape[0] - 1):
        begin, size = factors.offsets[f], factors.offsets[f + 1] - factors.offsets[f]
        every, most, x = _all_needed(factors, f), abs(factors.score[f]), factors.room
        for i in range(size):
            x[i] = stored[factors.home[begin + i]]
            if x[i] < 0.0:
                x[i] = most / size if every else 0.0
        if every:
            project(x, size, most)
        else:
            x[0] = min(x[0], most)
        for i in range(size):
            stored[factors.home[begin + i]] = x[i]


@internal()
def project(x, size, total):
    """Project x[:size] onto {x >= 0, sum = total} (Duchi et al.).

    The threshold is found by discarding negative entries until none is left (Michelot).
    """
    threshold = -INF
    while True:
        above, count = 0.0, 0
        for i in range(size):
            if x[i] > threshold:
                above += x[i]
                count += 1
        if count == 0:  # a rounding error, with huge numbers
            break
        raised = (above - total) / count
        if raised <= threshold or count == 1:
            threshold = max(raised, threshold)
            break
        threshold = raised
    for i in range(size):
        x[i] = max(x[i] - threshold, 0.0)


@internal()
def relax_factors(factors, stored, arcs):
    """Add the bounds of factors to the scores of arcs; return the constant of the bound.

    It is valid for any multipliers: they are clipped so that the shares of a gain add up to it.
    """
    constant = factors.constant
    for f in range(factors.offsets.shape[0] - 1):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, left = factors.score[f], factors.need[f], abs(factors.score[f])
        if not _all_needed(factors, f):
            x = in_range(stored[factors.home[begin]], left)
            if value > 0.0:
                constant += value - x
                each = x / need
            else:
                each = -x / (end - begin - need + 1)
                constant -= each * (need - 1)
            for i in range(begin, end):
                arcs[factors.heads[i], factors.modifiers[i]] += each
            continue
        for i in range(begin, end):
            x = in_range(stored[factors.home[i]], left)
            if i == end - 1:
                x = left
            arcs[factors.heads[i], factors.modifiers[i]] += x
            left -= x
    return constant


@internal()
def _number_in_tree(factors, f, heads, stored):
    """Return how many arcs of a factor a tree has, and the sum of their multipliers."""
    number, paid = 0, 0.0
    for i in range(factors.offsets[f], factors.offsets[f + 1]):
        if heads[factors.modifiers[i]] == factors.heads[i]:
            number += 1
            paid += stored[factors.home[i]]
    return number, paid


@internal()
def step_factors(factors, stored, heads, step):
    """Take a subgradient step; with step 0 return the squared norm of the subgradient."""
    norm, parts = 0.0, factors.room
    for f in range(factors.offsets.shape[0] - 1):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, size = factors.score[f], factors.need[f], end - begin
        number, _ = _number_in_tree(factors, f, heads, stored)
        if not _all_needed(factors, f):
            x = stored[factors.home[begin]]
            if value > 0.0:
                d = number / need - 1.0
            else:
                d = -(number - need + 1.0) / (size - need + 1.0)
            if d == 0.0 or (d > 0.0 and x <= 0.0) or (d < 0.0 and x >= abs(value)):
                continue
            norm += d * d
            if step > 0.0:
                stored[factors.home[begin]] = min(max(x - step * d, 0.0), abs(value))
            continue
        if number == 0 or number == size:
            continue
        norm += number * (1.0 - number / size)
        if step == 0.0:
            continue
        for i in range(begin, end):
            parts[i - begin] = stored[factors.home[i]]
            if heads[factors.modifiers[i]] == factors.heads[i]:
                parts[i - begin] -= step
        project(parts, size, value)
        for i in range(begin, end):
            stored[factors.home[i]] = parts[i - begin]
    return norm


@internal()
def add_factor_gaps(factors, stored, heads, gaps):
    """Add to each arc the gap between bound and score of its factors at a tree (section 3.3)."""
    for f in range(factors.offsets.shape[0] - 1):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, size = factors.score[f], factors.need[f], end - begin
        number, paid = _number_in_tree(factors, f, heads, stored)
        x = stored[factors.home[begin]]
        if _all_needed(factors, f):
            bound = paid
        elif value > 0.0:
            bound = value - x + x * number / need
        else:
            bound = -x * (number - need + 1) / (size - need + 1)
        excess = bound - (value if number >= need else 0.0)
        if excess > 0.0:
            for i in range(begin, end):
                gaps[factors.heads[i], factors.modifiers[i]] += excess


@internal()
def bound_factors_below(factors, heads, arcs):
    """Add lower bounds of factors, tight at a tree, to the scores of arcs (section 3.4).

    A gain in the tree is bounded by a line that is 0 at one arc less than needed. A loss in the
    tree is spread over the arcs. A loss that is not in the tree is charged to an absent arc if all
    arcs are needed, else in part to each arc. Constants are left out.
    """
    for f in range(factors.offsets.shape[0] - 1):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, size = factors.score[f], factors.need[f], end - begin
        number, absent = 0, begin
        for i in range(begin, end):
            if heads[factors.modifiers[i]] == factors.heads[i]:
                number += 1
            else:
                absent = i
        if value > 0.0:
            each = value / (size - need + 1) if number >= need else 0.0
        else:
            each = value / need if (number >= need) == (need == size) else 0.0
            if need == size and number < size:
                arcs[factors.heads[absent], factors.modifiers[absent]] += value
        for i in range(begin, end):
            arcs[factors.heads[i], factors.modifiers[i]] += each
