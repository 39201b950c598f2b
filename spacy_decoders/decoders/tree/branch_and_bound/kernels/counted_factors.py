"""Factors that are paid for at least so many of their arcs.

Three bounds are linear in the arcs: where all arcs are needed for a gain, a part of it for each
arc (eq. 5, on a simplex); where one arc suffices for a loss, a part of it for each arc, at most
all of it together; else a line in the number of arcs and the factor's limit, weighed by a single
multiplier (section 5.1).
"""

import numpy as np

from .....jit import internal
from .arc_lists import is_free
from .records import CountedFactors

INF = np.inf

#: Which of the three bounds a factor has.
ALL_NEEDED, ONE_SUFFICES, BY_NUMBER = 0, 1, 2


@internal()
def _kind(factors, f):
    size = factors.offsets[f + 1] - factors.offsets[f]
    if factors.score[f] > 0.0 and factors.need[f] == size:
        return ALL_NEEDED
    return ONE_SUFFICES if factors.score[f] < 0.0 and factors.need[f] == 1 else BY_NUMBER


@internal(counted=True)
def gather_factors(lists, scores, multipliers):
    """Cut factors down to free arcs and split them into "at least `need` arcs, paid `score`".

    An arc that is gone leaves its factor, an arc that is a token's last leaves it as present:
    so every factor becomes exact once its arcs are decided. Between `low` and `high` is "at
    least low" less "at least high + 1"; a negative score with both ends open is bounded by 0.
    """
    count, total = scores.factor_scores.shape[0], scores.factor_arcs.shape[0]
    factors = CountedFactors(
        np.zeros(2 * count + 1, np.int64), np.empty(2 * total, np.int32), np.empty(2 * count),
        np.empty(2 * count, np.int32), np.empty(2 * total, np.int64), np.zeros(2 * total), 0.0,
    )  # fmt: skip
    constant, made = 0.0, 0
    for f in range(count):
        paid, made = _split(lists, scores, f, factors, made)
        constant += paid
    used = factors.offsets[made]
    cut = CountedFactors(
        factors.offsets[: made + 1], factors.arcs[:used], factors.score[:made],
        factors.need[:made], factors.home[:used], factors.multiplier[:used], constant,
    )  # fmt: skip
    _take_multipliers(cut, multipliers)
    return cut


@internal()
def _split(lists, scores, f, factors, made):
    """Write what is left of a factor, as up to two; return its constant and the new count."""
    total = scores.factor_arcs.shape[0]
    low, high = scores.factor_low[f], scores.factor_high[f]
    value = scores.factor_scores[f]
    at, free = factors.offsets[made], 0
    for i in range(scores.factor_offsets[f], scores.factor_offsets[f + 1]):
        h, m = scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]
        a = lists.index[h, m]
        if a < 0:
            continue
        if not is_free(lists, m):
            low -= 1
            high -= 1
        else:
            factors.arcs[at + free] = a
            factors.home[at + free] = i
            free += 1
    if high < 0 or low > free or value == 0.0:
        return 0.0, made
    constant = 0.0
    if low <= 0:
        constant = value
        value = -value
        low = high + 1
        high = free
        if low > free:
            return constant, made
    if high < free and value < 0:
        return constant, made
    factors.offsets[made + 1] = at + free
    factors.score[made] = value
    factors.need[made] = low
    made += 1
    if high < free:
        at += free
        for i in range(free):
            factors.arcs[at + i] = factors.arcs[at - free + i]
            factors.home[at + i] = factors.home[at - free + i] + total
        factors.offsets[made + 1] = at + free
        factors.score[made] = -value
        factors.need[made] = high + 1
        made += 1
    return constant, made


@internal()
def _take_multipliers(factors, multipliers):
    """Take the multipliers of earlier nodes, brought back to where they give a bound."""
    x = factors.multiplier
    for f in range(factors.score.shape[0]):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, kind = factors.score[f], _kind(factors, f)
        for i in range(begin, end):
            stored = multipliers.factors[factors.home[i]]
            if stored >= 0.0:
                x[i] = stored
            elif kind == ALL_NEEDED:
                x[i] = value / (end - begin)
        if kind == BY_NUMBER:
            x[begin] = min(max(x[begin], 0.0), abs(value))
        else:
            project(x, begin, end, abs(value), kind == ONE_SUFFICES)


@internal()
def keep_factors(factors, multipliers):
    """Leave the multipliers to the nodes that come."""
    for i in range(factors.arcs.shape[0]):
        multipliers.factors[factors.home[i]] = factors.multiplier[i]


