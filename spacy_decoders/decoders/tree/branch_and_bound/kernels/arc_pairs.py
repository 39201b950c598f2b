"""Pairs of modifiers of one head that the backbone does not see, bounded by their two arcs.

The multiplier x of a pair lies between 0 and the absolute score. A gain s is bounded by x for the
one arc plus s - x for the other (eq. 5 of Qian and Liu); a loss -s by x less x for each of the two
arcs (eq. 6).

No backbone sees pairs on the two sides of their head; those on one side are seen by the chart of
second order, which has :mod:`.sibling_pairs` for them.
"""

import numpy as np

from .....jit import internal
from .records import SECOND, ArcPairs


@internal(counted=True)
def gather_pairs(lists, scores, multipliers, options):
    """Take the scores of the pairs that are left, and the multipliers of earlier nodes."""
    size = lists.index.shape[0]
    paired, same_side = scores.siblings.shape[0] > 1, options.backbone != SECOND
    begin = 1 if options.single_root else 0
    total = 0
    if paired:
        for h in range(begin, size):
            lefts = lists.sides[2 * h + 1] - lists.sides[2 * h]
            rights = lists.sides[2 * h + 2] - lists.sides[2 * h + 1]
            total += lefts * rights
            if same_side:
                total += (lefts * (lefts - 1) + rights * (rights - 1)) // 2
    pairs = ArcPairs(
        np.empty(total), np.empty(total), np.zeros(total),
        np.empty(total, np.int32), np.empty(total, np.int32),
    )  # fmt: skip
    p = 0
    if paired:
        for h in range(begin, size):
            low, middle, high = lists.sides[2 * h], lists.sides[2 * h + 1], lists.sides[2 * h + 2]
            for i in range(low, high):
                j = i + 1 if same_side or i >= middle else middle
                last = high if same_side or i < middle else j
                for k in range(j, last):
                    # the outer of two on one side comes first, as the proof takes them
                    crossing = i < middle <= k
                    a, b = (i, k) if crossing else (k, i)
                    _take(lists, scores, multipliers, pairs, p, lists.members[a], lists.members[b])
                    p += 1
    return pairs


@internal()
def _take(lists, scores, multipliers, pairs, p, a, b):
    h, x, y = lists.head[a], lists.modifier[a], lists.modifier[b]
    score = max(scores.siblings[h, min(x, y), max(x, y)], scores.forbidden)
    pairs.one[p], pairs.other[p], pairs.score[p] = a, b, score
    pairs.multiplier[p] = initial(
        multipliers.siblings[h, min(x, y), max(x, y)], score,
        multipliers.slack[h, x], multipliers.slack[h, y],
    )  # fmt: skip


@internal()
def keep_pairs(lists, pairs, multipliers):
    """Leave the multipliers to the nodes that come."""
    for p in range(pairs.score.shape[0]):
        a = pairs.one[p]
        x, y = lists.modifier[a], lists.modifier[pairs.other[p]]
        multipliers.siblings[lists.head[a], min(x, y), max(x, y)] = pairs.multiplier[p]


@internal()
def relax_pairs(pairs, arc):
    """Add what pairs add to single arcs; return the constant of the bound."""
    constant = 0.0
    for p in range(pairs.score.shape[0]):
        score, x = pairs.score[p], pairs.multiplier[p]
        if score > 0.0:
            arc[pairs.one[p]] += x
            arc[pairs.other[p]] += score - x
        else:
            arc[pairs.one[p]] -= x
            arc[pairs.other[p]] -= x
            constant += x
    return constant


@internal()
def point_pairs(pairs, chosen, momentum):
    """Write the subgradient of the multipliers plus a part of the last direction."""
    for p in range(pairs.score.shape[0]):
        one, other = 1.0 * chosen[pairs.one[p]], 1.0 * chosen[pairs.other[p]]
        slope = one - other if pairs.score[p] > 0.0 else -one - other
        if pairs.score[p] < 0.0:
            slope += 1.0
        pairs.direction[p] = momentum * pairs.direction[p] + slope


@internal()
def add_pair_gaps(pairs, chosen, gaps):
    """Add to each arc by how much its pairs are bounded too high at a tree (section 3.3)."""
    for p in range(pairs.score.shape[0]):
        a, b = pairs.one[p], pairs.other[p]
        excess = gap(pairs.score[p], pairs.multiplier[p], chosen[a], chosen[b])
        gaps[a] += excess
        gaps[b] += excess


# --- multipliers of pairs, seen by the backbone or not -------------------------------------------


@internal()
def initial(stored, score, slack, other_slack):
    """Return a stored multiplier, brought into its range, or a first one.

    The less likely of two arcs takes over most of a gain.
    """
    if stored < 0.0:
        ratio = other_slack / slack
        return max(score / (1.0 + ratio * ratio), 0.0)
    return min(stored, abs(score))


@internal()
def clip_direction(pairs):
    """Cancel directions that leave the range of a multiplier; return the squared norm."""
    norm = 0.0
    for p in range(pairs.direction.shape[0]):
        x, d = pairs.multiplier[p], pairs.direction[p]
        if (d > 0.0 and x <= 0.0) or (d < 0.0 and x >= abs(pairs.score[p])):
            pairs.direction[p] = 0.0
        norm += pairs.direction[p] * pairs.direction[p]
    return norm


@internal()
def step_along(pairs, step):
    """Move multipliers against the direction, within their range."""
    for p in range(pairs.direction.shape[0]):
        if pairs.direction[p] != 0.0:
            moved = pairs.multiplier[p] - step * pairs.direction[p]
            pairs.multiplier[p] = min(max(moved, 0.0), abs(pairs.score[p]))


@internal()
def gap(score, x, one, other):
    """Return by how much a pair's bound exceeds its score, given which arcs are in the tree."""
    if score > 0.0:
        bound = (x if one else 0.0) + (score - x if other else 0.0)
    else:
        bound = x - (x if one else 0.0) - (x if other else 0.0)
    return max(bound - (score if one and other else 0.0), 0.0)
