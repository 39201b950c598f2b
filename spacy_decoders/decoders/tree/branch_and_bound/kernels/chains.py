"""Chains g -> h -> m, for backbones that see single arcs only.

Each arc h -> m takes the best of its chains, less their multipliers; a multiplier is paid to the
arc g -> h whether or not the chain is in the tree, which is a bound as no multiplier is below 0:

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
    """Add what chains add to single arcs."""
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
    """Return the grandparent that an arc of the tree takes; a tie is no disagreement."""
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

    An arc of the tree may assume another grandparent than the tree has: the multiplier of the
    chain that it assumes rises, and that of the actual chain falls.
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
    """Add to each arc by how much its chains are bounded too high at a tree (section 3.3)."""
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
