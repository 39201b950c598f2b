"""Chains g -> h -> m, for first-order backbones.

Each arc h -> m gets the best of its chains' scores less their multipliers; the arc g -> h gets the
multipliers whether or not the chain is in the tree. This is a bound, as no multiplier is below 0:

    sum over g of s_ghm y_gh y_hm <= y_hm max_g (s_ghm - u_ghm) + sum over g of u_ghm y_gh
"""

from .....jit import internal
from .records import in_range

INF = float("inf")


@internal()
def _multiplier(parts, g, h, m):
    return in_range(parts.multipliers.grandparents[g, h, m], parts.multipliers.limit)


@internal()
def _reduced(parts, projective, g, h, m):
    """Return the score of a chain less its multiplier, ``-inf`` if no tree has it."""
    if g == m or (projective and min(h, m) < g < max(h, m)):
        return -INF
    score = max(parts.scores.grandparents[g, h, m], parts.scores.forbidden)
    return score - _multiplier(parts, g, h, m)


@internal()
def relax_chains(parts, projective, arcs):
    """Add the bounds of chains to the scores of arcs."""
    for h in range(1, arcs.shape[0]):
        for i in range(parts.arcs.count[h]):
            m = parts.arcs.of[h, i]
            best = -INF
            for k in range(parts.arcs.choices[h]):
                g = parts.arcs.above[h, k]
                reduced = _reduced(parts, projective, g, h, m)
                if reduced > -INF:
                    best = max(best, reduced)
                    arcs[g, h] += _multiplier(parts, g, h, m)
            arcs[h, m] += best


@internal()
def _assumed(parts, projective, heads, h, m):
    """Return the grandparent of the best chain over an arc; in a tie, that of the tree."""
    assumed = heads[h]
    best = _reduced(parts, projective, assumed, h, m)
    for k in range(parts.arcs.choices[h]):
        g = parts.arcs.above[h, k]
        reduced = _reduced(parts, projective, g, h, m)
        if reduced > best:
            best, assumed = reduced, g
    return assumed


@internal()
def step_chains(parts, projective, heads, step):
    """Take a subgradient step; with step 0 return the squared norm of the subgradient.

    If the best chain over an arc has another grandparent than the tree, its multiplier is raised,
    and that of the tree's chain lowered.
    """
    norm, x = 0.0, parts.multipliers.grandparents
    for h in range(1, heads.shape[0]):
        actual = heads[h]
        for i in range(parts.arcs.count[h]):
            m = parts.arcs.of[h, i]
            assumed = _assumed(parts, projective, heads, h, m) if heads[m] == h else -1
            if assumed == actual:
                continue
            if x[actual, h, m] > 0.0:
                norm += 1.0
                x[actual, h, m] = max(x[actual, h, m] - step, 0.0)
            if assumed >= 0:
                norm += 1.0
                x[assumed, h, m] = min(x[assumed, h, m] + step, parts.multipliers.limit)
    return norm


@internal()
def add_chain_gaps(parts, projective, heads, gaps):
    """Add to each arc the gap between bound and score of its chains at a tree (section 3.3)."""
    for h in range(1, heads.shape[0]):
        above = heads[h]
        for i in range(parts.arcs.count[h]):
            m = parts.arcs.of[h, i]
            excess = parts.multipliers.grandparents[above, h, m]
            if heads[m] == h:
                actual = _reduced(parts, projective, above, h, m)
                best = _reduced(parts, projective, _assumed(parts, projective, heads, h, m), h, m)
                excess = best - actual if actual > -INF else 0.0
            gaps[h, m] += excess
            gaps[above, h] += excess
