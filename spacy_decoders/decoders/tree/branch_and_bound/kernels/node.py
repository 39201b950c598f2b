"""Branch and bound at one node: bound it, update the multipliers, and choose where to branch.

The parts that the backbone doesn't see are bounded by sums over arcs, or over adjacent siblings:
`_relax` writes these, `_update` takes a subgradient step on their multipliers, and
`_branching_arc` looks for the arc whose parts are bounded worst (Qian and Liu, 2013, sections
3.1 to 3.3).
"""

import numpy as np

from .....jit import internal, jit
from ...kernels import chu_liu_edmonds, eisner
from ...kernels.rows import copy_all, fill_all
from . import counted_factors as factors_
from . import crossing_pairs as crossings_
from . import grandparent_chains as chains_
from . import sibling_pairs as siblings_
from .arc_lists import holds_tree, is_free, list_arcs, mark_tree
from .chart import back_trace, empty_chart, inside
from .local_search import consider, starting_score
from .pair_multipliers import clip_direction, step_along
from .records import (
    FIRST,
    SECOND,
    BackboneScores,
    NodeFound,
    NodeParts,
)

INF = np.inf

#: Times that a node may look for a better tree around the best one.
MOST_POLISHED = 6


@internal(counted=True)
def _gather(lists, scores, multipliers, backbone):
    """Take the scores of all parts that are left, and the multipliers of earlier nodes."""
    count = lists.head.shape[0]
    base = np.zeros(count)
    for a in range(1, count):
        base[a] = scores.arcs[lists.head[a], lists.modifier[a]]
    chains = chains_.gather_chains(lists, scores, multipliers, backbone)
    pairs = siblings_.gather_siblings(lists, scores, multipliers)
    crossings = crossings_.gather_crossings(lists, scores, multipliers)
    factors = factors_.gather_factors(lists, scores, multipliers)
    adjacent = np.empty(lists.pairs[count] if backbone == SECOND else 0)
    scored = BackboneScores(
        base, np.empty(count), np.zeros(count), chains.score, adjacent, scores.gaps
    )
    return NodeParts(lists, scored, pairs, crossings, chains, factors)


@internal()
def _keep(parts, multipliers):
    """Leave the multipliers to the nodes that come."""
    siblings_.keep_siblings(parts.lists, parts.pairs, multipliers)
    crossings_.keep_crossings(parts.lists, parts.crossings, multipliers)
    chains_.keep_chains(parts.lists, parts.chains, multipliers)
    factors_.keep_factors(parts.factors, multipliers)


@internal()
def _relax(parts, backbone):
    """Write the scores that the backbone runs on; return the constant of the bound."""
    lists, scored = parts.lists, parts.backbone
    copy_all(scored.arc, scored.base)
    constant = parts.factors.constant
    if backbone == SECOND:
        siblings_.relax_onto_adjacent(lists, parts.pairs, scored)
    else:
        constant += siblings_.relax_onto_arcs(lists, parts.pairs, scored)
        chains_.relax_chains(lists, parts.chains, scored)
    constant += crossings_.relax_crossings(lists, parts.crossings, scored)
    return constant + factors_.relax_factors(parts.factors, scored)


@internal()
def _linearise(parts, chosen):
    """Write scores of second order by what each part adds to a tree as it stands.

    The best tree under these is a promising start for local search.
    """
    lists, scored = parts.lists, parts.backbone
    copy_all(scored.arc, scored.base)
    fill_all(scored.start, 0.0)
    siblings_.linearise_siblings(lists, parts.pairs, scored, chosen)
    crossings_.linearise_crossings(lists, parts.crossings, scored, chosen)
    factors_.linearise_factors(parts.factors, scored, chosen)


