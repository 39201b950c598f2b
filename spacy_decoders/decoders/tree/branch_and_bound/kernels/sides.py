"""Pairs of modifiers on one side of their head, under the chart of second order.

Adjacent siblings are exact. Another pair, the inner sibling j and the outer k, is bounded through
two events that adjacent siblings decide: E1, "k has its nearest sibling beyond j", and E2, "j has
its next sibling before k". A gain s is split between them, x E1 + (s - x) E2 (eq. 5 of Qian and
Liu). A loss is charged x for E1, and refunded where the modifiers skip j on their way to what lies
before k: tighter than eq. 6, as no constant is paid.
"""

from .....jit import internal
from .pairs import multiplier_of, score_of


@internal()
def places(arcs, h, right):
    """Return where a side of a head begins among its modifiers, the way outwards, their number."""
    if right:
        return arcs.before[h], 1, arcs.count[h] - arcs.before[h]
    return arcs.before[h] - 1, -1, arcs.before[h]


@internal()
def ends(arcs, h, right, inner, outer):
    """Return the left and the right token of two places on a side, counted from the head."""
    begin, way, _ = places(arcs, h, right)
    j, k = arcs.of[h, begin + way * inner], arcs.of[h, begin + way * outer]
    return (j, k) if right else (k, j)


@internal()
def relax_side(parts, h, right, arcs, pairs):
    """Write the scores of adjacent siblings on a side, and add to the arcs of first ones."""
    begin, way, count = places(parts.arcs, h, right)
    gains, losses = parts.gains, parts.losses  # by inner modifier, of all beyond k
    for j in range(count):
        gains[j] = losses[j] = 0.0
    for k in range(count - 1, -1, -1):
        skipped = 0.0
        for j in range(k):
            skipped += losses[j]
        # as the first modifier; taken back below where it is not
        arcs[h, parts.arcs.of[h, begin + way * k]] += skipped
        charged = passed = 0.0
        for j in range(k):
            low, high = ends(parts.arcs, h, right, j, k)
            score = score_of(parts, h, low, high)
            x = multiplier_of(parts, h, low, high, score)
            passed += losses[j]
            # the refund of what lies between j and k, less what the arc has got
            pairs[h, low, high] = score + charged + gains[j] - passed
            if score > 0.0:
                charged += x
                gains[j] += score - x
            else:
                charged -= x
                losses[j] += x


@internal()
def point_side(parts, h, right, heads):
    """Add the subgradient at a tree: E1 - E2 for a gain, refunds less E1 for a loss."""
    begin, way, count = places(parts.arcs, h, right)
    siblings, directions = parts.scores.siblings, parts.multipliers.directions
    last = -1
    for own in range(count):
        if heads[parts.arcs.of[h, begin + way * own]] != h:
            continue
        for j in range(last):
            low, high = ends(parts.arcs, h, right, j, own)
            directions[h, low, high] += 1.0 if siblings[h, low, high] > 0.0 else -1.0
        for outer in range(own + 1, count):
            if last >= 0:
                low, high = ends(parts.arcs, h, right, last, outer)
                if siblings[h, low, high] > 0.0:
                    directions[h, low, high] -= 1.0
            for j in range(last + 1, own):
                low, high = ends(parts.arcs, h, right, j, outer)
                if siblings[h, low, high] < 0.0:
                    directions[h, low, high] += 1.0
        last = own
