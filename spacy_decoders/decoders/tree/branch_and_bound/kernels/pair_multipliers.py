"""Multipliers of single pairs of arcs: each lies between 0 and the absolute score.

A gain s is bounded by x for the one arc plus s - x for the other (eq. 5 of Qian and Liu); a
loss -s by x less x for each of the two arcs (eq. 6).
"""

from .....jit import internal


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
def clip_direction(score, multiplier, direction):
    """Cancel directions that leave the range of a multiplier; return the squared norm."""
    norm = 0.0
    for p in range(direction.shape[0]):
        x, d = multiplier[p], direction[p]
        if (d > 0.0 and x <= 0.0) or (d < 0.0 and x >= abs(score[p])):
            direction[p] = 0.0
        norm += direction[p] * direction[p]
    return norm


@internal()
def step_along(score, multiplier, direction, step):
    """Move multipliers against the direction, within their range."""
    for p in range(direction.shape[0]):
        if direction[p] != 0.0:
            moved = multiplier[p] - step * direction[p]
            multiplier[p] = min(max(moved, 0.0), abs(score[p]))


@internal()
def gap(score, x, one, other):
    """Return by how much a pair's bound exceeds its score, given which arcs are in the tree."""
    if score > 0.0:
        bound = (x if one else 0.0) + (score - x if other else 0.0)
    else:
        bound = x - (x if one else 0.0) - (x if other else 0.0)
    return max(bound - (score if one and other else 0.0), 0.0)