@internal()
def _update(parts, heads, in_tree, gap, rate, options):
    """Take one Polyak step: as long as would close the gap if the bound were linear."""
    lists, pairs, crossings = parts.lists, parts.pairs, parts.crossings
    siblings_.point_siblings(lists, pairs, in_tree, options.backbone, options.momentum)
    crossings_.point_crossings(lists, crossings, in_tree, options.momentum)
    norm = clip_direction(pairs.score, pairs.multiplier, pairs.direction)
    norm += clip_direction(crossings.score, crossings.multiplier, crossings.direction)
    norm += factors_.step_factors(parts.factors, in_tree, 0.0)
    norm += chains_.step_chains(lists, parts.chains, heads, in_tree, 0.0)
    if norm == 0.0:
        return
    step = rate * gap / norm
    step_along(pairs.score, pairs.multiplier, pairs.direction, step)
    step_along(crossings.score, crossings.multiplier, crossings.direction, step)
    factors_.step_factors(parts.factors, in_tree, step)
    chains_.step_chains(lists, parts.chains, heads, in_tree, step)


@internal(counted=True)
def _branching_arc(parts, heads, in_tree, backbone):
    """Return the free arc whose parts have the largest gap between bound and score (3.3)."""
    lists = parts.lists
    gaps = np.zeros(lists.head.shape[0])
    siblings_.add_sibling_gaps(lists, parts.pairs, in_tree, backbone, gaps)
    crossings_.add_crossing_gaps(lists, parts.crossings, in_tree, gaps)
    factors_.add_factor_gaps(parts.factors, in_tree, gaps)
    chains_.add_chain_gaps(lists, parts.chains, heads, in_tree, gaps)
    best, choice = -1.0, -1
    for a in range(1, lists.head.shape[0]):
        if is_free(lists, lists.modifier[a]):
            # without any gap, branch on the tree itself
            gap = gaps[a] + (1e-12 if in_tree[a] else 0.0)
            if gap > best:
                best, choice = gap, a
    return choice


@internal(counted=True)
def _run_first_order(lists, arc, gaps, table, tokens, heads, single_root):
    """Run Eisner or Chu-Liu-Edmonds on the arcs that are left; return the value.

    Without any tree it is ``-inf``.
    """
    size = heads.shape[0]
    dense = table[0]
    for h in range(size):
        for m in range(size):
            a = lists.index[h, m]
            dense[h, m] = arc[a] if a >= 0 else -INF
    if tokens is None:
        value = eisner.inside(dense, single_root, gaps, table[1], table[2], table[3], table[4])
        if value > -INF:
            eisner.back_trace(
                dense, single_root, gaps, table[1], table[2], table[3], table[4], heads
            )
        return value
    return chu_liu_edmonds.solve_rooted(
        dense, single_root, heads, np.empty(2 * size), tokens, np.empty((0, 0))
    )[0]


@internal()
def closing_slack(incumbents, options):
    """Return how far above a score a bound may lie that proves it, as `search` does."""
    if incumbents.scores[0] == -INF:
        return 0.0
    least = options.tolerance * (1.0 + abs(incumbents.scores[0]))
    return min(least, max(least, 2.0 * options.rounding) - options.rounding)


@internal()
def _note(heads, seen):
    """Write a tree over the one before; return whether it is another."""
    new = False
    for m in range(1, heads.shape[0]):
        new = new or heads[m] != seen[m]
        seen[m] = heads[m]
    return new


