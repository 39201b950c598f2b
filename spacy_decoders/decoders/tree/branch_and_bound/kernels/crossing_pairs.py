"""Pairs of modifiers on the two sides of their head, which no backbone sees."""

import numpy as np

from .....jit import internal
from .pair_multipliers import gap, initial
from .records import CrossingPairs


@internal(counted=True)
def gather_crossings(lists, scores, multipliers):
    """Take the scores of the pairs that are left, and the multipliers of earlier nodes."""
    count = lists.crosses[lists.index.shape[0]]
    score, multiplier = np.zeros(count), np.zeros(count)
    if scores.siblings.shape[0] > 1:
        _fill(lists, scores, multipliers, score, multiplier)
    return CrossingPairs(score, multiplier, np.zeros(count))


@internal()
def _fill(lists, scores, multipliers, score, multiplier):
    for h in range(1, lists.index.shape[0]):  # the root has no left
        p, middle = lists.crosses[h], lists.sides[2 * h + 1]
        for i in range(lists.sides[2 * h], middle):
            x = lists.modifier[lists.members[i]]
            for j in range(middle, lists.sides[2 * h + 2]):
                y = lists.modifier[lists.members[j]]
                score[p] = max(scores.siblings[h, x, y], scores.forbidden)
                multiplier[p] = initial(
                    multipliers.siblings[h, x, y], score[p],
                    multipliers.slack[h, x], multipliers.slack[h, y],
                )  # fmt: skip
                p += 1


@internal()
def keep_crossings(lists, crossings, multipliers):
    """Leave the multipliers to the nodes that come."""
    if multipliers.siblings.shape[0] == 1:
        return
    for h in range(1, lists.index.shape[0]):
        p, middle = lists.crosses[h], lists.sides[2 * h + 1]
        if p == lists.crosses[h + 1]:
            continue
        for i in range(lists.sides[2 * h], middle):
            x = lists.modifier[lists.members[i]]
            for j in range(middle, lists.sides[2 * h + 2]):
                y = lists.modifier[lists.members[j]]
                multipliers.siblings[h, x, y] = crossings.multiplier[p]
                p += 1


@internal()
def relax_crossings(lists, crossings, backbone):
    """Add what pairs add to single arcs; return the constant of the bound."""
    constant, arc = 0.0, backbone.arc
    for h in range(1, lists.index.shape[0]):
        p, middle = lists.crosses[h], lists.sides[2 * h + 1]
        if p == lists.crosses[h + 1]:
            continue
        for i in range(lists.sides[2 * h], middle):
            total = 0.0
            for j in range(middle, lists.sides[2 * h + 2]):
                score, x = crossings.score[p], crossings.multiplier[p]
                if score > 0.0:
                    total += x
                    arc[lists.members[j]] += score - x
                else:
                    total -= x
                    arc[lists.members[j]] -= x
                    constant += x
                p += 1
            arc[lists.members[i]] += total
    return constant


@internal()
def linearise_crossings(lists, crossings, backbone, chosen):
    """Add to each arc what it would pay with the modifiers that a tree has on the other side."""
    for h in range(1, lists.index.shape[0]):
        p, middle = lists.crosses[h], lists.sides[2 * h + 1]
        if p == lists.crosses[h + 1]:
            continue
        for i in range(lists.sides[2 * h], middle):
            a = lists.members[i]
            for j in range(middle, lists.sides[2 * h + 2]):
                b = lists.members[j]
                if chosen[a]:
                    backbone.arc[b] += crossings.score[p]
                if chosen[b]:
                    backbone.arc[a] += crossings.score[p]
                p += 1


@internal()
def point_crossings(lists, crossings, chosen, momentum):
    """Write the subgradient of the multipliers plus a part of the last direction."""
    score, d = crossings.score, crossings.direction
    for p in range(d.shape[0]):
        d[p] = momentum * d[p] + (1.0 if score[p] < 0.0 else 0.0)
    for h in range(1, lists.index.shape[0]):
        low, middle, high = lists.sides[2 * h], lists.sides[2 * h + 1], lists.sides[2 * h + 2]
        width, begin = high - middle, lists.crosses[h]
        if begin == lists.crosses[h + 1]:
            continue
        for i in range(middle - low):
            if chosen[lists.members[low + i]]:
                for p in range(begin + i * width, begin + (i + 1) * width):
                    d[p] += 1.0 if score[p] > 0.0 else -1.0
        for j in range(width):
            if chosen[lists.members[middle + j]]:
                for i in range(middle - low):
                    d[begin + i * width + j] -= 1.0


@internal()
def add_crossing_gaps(lists, crossings, chosen, gaps):
    """Add to each arc by how much its pairs are bounded too high at a tree (section 3.3)."""
    for h in range(1, lists.index.shape[0]):
        p, middle = lists.crosses[h], lists.sides[2 * h + 1]
        if p == lists.crosses[h + 1]:
            continue
        for i in range(lists.sides[2 * h], middle):
            a = lists.members[i]
            for j in range(middle, lists.sides[2 * h + 2]):
                b = lists.members[j]
                one, other = chosen[a], chosen[b]
                excess = gap(crossings.score[p], crossings.multiplier[p], one, other)
                gaps[a] += excess
                gaps[b] += excess
                p += 1
