"""Pairs of modifiers of one head, bounded by their two arcs.

The multiplier x of a pair lies between 0 and the absolute score. A gain s is bounded by x for the
left one's arc plus s - x for the other (eq. 5 of Qian and Liu); a loss -l by x less x for each of
the two arcs (eq. 6):

    s y_a y_b <= x y_a + (s - x) y_b,        -l y_a y_b <= x - x y_a - x y_b

No chart sees pairs on the two sides of their head; those on one side are seen by the chart of
second order, which has :mod:`.sides` for them.
"""

from .....jit import internal


@internal()
def score_of(parts, h, first, last):
    """Return the score of a pair, a forbidden one that of forbidden parts."""
    return max(parts.scores.siblings[h, first, last], parts.scores.forbidden)


@internal()
def multiplier_of(parts, h, first, last, score):
    """Return the multiplier of a pair, brought into its range."""
    return min(max(parts.multipliers.siblings[h, first, last], 0.0), abs(score))


@internal()
def first_partner(arcs, h, i, crossing_only):
    """Return the place of the first modifier of h that makes a pair with the one at place i."""
    if not crossing_only:
        return i + 1
    return arcs.before[h] if i < arcs.before[h] else arcs.count[h]


@internal()
def relax_pairs(parts, h, crossing_only, arcs):
    """Add what the pairs of a head add to single arcs; return the constant of the bound."""
    left = parts.arcs
    constant = 0.0
    for i in range(left.count[h]):
        first = left.of[h, i]
        for j in range(first_partner(left, h, i, crossing_only), left.count[h]):
            last = left.of[h, j]
            score = score_of(parts, h, first, last)
            x = multiplier_of(parts, h, first, last, score)
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
    """Add the subgradient of the multipliers at a tree to the directions."""
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
def clear_directions(parts, h):
    """Begin without a direction."""
    left = parts.arcs
    for i in range(left.count[h]):
        for j in range(i + 1, left.count[h]):
            parts.multipliers.directions[h, left.of[h, i], left.of[h, j]] = 0.0


@internal()
def clip_directions(parts, h):
    """Cancel directions that leave the range of a multiplier; return the squared norm."""
    left, directions, norm = parts.arcs, parts.multipliers.directions, 0.0
    for i in range(left.count[h]):
        for j in range(i + 1, left.count[h]):
            first, last = left.of[h, i], left.of[h, j]
            x, d = parts.multipliers.siblings[h, first, last], directions[h, first, last]
            if d == 0.0:
                continue
            if (d > 0.0 and x <= 0.0) or (d < 0.0 and x >= abs(score_of(parts, h, first, last))):
                directions[h, first, last] = 0.0
            else:
                norm += d * d
    return norm


@internal()
def step_along(parts, h, step, momentum):
    """Move multipliers against the direction, within their range, and slow the direction down."""
    left, multipliers = parts.arcs, parts.multipliers.siblings
    directions = parts.multipliers.directions
    for i in range(left.count[h]):
        for j in range(i + 1, left.count[h]):
            first, last = left.of[h, i], left.of[h, j]
            d = directions[h, first, last]
            if d != 0.0:
                moved = max(multipliers[h, first, last] - step * d, 0.0)
                most = abs(score_of(parts, h, first, last))
                multipliers[h, first, last] = min(moved, most)
                directions[h, first, last] = momentum * d


@internal()
def add_pair_gaps(parts, h, crossing_only, heads, gaps):
    """Add to each arc by how much its pairs are bounded too high at a tree (section 3.3)."""
    left = parts.arcs
    for i in range(left.count[h]):
        first = left.of[h, i]
        for j in range(first_partner(left, h, i, crossing_only), left.count[h]):
            last = left.of[h, j]
            score = score_of(parts, h, first, last)
            x = multiplier_of(parts, h, first, last, score)
            excess = gap(score, x, heads[first] == h, heads[last] == h)
            gaps[h, first] += excess
            gaps[h, last] += excess


@internal()
def gap(score, x, one, other):
    """Return by how much a pair's bound exceeds its score, given which arcs are in the tree."""
    if score > 0.0:
        bound = (x if one else 0.0) + (score - x if other else 0.0)
    else:
        bound = x - (x if one else 0.0) - (x if other else 0.0)
    return max(bound - (score if one and other else 0.0), 0.0)
