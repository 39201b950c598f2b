"""Upper bounds by the parts that a chart or an arborescence sees, from any multipliers.

What the search leaves are multipliers that are tight for the arcs of a node. They are brought into
their range first; nothing else is taken from the search, nor is any code of it.
"""

import numpy as np

from .....jit import internal, jit

INF = np.inf


@jit()
def relax(scores, multipliers, mask, single_root, projective, second):
    """Return scores of arcs and of adjacent siblings, and a constant, that bound every tree.

    Parameters
    ----------
    scores, multipliers
        As :func:`.node.solve_node` takes them.
    mask
        uint8 (n + 1, n + 1), the arcs of the trees.
    second
        Whether adjacent siblings and all grandparents are seen. Else these bounds are of arcs
        alone, and there are no scores of siblings.
    """
    size = mask.shape[0]
    arcs = np.full((size, size), -INF)
    for h in range(size):
        for m in range(1, size):
            if mask[h, m]:
                arcs[h, m] = scores.arcs[h, m]
    paired = scores.siblings.shape[0] > 1
    many = size if second and paired else 0
    pairs = np.zeros((many, many, many))
    constant = 0.0
    if paired:
        for h in range(1 if single_root else 0, size):
            if second:
                _relax_side(scores, multipliers, mask, h, 1, arcs, pairs)
                _relax_side(scores, multipliers, mask, h, -1, arcs, pairs)
            constant += _relax_pairs(scores, multipliers, mask, h, second, arcs)
    if scores.grandparents.shape[0] > 1 and not second:
        _relax_chains(scores, multipliers, mask, projective, arcs)
    for f in range(scores.factor_scores.shape[0]):
        constant += _relax_factor(scores, multipliers, mask, f, arcs)
    return arcs, pairs, constant


@internal()
def _relax_pairs(scores, multipliers, mask, h, crossing_only, arcs):
    """Bound pairs of modifiers by their two arcs; return the constant.

    s y_a y_b <= x y_a + (s - x) y_b for a gain, -l y_a y_b <= x - x y_a - x y_b for a loss, where
    0 <= x <= s, l (eq. 5 and 6 of Qian and Liu).
    """
    constant = 0.0
    for first in range(1, mask.shape[0]):
        if not mask[h, first]:
            continue
        for last in range(first + 1, mask.shape[0]):
            if not mask[h, last] or (crossing_only and not first < h < last):
                continue
            a, b = (last, first) if h < first else (first, last)
            score = max(scores.siblings[h, first, last], scores.forbidden)
            stored = multipliers.siblings[h, first, last]
            x = min(max(stored, 0.0), abs(score))
            if score > 0.0:
                arcs[h, a] += x
                arcs[h, b] += score - x
            else:
                arcs[h, a] -= x
                arcs[h, b] -= x
                constant += x
    return constant


@internal(counted=True)
def _relax_side(scores, multipliers, mask, h, step, arcs, pairs):
    """Bound pairs of modifiers on one side by adjacent ones, in which those of a tree are a path.

    Of the inner modifier j and the outer one k, not adjacent, a gain s is split between two
    events: x for "k is there, and its next modifier inwards lies beyond j", s - x for "j is there,
    and its next modifier outwards lies before k". A loss is charged x for the first, and refunded
    to each step of the path that passes over j and ends before k: if j is not there, one does.
    """
    size = mask.shape[0]
    order = np.empty(size, np.int64)
    count = 0
    m = h + step
    while 0 < m < size:
        if mask[h, m]:
            order[count] = m
            count += 1
        m += step
    gains, losses = np.zeros(count), np.zeros(count)  # by inner modifier, of all beyond k
    for k in range(count - 1, -1, -1):
        outer = order[k]
        skipped = losses[:k].sum()
        arcs[h, outer] += skipped  # as the first modifier; taken back below where it is not
        charged = passed = 0.0
        for j in range(k):
            inner = order[j]
            low, high = min(inner, outer), max(inner, outer)
            score = max(scores.siblings[h, low, high], scores.forbidden)
            stored = multipliers.siblings[h, low, high]
            passed += losses[j]
            # the refund of what lies between j and k, less what the arc has got
            pairs[h, low, high] = score + charged + gains[j] - passed
            x = min(max(stored, 0.0), abs(score))
            if score > 0.0:
                charged += x
                gains[j] += score - x
            else:
                charged -= x
                losses[j] += x


@internal()
def _relax_chains(scores, multipliers, mask, projective, arcs):
    """Bound chains by their two arcs: max over g of (s - u) for h -> m, each u for g -> h."""
    size = mask.shape[0]
    for h in range(1, size):
        for m in range(1, size):
            if not mask[h, m]:
                continue
            low, high = min(h, m), max(h, m)
            best = -INF
            for g in range(size):
                crosses = projective and low < g < high
                if g == m or crosses or not mask[g, h]:
                    continue
                score = max(scores.grandparents[g, h, m], scores.forbidden)
                u = min(max(multipliers.grandparents[g, h, m], 0.0), multipliers.limit)
                best = max(best, score - u)
                arcs[g, h] += u
            arcs[h, m] += best


@internal(counted=True)
def _relax_factor(scores, multipliers, mask, f, arcs):
    """Bound a factor by its arcs; return the constant.

    An arc that is gone leaves the factor, one that is its token's last counts as present.
    """
    begin, end = scores.factor_offsets[f], scores.factor_offsets[f + 1]
    low, high, value = scores.factor_low[f], scores.factor_high[f], scores.factor_scores[f]
    free, present = np.empty(end - begin, np.int64), 0
    count = 0
    for i in range(begin, end):
        h, m = scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]
        if mask[h, m]:
            if mask[:, m].sum() > 1:
                free[count] = i
                count += 1
            else:
                present += 1
    low, high = low - present, high - present
    if value == 0.0 or high < 0 or low > count:
        return 0.0
    total = scores.factor_arcs.shape[0]
    if low <= 0:
        # paid for any number up to `high`: always, less where there are more
        constant = value
        if high < count:
            constant += _at_least(scores, multipliers, free[:count], high + 1, -value, 0, arcs)
        return constant
    if high < count and value < 0.0:
        return 0.0
    constant = _at_least(scores, multipliers, free[:count], low, value, 0, arcs)
    if high < count:
        constant += _at_least(scores, multipliers, free[:count], high + 1, -value, total, arcs)
    return constant


@internal(counted=True)
def _at_least(scores, multipliers, free, need, value, shift, arcs):
    """Bound "at least `need` of these arcs are worth `value`" by a line.

    Adds to the arcs, and returns the constant. Where all are needed for a gain each has a part of
    it, in all at least the gain; where one suffices for a loss each has a part of it, in all at
    most the loss; else min(1, number / need) and max(0, (number - need + 1) / (size - need + 1)),
    times x <= abs(value), bound what is paid.
    """
    size = free.shape[0]
    stored = multipliers.factors
    if value > 0.0 and need == size:
        left = value
        for i in free:
            x = min(max(stored[i + shift], 0.0), left)
            if i == free[size - 1]:
                x = left
            arcs[scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]] += x
            left -= x
        return 0.0
    if value < 0.0 and need == 1:
        left = -value
        for i in free:
            x = min(max(stored[i + shift], 0.0), left)
            arcs[scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]] -= x
            left -= x
        return 0.0
    x = min(max(stored[free[0] + shift], 0.0), abs(value))
    if value > 0.0:
        constant, each = value - x, x / need
    else:
        each = -x / (size - need + 1)
        constant = -each * (need - 1)
    for i in free:
        arcs[scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]] += each
    return constant
