"""Pairs of modifiers on one side of their head, under the backbone of second order.

Adjacent siblings are exact. Another pair, the inner sibling
j and the outer k, is bounded through two events that adjacent siblings decide: "k has its nearest
sibling beyond j" and "j has its next sibling before k". A gain is split between them (eq. 5). A
loss is charged for the first event, and refunded where the modifiers skip j on their way to
what lies before k: tighter than eq. 6, as no constant is paid.
"""

import numpy as np

from .....jit import internal
from .arc_lists import side_of
from .arc_pairs import gap, initial
from .records import SiblingPairs


@internal(counted=True)
def gather_siblings(lists, scores, multipliers):
    """Take the scores of the pairs that are left, and the multipliers of earlier nodes."""
    size, count = lists.index.shape[0], lists.head.shape[0]
    score = np.zeros(lists.pairs[count])
    multiplier = np.zeros(lists.pairs[count])
    if scores.siblings.shape[0] > 1:
        _fill(lists, scores, multipliers, score, multiplier)
    return SiblingPairs(
        score, multiplier, np.zeros(lists.pairs[count]), np.empty(size), np.empty(size),
        np.empty(size + 1, np.int64),
    )  # fmt: skip


@internal()
def _fill(lists, scores, multipliers, score, multiplier):
    for a in range(1, lists.head.shape[0]):
        h, m, low = lists.head[a], lists.modifier[a], side_of(lists, a)
        for p in range(lists.pairs[a], lists.pairs[a + 1]):
            s = lists.modifier[lists.members[low + p - lists.pairs[a]]]
            x, y = min(s, m), max(s, m)
            score[p] = max(scores.siblings[h, x, y], scores.forbidden)
            multiplier[p] = initial(
                multipliers.siblings[h, x, y], score[p],
                multipliers.slack[h, m], multipliers.slack[h, s],
            )  # fmt: skip


@internal()
def keep_siblings(lists, pairs, multipliers):
    """Leave the multipliers to the nodes that come."""
    if multipliers.siblings.shape[0] == 1:
        return
    for a in range(1, lists.head.shape[0]):
        h, m, low = lists.head[a], lists.modifier[a], side_of(lists, a)
        for p in range(lists.pairs[a], lists.pairs[a + 1]):
            s = lists.modifier[lists.members[low + p - lists.pairs[a]]]
            multipliers.siblings[h, min(s, m), max(s, m)] = pairs.multiplier[p]


@internal()
def relax_onto_adjacent(lists, pairs, backbone):
    """Write what pairs add to adjacent siblings and to first modifiers."""
    adjacent = backbone.adjacent
    for p in range(adjacent.shape[0]):
        adjacent[p] = pairs.score[p]
    gains, losses = pairs.gains, pairs.losses  # by inner sibling: of those further out
    for side in range(lists.sides.shape[0] - 1):
        low, high = lists.sides[side], lists.sides[side + 1]
        for j in range(high - low):
            gains[j] = 0.0
            losses[j] = 0.0
        for place in range(high - 1, low - 1, -1):
            a = lists.members[place]
            p = lists.pairs[a]
            inner = lists.pairs[a + 1] - p
            refund = 0.0
            for j in range(inner - 1, -1, -1):
                adjacent[p + j] += refund
                refund += losses[j]
            backbone.start[a] = refund
            charge = 0.0
            for j in range(inner):
                score, x = pairs.score[p + j], pairs.multiplier[p + j]
                adjacent[p + j] += charge + gains[j]
                if score > 0.0:
                    charge += x
                    gains[j] += score - x
                else:
                    charge -= x
                    losses[j] += x


@internal()
def point_siblings(lists, pairs, chosen, momentum):
    """Write the subgradient of the multipliers plus a part of the last direction.

    With the events above the bound has x E1 + (score - x) E2 for a gain and -x (E1 - skipped) for
    a loss.
    """
    score, d = pairs.score, pairs.direction
    for p in range(d.shape[0]):
        d[p] *= momentum
    for side in range(lists.sides.shape[0] - 1):
        low, high = lists.sides[side], lists.sides[side + 1]
        last = -1
        furthest = lists.members[high - 1] if high > low else 0
        if lists.pairs[furthest + 1] - lists.pairs[furthest] != high - low - 1:
            continue  # no pairs are scored here
        for place in range(low, high):
            a = lists.members[place]
            if not chosen[a]:
                continue
            p, own = lists.pairs[a], place - low
            for j in range(last):
                d[p + j] += 1.0 if score[p + j] > 0.0 else -1.0
            for outer in range(place + 1, high):
                q = lists.pairs[lists.members[outer]]
                if last >= 0 and score[q + last] > 0.0:
                    d[q + last] -= 1.0
                for j in range(last + 1, own):
                    if score[q + j] < 0.0:
                        d[q + j] += 1.0
            last = own


@internal()
def add_sibling_gaps(lists, pairs, chosen, gaps):
    """Add to each arc by how much its pairs are bounded too high at a tree (section 3.3)."""
    following = pairs.following  # the place of the next modifier in the tree
    for side in range(lists.sides.shape[0] - 1):
        low, high = lists.sides[side], lists.sides[side + 1]
        following[high - low] = high - low
        for j in range(high - low - 1, -1, -1):
            here = chosen[lists.members[low + j]]
            following[j] = j if here else following[j + 1]
        last = -1
        for k in range(high - low):
            b = lists.members[low + k]
            outer = chosen[b]
            for j in range(lists.pairs[b + 1] - lists.pairs[b]):
                a = lists.members[low + j]
                inner = chosen[a]
                score, x = pairs.score[lists.pairs[b] + j], pairs.multiplier[lists.pairs[b] + j]
                if inner and outer and last == j:
                    continue  # adjacent: exact
                beyond, before = outer and j < last, following[j + 1] < k
                if score < 0.0:
                    charged = (x if beyond else 0.0) - (x if before and not inner else 0.0)
                    excess = max((-score if beyond and inner else 0.0) - charged, 0.0)
                else:
                    excess = gap(score, x, beyond, before and inner)
                gaps[a] += excess
                gaps[b] += excess
            if outer:
                last = k
