"""Chains g -> h -> m, for backbones that see single arcs only.

Each arc h -> m takes the best of its chains, less their multipliers; a multiplier is paid to the
arc g -> h whether or not the chain is in the tree, which is a bound as no multiplier is below 0.
"""

import numpy as np

from .....jit import internal
from .records import FIRST, SECOND, GrandparentChains

INF = np.inf


@internal(counted=True)
def gather_chains(lists, scores, multipliers, backbone):
    """Take the scores of the chains that are left, and the multipliers of earlier nodes."""
    count = lists.head.shape[0]
    relaxed = scores.grandparents.shape[0] > 1 and backbone < SECOND
    score = np.zeros(lists.chains[count])
    multiplier = np.zeros(lists.chains[count] if relaxed else 0)
    chains = GrandparentChains(
        score, multiplier, np.empty(multiplier.shape[0]), np.zeros(count), np.zeros(count)
    )
    if lists.chains[count] > 0:
        _fill(lists, scores, multipliers, backbone, chains)
    return chains


@internal()
def _fill(lists, scores, multipliers, backbone, chains):
    """Write scores and multipliers; chains with a cycle or crossing arcs are forbidden."""
    scored, relaxed = scores.grandparents.shape[0] > 1, chains.multiplier.shape[0] > 0
    for a in range(1, lists.head.shape[0]):
        h, m = lists.head[a], lists.modifier[a]
        if h == 0:
            continue
        low, high = min(h, m), max(h, m)
        for t in range(lists.first[h + 1] - lists.first[h]):
            g, q = lists.head[lists.first[h] + t], lists.chains[a] + t
            if g == m or (backbone in (FIRST, SECOND) and low < g < high):
                chains.score[q] = -INF
            elif scored:
                chains.score[q] = max(scores.grandparents[g, h, m], scores.forbidden)
                if relaxed:
                    chains.multiplier[q] = max(multipliers.grandparents[g, h, m], 0.0)
        if relaxed:
            for t in range(lists.first[h + 1] - lists.first[h]):
                q = lists.chains[a] + t
                chains.reduced[q] = chains.score[q]
                if chains.score[q] > -INF:
                    _charge(lists, chains, h, q, t, chains.multiplier[q])
            _take_best(lists, chains, a)


@internal()
def _charge(lists, chains, h, q, t, by):
    """Take something off a chain and pay it to the arc of its grandparent, the slot t of h."""
    chains.reduced[q] -= by
    chains.paid[lists.first[h] + t] += by


@internal()
def _take_best(lists, chains, a):
    """Let an arc take the best that is left of its chains."""
    best = -INF
    for q in range(lists.chains[a], lists.chains[a + 1]):
        best = max(best, chains.reduced[q])
    chains.best[a] = best


@internal()
def keep_chains(lists, chains, multipliers):
    """Leave the multipliers to the nodes that come."""
    if chains.multiplier.shape[0] == 0:
        return
    for a in range(1, lists.head.shape[0]):
        h, m = lists.head[a], lists.modifier[a]
        if h > 0:
            for t in range(lists.first[h + 1] - lists.first[h]):
                g = lists.head[lists.first[h] + t]
                multipliers.grandparents[g, h, m] = chains.multiplier[lists.chains[a] + t]


@internal()
def relax_chains(lists, chains, backbone):
    """Add what chains add to single arcs."""
    for a in range(1, lists.head.shape[0]):
        backbone.arc[a] += chains.best[a] + chains.paid[a]


@internal()
def step_chains(lists, chains, heads, chosen, step):
    """Take a subgradient step; with step 0 return the squared norm of the subgradient.

    An arc of the tree may assume another grandparent than the tree has: the multiplier of the
    chain that it assumes rises, and that of the actual chain falls.
    """
    norm, x = 0.0, chains.multiplier
    if x.shape[0] == 0:
        return norm
    for a in range(1, lists.head.shape[0]):
        h = lists.head[a]
        if h == 0:
            continue
        q = lists.chains[a]
        actual = q + lists.index[heads[h], h] - lists.first[h]
        assumed = -1
        if chosen[a]:
            assumed = actual  # a tie is no disagreement
            for t in range(lists.first[h + 1] - lists.first[h]):
                if chains.reduced[q + t] > chains.reduced[assumed]:
                    assumed = q + t
        if assumed == actual:
            continue
        if x[actual] > 0.0:
            norm += 1.0
            by = min(step, x[actual])
            x[actual] -= by
            _charge(lists, chains, h, actual, actual - q, -by)
        if assumed >= 0:
            norm += 1.0
            x[assumed] += step
            _charge(lists, chains, h, assumed, assumed - q, step)
        if step > 0.0:
            _take_best(lists, chains, a)
    return norm


@internal()
def add_chain_gaps(lists, chains, heads, chosen, gaps):
    """Add to each arc by how much its chains are bounded too high at a tree (section 3.3)."""
    if chains.multiplier.shape[0] == 0:
        return
    for a in range(1, lists.head.shape[0]):
        h = lists.head[a]
        if h == 0:
            continue
        above = lists.index[heads[h], h]
        actual = lists.chains[a] + above - lists.first[h]
        excess = chains.multiplier[actual]
        if chosen[a]:
            if chains.reduced[actual] == -INF:
                continue
            excess = max(chains.best[a], chains.reduced[actual]) - chains.reduced[actual]
        gaps[a] += excess
        gaps[above] += excess
