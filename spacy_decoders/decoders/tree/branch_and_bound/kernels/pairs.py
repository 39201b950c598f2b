"""Pairs of modifiers of one head, bounded by their two arcs.

The multiplier x of a pair lies between 0 and the absolute score. A gain s is bounded by x for the
left arc plus s - x for the right one (eq. 5 of Qian and Liu); a loss -l by x less x for each of
the two arcs (eq. 6):

    s y_a y_b <= x y_a + (s - x) y_b,        -l y_a y_b <= x - x y_a - x y_b

No chart scores pairs on different sides of their head. On one side, the second-order chart scores
adjacent siblings exactly. Any other pair there, the inner sibling j and the outer k, is bounded by
two events that adjacent siblings decide: E1, "k's adjacent inner sibling lies beyond j", and E2,
"j's adjacent outer sibling lies before k". A gain s is split between them, x E1 + (s - x) E2, as
in eq. 5. A loss is charged x for E1, which is refunded if j is skipped, that is, if an adjacent
pair spans it: tighter than eq. 6, as there is no constant.
"""

from .....jit import internal
from .records import in_range


@internal()
def score_of(parts, h, first, last):
    """Return the score of a pair, `forbidden` for a forbidden one."""
    return max(parts.scores.siblings[h, first, last], parts.scores.forbidden)


@internal()
def pair_of(parts, h, first, last):
    """Return the score of a pair and its multiplier, clipped to its range."""
    score = score_of(parts, h, first, last)
    return score, in_range(parts.multipliers.siblings[h, first, last], abs(score))


@internal()
def first_partner(arcs, h, i, crossing_only):
    """Return the index of the first modifier of h that forms a pair with the one at index i."""
    if not crossing_only:
        return i + 1
    return arcs.before[h] if i < arcs.before[h] else arcs.count[h]


@internal()
def relax_pairs(parts, h, crossing_only, arcs):
    """Add the bounds of a head's pairs to the scores of arcs; return the constant of the bound."""
    left = parts.arcs
    constant = 0.0
    for i in range(left.count[h]):
        first = left.of[h, i]
        for j in range(first_partner(left, h, i, crossing_only), left.count[h]):
            last = left.of[h, j]
            score, x = pair_of(parts, h, first, last)
            if score > 0.0:
                arcs[h, first] += x
                arcs[h, last] += score - x
            else:
                arcs[h, first] -= x
                arcs[h, last] -= x
                constant += x
    return constant


@internal()
def point_pairs(parts, h, crossing_only, heads):
    """Add the subgradient at a tree to the directions."""
    left, directions = parts.arcs, parts.multipliers.directions
    for i in range(left.count[h]):
        first = left.of[h, i]
        for j in range(first_partner(left, h, i, crossing_only), left.count[h]):
            last = left.of[h, j]
            score = parts.scores.siblings[h, first, last]
            one, other = 1.0 * (heads[first] == h), 1.0 * (heads[last] == h)
            if score > 0.0:
                directions[h, first, last] += one - other
            elif score < 0.0:
                directions[h, first, last] += 1.0 - one - other


@internal()
def step_pairs(parts, h, step):
    """Move multipliers against the direction, within their range, and clear the direction.

    With step 0, instead clear directions that lead out of the range, and return the squared norm
    of the others.
    """
    left, multipliers = parts.arcs, parts.multipliers.siblings
    directions, norm = parts.multipliers.directions, 0.0
    for i in range(left.count[h]):
        for j in range(i + 1, left.count[h]):
            first, last = left.of[h, i], left.of[h, j]
            x, d = multipliers[h, first, last], directions[h, first, last]
            if d == 0.0:
                continue
            most = abs(score_of(parts, h, first, last))
            if step > 0.0:
                multipliers[h, first, last] = min(max(x - step * d, 0.0), most)
                directions[h, first, last] = 0.0
            elif (d > 0.0 and x <= 0.0) or (d < 0.0 and x >= most):
                directions[h, first, last] = 0.0
            else:
                norm += d * d
    return norm


# --- pairs on one side, with the second-order chart -----------------------------------


@internal()
def places(arcs, h, right):
    """Return where a side of a head begins in its modifiers, the step outwards, and its size."""
    if right:
        return arcs.before[h], 1, arcs.count[h] - arcs.before[h]
    return arcs.before[h] - 1, -1, arcs.before[h]


@internal()
def ends(arcs, h, right, inner, outer):
    """Return the left and the right of two modifiers on a side, given as counted from the head."""
    begin, way, _ = places(arcs, h, right)
    j, k = arcs.of[h, begin + way * inner], arcs.of[h, begin + way * outer]
    return (j, k) if right else (k, j)


@internal()
def relax_side(parts, h, right, arcs, pairs):
    """Write the scores of adjacent siblings on a side, and add to the scores of arcs."""
    begin, way, count = places(parts.arcs, h, right)
    gains, losses = parts.gains, parts.losses  # by inner sibling j, summed over all beyond k
    for j in range(count):
        gains[j] = losses[j] = 0.0
    for k in range(count - 1, -1, -1):
        skipped = 0.0
        for j in range(k):
            skipped += losses[j]
        # the refund if k is the innermost modifier; subtracted from its pairs below
        arcs[h, parts.arcs.of[h, begin + way * k]] += skipped
        charged = passed = 0.0
        for j in range(k):
            low, high = ends(parts.arcs, h, right, j, k)
            score, x = pair_of(parts, h, low, high)
            passed += losses[j]
            # the net refund is that of the modifiers between j and k, which the pair spans
            pairs[h, low, high] = score + charged + gains[j] - passed
            if score > 0.0:
                charged += x
                gains[j] += score - x
            else:
                charged -= x
                losses[j] += x


@internal()
def point_side(parts, h, right, heads):
    """Add the subgradient at a tree: E1 - E2 for a gain, the refunds less E1 for a loss."""
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
