"""Upper bounds by the parts that a chart or an arborescence sees, from any multipliers.

What the search leaves is a mask of arcs that it has not pruned, here `kept`, and multipliers that
are tight for these. A bound is on the trees of a larger `mask`: where a score could be split
between two arcs, one that is not kept takes all of it, so that trees of kept arcs are bounded as
tightly as in the search. Multipliers are brought into their range first; nothing else is taken
from the search, nor is any code of it.
"""

import numpy as np

from .....jit import internal, jit

INF = np.inf


@jit()
def relax(scores, multipliers, mask, kept, single_root, projective, second):
    """Return scores of arcs and of adjacent siblings, and a constant, that bound every tree.

    Parameters
    ----------
    scores, multipliers
        As :func:`.node.solve_node` takes them.
    mask, kept
        uint8 (n + 1, n + 1), the arcs of the trees, and those that the multipliers are made for.
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
                _relax_side(scores, multipliers, mask, kept, h, 1, arcs, pairs)
                _relax_side(scores, multipliers, mask, kept, h, -1, arcs, pairs)
            constant += _relax_pairs(scores, multipliers, mask, kept, h, second, arcs)
    if scores.grandparents.shape[0] > 1 and not second:
        _relax_chains(scores, multipliers, mask, kept, projective, arcs)
    for f in range(scores.factor_scores.shape[0]):
        constant += _relax_factor(scores, multipliers, mask, kept, f, arcs)
    return arcs, pairs, constant


@internal()
def _gain_of_one(score, stored, kept_one, kept_other):
    """Return the part of a gain that one of two events is paid; the other gets the rest."""
    if not kept_one:
        return score
    return min(max(stored, 0.0), score) if kept_other else 0.0


@internal()
def _relax_pairs(scores, multipliers, mask, kept, h, crossing_only, arcs):
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
            if score > 0.0:
                x = _gain_of_one(score, stored, kept[h, a], kept[h, b])
                arcs[h, a] += x
                arcs[h, b] += score - x
            elif kept[h, a] and kept[h, b]:
                x = min(max(stored, 0.0), -score)
                arcs[h, a] -= x
                arcs[h, b] -= x
                constant += x
    return constant


@internal(counted=True)
def _relax_side(scores, multipliers, mask, kept, h, step, arcs, pairs):
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
            if score > 0.0:
                x = _gain_of_one(score, stored, kept[h, outer], kept[h, inner])
                charged += x
                gains[j] += score - x
            elif kept[h, inner] and kept[h, outer]:
                x = min(max(stored, 0.0), -score)
                charged -= x
                losses[j] += x


@internal()
def _relax_chains(scores, multipliers, mask, kept, projective, arcs):
    """Bound chains by their two arcs: max over g of (s - u) for h -> m, each u for g -> h."""
    size = mask.shape[0]
    for h in range(1, size):
        for m in range(1, size):
            if not mask[h, m]:
                continue
            low, high = min(h, m), max(h, m)
            best = best_kept = -INF
            for late in range(2):  # arcs that are not kept take what the others leave
                for g in range(size):
                    crosses = projective and low < g < high
                    if g == m or crosses or not mask[g, h] or kept[g, h] == late:
                        continue
                    score = max(scores.grandparents[g, h, m], scores.forbidden)
                    u = 0.0
                    if kept[h, m] and late == 0:
                        u = max(multipliers.grandparents[g, h, m], 0.0)
                    elif kept[h, m] and best_kept > -INF:
                        u = max(score - best_kept, 0.0)
                    u = min(u, multipliers.limit)
                    best = max(best, score - u)
                    arcs[g, h] += u
                if late == 0:
                    best_kept = best
            arcs[h, m] += best


@internal(counted=True)
def _relax_factor(scores, multipliers, mask, kept, f, arcs):
    """Bound a factor by its arcs; return the constant.

    Of the kept arcs only: an arc that is its token's last counts as present. A tree that has
    another arc, of the factor itself or in place of such a last one, is paid the largest error
    that the bound has there.
    """
    begin, end = scores.factor_offsets[f], scores.factor_offsets[f + 1]
    low, high, value = scores.factor_low[f], scores.factor_high[f], scores.factor_scores[f]
    free, present = np.empty(end - begin, np.int64), 0
    count = 0
    # more arcs never pay more where they only add to a loss
    falling = value < 0.0 and high >= end - begin
    for i in range(begin, end):
        h, m = scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]
        if mask[h, m] and kept[h, m]:
            if kept[:, m].sum() > 1:
                free[count] = i
                count += 1
            else:
                present += 1
    low, high = low - present, high - present
    constant, least = 0.0, 0.0
    if value != 0.0 and high >= 0 and low <= count:
        total = scores.factor_arcs.shape[0]
        if low <= 0:
            # paid for any number up to `high`: always, less where there are more
            constant, least = value, value
            if high < count:
                added, lost = _at_least(
                    scores, multipliers, free[:count], high + 1, -value, 0, arcs
                )
                constant += added
                least += lost
        elif high >= count or value > 0.0:
            constant, least = _at_least(scores, multipliers, free[:count], low, value, 0, arcs)
            if high < count:
                added, lost = _at_least(
                    scores, multipliers, free[:count], high + 1, -value, total, arcs
                )
                constant += added
                least += lost
    error = max(value, 0.0) - least
    if error > 0.0:
        for i in range(begin, end):
            h, m = scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]
            if mask[h, m] and not kept[h, m]:
                if not falling:
                    arcs[h, m] += error
            elif mask[h, m] and kept[:, m].sum() <= 1:
                for g in range(mask.shape[0]):
                    if mask[g, m] and not kept[g, m]:
                        arcs[g, m] += error
    return constant


@internal(counted=True)
def _at_least(scores, multipliers, free, need, value, shift, arcs):
    """Bound "at least `need` of these arcs are worth `value`" by a line.

    Adds to the arcs, and returns the constant and the least that the line can be worth. Where all
    are needed for a gain each has a part of it, in all at least the gain; where one suffices for a
    loss each has a part of it, in all at most the loss; else min(1, number / need) and
    max(0, (number - need + 1) / (size - need + 1)), times x <= abs(value), bound what is paid.
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
        return 0.0, 0.0
    if value < 0.0 and need == 1:
        left = -value
        for i in free:
            x = min(max(stored[i + shift], 0.0), left)
            arcs[scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]] -= x
            left -= x
        return 0.0, value
    x = min(max(stored[free[0] + shift], 0.0), abs(value))
    if value > 0.0:
        constant, each = value - x, x / need
    else:
        each = -x / (size - need + 1)
        constant = -each * (need - 1)
    for i in free:
        arcs[scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]] += each
    return constant, constant + min(each * size, 0.0)


@jit()
def bounds_by_duals(arcs, penalty, value, parent, bound, least):
    """Write bounds on the trees through each arc by the duals of a contraction, into `least`.

    A tree with the arc h -> m enters by it the sets that hold m but not h, whose duals add up to
    what the arc would have to be worth: every tree with it loses the difference against `bound`,
    which adds all duals and, for each token, the excess of its best arc.
    """
    size = arcs.shape[0]
    for m in range(1, size):
        excess = 0.0
        for h in range(size):
            least[h, m] = -INF
            if h == m or arcs[h, m] == -INF:
                continue
            entered, inner, outer = 0.0, m, h
            while inner != outer:
                if outer < 0 or 0 <= inner < outer:
                    entered += value[inner]
                    inner = parent[inner]
                else:
                    outer = parent[outer]
            worth = arcs[h, m] if h > 0 else arcs[0, m] - penalty
            least[h, m] = worth - entered
            excess = max(excess, least[h, m])
        for h in range(size):
            if least[h, m] > -INF:
                least[h, m] = bound + (least[h, m] - excess)