@jit()
def solve_node(scores, bounding, index, multipliers, incumbents, mask, options, table, tokens):
    """Lower the bound of one node, and fill `incumbents`.

    Parameters
    ----------
    bounding
        Scores whose best tree bounds that of `scores`: mostly the same.
    mask
        uint8 (n + 1, n + 1), the arcs of the node.
    table, tokens
        Room for :func:`_run_first_order`: float64 (5, n + 1, n + 1) and, unless None for Eisner,
        int64 (4, 2n + 2). Both None for the chart of second order: their types tell the
        backbone, so that only this backbone is compiled.

    Returns
    -------
    NodeFound
        Whether the node seems closed, or the arc to branch on.
    """
    size, k = mask.shape[0], incumbents.scores.shape[0]
    backbone = options.backbone
    second = backbone == SECOND
    with_pairs = second or bounding.siblings.shape[0] > 1
    with_chains = second or bounding.grandparents.shape[0] > 1
    lists, complete = list_arcs(mask, options.single_root, with_chains, with_pairs)
    if not complete:
        return NodeFound(0, -1, -1)
    parts = _gather(lists, bounding, multipliers, backbone)
    arcs = lists.head.shape[0]
    in_tree = np.zeros(arcs, np.uint8)
    if table is None:
        chart = empty_chart(lists, arcs, size)
    upper, passes, polished, stalled, rate = INF, 0, 0, 0, options.rate
    failures = rest = 0  # climbs that led nowhere, and trees to pass over before the next one
    found = -INF  # the best score of a tree as it came, before any climbing
    leader = incumbents.scores[0]
    heads = np.zeros(size, np.int32)
    seen = np.full(size, -1, np.int32)
    while True:
        if table is None:
            late = passes > 4 and polished < MOST_POLISHED  # easy nodes are done by then
            if late and incumbents.scores[0] > leader:
                leader = incumbents.scores[0]
                polished += 1
                passes += 1
                copy_all(heads, incumbents.heads[0])
                if holds_tree(lists, heads):
                    mark_tree(lists, heads, in_tree)
                    _linearise(parts, in_tree)
                    inside(lists, parts.backbone, chart)
                    back_trace(lists, parts.backbone, chart, heads)
                    least = starting_score(found, incumbents, upper)
                    truth = consider(lists, scores, index, incumbents, heads, least, options)
                    found = max(found, truth)
                    continue
        constant = _relax(parts, backbone)
        passes += 1
        if table is None:
            value = inside(lists, parts.backbone, chart)
        else:
            value = _run_first_order(
                lists, parts.backbone.arc, parts.backbone.gaps, table, tokens, heads,
                options.single_root,
            )  # fmt: skip
        value += constant
        if value == -INF:
            return NodeFound(passes, -1, -1)
        threshold = incumbents.scores[k - 1]
        stalled = 0 if value < upper - 1e-3 * max(upper - threshold, 0.0) else stalled + 1
        upper = min(upper, value)
        if table is None:
            back_trace(lists, parts.backbone, chart, heads)
        mark_tree(lists, heads, in_tree)
        if _note(heads, seen):
            least = starting_score(found, incumbents, upper) if rest == 0 else INF
            best = incumbents.scores[0]
            truth = consider(lists, scores, index, incumbents, heads, least, options)
            found = max(found, truth)
            if incumbents.scores[0] > best:
                failures = 0
            elif truth >= least:
                failures += 1
            rest = failures if truth >= least else max(rest - 1, 0)
        threshold = incumbents.scores[k - 1]
        slack = closing_slack(incumbents, options)
        if value <= threshold + slack:
            # the multipliers of this very pass prove it
            _keep(parts, multipliers)
            return NodeFound(passes, -1, -1)
        if passes >= options.passes:
            a = _branching_arc(parts, heads, in_tree, backbone)
            _keep(parts, multipliers)
            if a < 0:  # one tree is left
                return NodeFound(passes, -1, -1)
            return NodeFound(passes, np.int64(lists.head[a]), np.int64(lists.modifier[a]))
        if stalled >= 3:
            rate *= 0.6
            stalled = 0
        target = threshold if threshold > -INF else incumbents.scores[0]
        _update(parts, heads, in_tree, max(value - target, slack), rate, options)


def room(backbone, size):
    """Return `table` and `tokens` of a backbone, as :func:`solve_node` wants them."""
    if backbone == SECOND:
        return None, None
    table = np.empty((5, size, size))
    return table, np.empty((4, 2 * size), np.int64) if backbone != FIRST else None
