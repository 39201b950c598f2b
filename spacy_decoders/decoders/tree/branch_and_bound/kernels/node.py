"""Branch and bound at one node: bound it, update the multipliers, and choose where to branch.

The backbone finds the best tree of the :mod:`.relaxation`; `_update` takes a subgradient step on
the multipliers there, and `branching_arc` looks for the arc whose parts are bounded worst (Qian
and Liu, 2013, sections 3.1 to 3.3).
"""

import numpy as np

from .....jit import internal, jit
from ...kernels import chu_liu_edmonds, eisner, second_order
from ...kernels.rows import copy_all
from .chains import add_chain_gaps, step_chains
from .counted_factors import (
    add_factor_gaps,
    bound_factors_below,
    settle_factors,
    step_factors,
)
from .incumbents import climb, offer, tree_score
from .pairs import (
    point_pairs,
    point_side,
    step_pairs,
)
from .records import NodeFound
from .relaxation import first_paired, gather, relax_into, room

INF = np.inf


@internal()
def _has_chains(parts, options):
    return parts.scores.grandparents.shape[0] > 1 and not options.second


@internal()
def _update(parts, heads, gap, options):
    """Take one Polyak step, which would close the gap if the bound were linear."""
    size, stored = heads.shape[0], parts.multipliers.factors
    begin, norm = first_paired(parts, options.single_root), 0.0
    for h in range(begin, size):
        if options.second:
            point_side(parts, h, True, heads)
            point_side(parts, h, False, heads)
        point_pairs(parts, h, options.second, heads)
        norm += step_pairs(parts, h, 0.0)
    norm += step_factors(parts.factors, stored, heads, 0.0)
    if _has_chains(parts, options):
        norm += step_chains(parts, options.projective, heads, 0.0)
    if norm == 0.0:
        return
    step = options.rate * gap / norm
    for h in range(begin, size):
        step_pairs(parts, h, step)
    step_factors(parts.factors, stored, heads, step)
    if _has_chains(parts, options):
        step_chains(parts, options.projective, heads, step)


@internal(counted=True)
def branching_arc(parts, heads, options):
    """Return the free arc whose parts have the largest gap between bound and score (3.3)."""
    size = heads.shape[0]
    gaps = np.zeros((size, size))
    add_factor_gaps(parts.factors, parts.multipliers.factors, heads, gaps)
    if _has_chains(parts, options):
        add_chain_gaps(parts, options.projective, heads, gaps)
    best, head, modifier = -1.0, -1, -1
    for m in range(1, size):
        for h in range(size):
            if parts.arcs.mask[h, m] and parts.arcs.choices[m] > 1:
                # without any gap, branch on the tree itself
                gap = gaps[h, m] + (1e-12 if heads[m] == h else 0.0)
                if gap > best:
                    best, head, modifier = gap, h, m
    return head, modifier


@internal(counted=True)
def _best_tree(arcs, pairs, grandparents, gaps, single_root, space, table, tokens, heads):
    """Write the best tree of a backbone; return its value, ``-inf`` without any."""
    value = -INF
    if space is not None:
        found, value = second_order.decode(
            arcs, grandparents, pairs, gaps, single_root, False, space
        )
        for m in range(1, heads.shape[0]):
            heads[m] = found[m - 1]
    if table is not None:
        value = eisner.inside(arcs, single_root, gaps, table)
        if value > -INF:
            eisner.back_trace(arcs, single_root, gaps, table, heads)
    if tokens is not None:
        work = np.empty(2 * heads.shape[0])
        value = chu_liu_edmonds.solve_rooted(arcs, single_root, heads, work, tokens)[0]
    return value


@internal()
def closing_slack(incumbents, options):
    """Return how far above a score a bound may lie that proves it, as :mod:`.search` does."""
    if incumbents.scores[0] == -INF:
        return 0.0
    least = options.tolerance * (1.0 + abs(incumbents.scores[0]))
    return min(least, max(least, 2.0 * options.rounding) - options.rounding)


@jit()
def solve_node(scores, multipliers, incumbents, mask, options, grandparents, space, table, tokens):
    """Lower the bound of one node, and update `incumbents`; return :class:`NodeFound`.

    **Shape**: mask uint8 (n + 1, n + 1), the arcs of the node; grandparents finite, for the
    second-order chart, or empty. One workspace is given, which selects the backbone: `space` for
    this chart, `table`, float64 (4, n + 1, n + 1), for Eisner's, or `tokens`, int64 (4, 2n + 2),
    for Chu-Liu-Edmonds. The others are None, so that only this backbone is compiled.
    """
    size, k = mask.shape[0], incumbents.scores.shape[0]
    parts = gather(scores, multipliers, mask)
    for m in range(1, size):
        if parts.arcs.choices[m] == 0:
            return NodeFound(0, -1, -1)
    settle_factors(parts.factors, multipliers.factors)
    arcs, pairs = room(parts, options.second)
    passes, heads = 0, np.zeros(size, np.int32)
    while True:
        value = relax_into(
            parts, options.single_root, options.projective, options.second, arcs, pairs
        )
        passes += 1
        value += _best_tree(
            arcs, pairs, grandparents, scores.gaps, options.single_root, space, table, tokens,
            heads,
        )  # fmt: skip
        if value == -INF:
            return NodeFound(passes, -1, -1)
        offer(incumbents, heads, tree_score(scores, heads))
        threshold = incumbents.scores[k - 1]
        slack = closing_slack(incumbents, options)
        if value <= threshold + slack:
            # keep the multipliers of this pass: they prove it
            return NodeFound(passes, -1, -1)
        if passes >= options.passes:
            climb(parts.arcs, scores, incumbents, heads, options)
            head, modifier = branching_arc(parts, heads, options)
            return NodeFound(passes, head, modifier)
        target = threshold if threshold > -INF else incumbents.scores[0]
        _update(parts, heads, max(value - target, slack), options)


# --- the published method: all non-local parts are factors ----------------------------


@jit()
def step_as_published(scores, multipliers, mask, heads, length, options):
    """Take a projected subgradient step of some length, as published (section 3.2).

    New multipliers are initialised first. Returns the head and the modifier of the arc whose
    factors are bounded worst at the tree (section 3.3).
    """
    parts = gather(scores, multipliers, mask)
    settle_factors(parts.factors, multipliers.factors)
    arc = branching_arc(parts, heads, options)
    step_factors(parts.factors, multipliers.factors, heads, length)
    return arc


@jit()
def bounded_below(scores, multipliers, mask, heads):
    """Return arc scores that bound all trees from below, tight at the given one (section 3.4)."""
    parts = gather(scores, multipliers, mask)
    arcs, _ = room(parts, False)
    copy_all(arcs, scores.arcs)
    bound_factors_below(parts.factors, heads, arcs)
    return arcs