@internal()
def project(x, begin, end, total, at_most):
    """Project x[begin:end] onto {x >= 0, sum = total} (or <= total), as Duchi et al. do.

    The threshold is found by discarding negative entries until none is left (Michelot).
    """
    if at_most:
        positive = 0.0
        for i in range(begin, end):
            positive += max(x[i], 0.0)
        if positive <= total:
            for i in range(begin, end):
                x[i] = max(x[i], 0.0)
            return
    threshold = -INF
    while True:
        above = 0.0
        count = 0
        for i in range(begin, end):
            if x[i] > threshold:
                above += x[i]
                count += 1
        if count == 0:  # rounding beside huge numbers
            break
        raised = (above - total) / count
        if raised <= threshold or count == 1:
            threshold = max(raised, threshold)
            break
        kept = 0
        for i in range(begin, end):
            if x[i] > raised:
                kept += 1
        threshold = raised
        if kept == count:
            break
    # rounding must not leave the sum short of the total, which the bound rests on
    left = total
    largest = begin
    for i in range(begin, end):
        x[i] = max(x[i] - threshold, 0.0)
        left -= x[i]
        if x[i] > x[largest]:
            largest = i
    x[largest] = max(x[largest] + left, 0.0)


@internal()
def relax_factors(factors, backbone):
    """Add what factors add to single arcs; return the constant of the bound."""
    constant, arc = 0.0, backbone.arc
    for f in range(factors.score.shape[0]):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, kind = factors.score[f], factors.need[f], _kind(factors, f)
        if kind == ALL_NEEDED:
            for i in range(begin, end):
                arc[factors.arcs[i]] += factors.multiplier[i]
        elif kind == ONE_SUFFICES:
            for i in range(begin, end):
                arc[factors.arcs[i]] -= factors.multiplier[i]
        else:
            x = factors.multiplier[begin]
            if value > 0.0:  # min(1, number / need)
                constant += value - x
                each = x / need
            else:  # max(0, (number - need + 1) / (size - need + 1))
                each = -x / (end - begin - need + 1)
                constant -= each * (need - 1)
            for i in range(begin, end):
                arc[factors.arcs[i]] += each
    return constant


@internal()
def _number_in_tree(factors, f, chosen):
    """Return how many arcs of a factor a tree has, and the sum of their multipliers."""
    number, paid = 0, 0.0
    for i in range(factors.offsets[f], factors.offsets[f + 1]):
        if chosen[factors.arcs[i]]:
            number += 1
            paid += factors.multiplier[i]
    return number, paid


@internal()
def step_factors(factors, chosen, step):
    """Take a subgradient step; with step 0 return the squared norm of the subgradient."""
    norm, x = 0.0, factors.multiplier
    for f in range(factors.score.shape[0]):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, size = factors.score[f], factors.need[f], end - begin
        kind = _kind(factors, f)
        number, paid = _number_in_tree(factors, f, chosen)
        if kind == BY_NUMBER:
            if value > 0.0:
                d = number / need - 1.0
            else:
                d = -(number - need + 1.0) / (size - need + 1.0)
            if d == 0.0 or (d > 0.0 and x[begin] <= 0.0) or (d < 0.0 and x[begin] >= abs(value)):
                continue
            norm += d * d
            if step > 0.0:
                x[begin] = min(max(x[begin] - step * d, 0.0), abs(value))
            continue
        if number == 0 or (number == size if kind == ALL_NEEDED else paid >= -value):
            continue
        norm += number * (1.0 - number / size) if kind == ALL_NEEDED else number
        if step > 0.0:
            for i in range(begin, end):
                if chosen[factors.arcs[i]]:
                    x[i] += -step if kind == ALL_NEEDED else step
            project(x, begin, end, abs(value), kind == ONE_SUFFICES)
    return norm


@internal()
def add_factor_gaps(factors, chosen, gaps):
    """Add to each arc by how much its factors are bounded too high at a tree (section 3.3)."""
    for f in range(factors.score.shape[0]):
        begin, end = factors.offsets[f], factors.offsets[f + 1]
        value, need, size = factors.score[f], factors.need[f], end - begin
        kind = _kind(factors, f)
        number, paid = _number_in_tree(factors, f, chosen)
        x = factors.multiplier[begin]
        if kind == ALL_NEEDED:
            bound = paid
        elif kind == ONE_SUFFICES:
            bound = -paid
        elif value > 0.0:
            bound = value - x + x * number / need
        else:
            bound = -x * (number - need + 1) / (size - need + 1)
        excess = bound - (value if number >= need else 0.0)
        if excess > 0.0:
            for i in range(begin, end):
                gaps[factors.arcs[i]] += excess
