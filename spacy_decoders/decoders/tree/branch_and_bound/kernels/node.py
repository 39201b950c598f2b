"""Branch and bound at one node: bound it, update the multipliers, and choose where to branch.

The parts that the backbone doesn't see are bounded by sums over arcs, or over adjacent siblings:
`_relax` writes these, `_update` takes a subgradient step on their multipliers, and
`_branching_arc` looks for the arc whose parts are bounded worst (Qian and Liu, 2013, sections
3.1 to 3.3).
"""

import numpy as np

from .....jit import internal, jit
from ...kernels import chu_liu_edmonds, eisner
from ...kernels.rows import copy_all
from . import arc_pairs as pairs_
from . import counted_factors as factors_
from . import grandparent_chains as chains_
from . import sibling_pairs as siblings_
from .arc_lists import is_free, list_arcs, mark_tree
from .chart import back_trace, empty_chart, inside
from .incumbents import climb, offer, tree_score
from .records import (
    FIRST,
    SECOND,
    BackboneScores,
    NodeFound,
    NodeParts,
)

INF = np.inf


@internal(counted=True)
def _gather(lists, scores, multipliers, options):
    """Take the scores of all parts that are left, and the multipliers of earlier nodes."""
    count = lists.head.shape[0]
    base = np.zeros(count)
    for a in range(1, count):
        base[a] = scores.arcs[lists.head[a], lists.modifier[a]]
    chains = chains_.gather_chains(lists, scores, multipliers, options.backbone)
    siblings = siblings_.gather_siblings(lists, scores, multipliers)
    pairs = pairs_.gather_pairs(lists, scores, multipliers, options)
    factors = factors_.gather_factors(lists, scores, multipliers)
    adjacent = np.empty(lists.pairs[count])
    scored = BackboneScores(
        base, np.empty(count), np.zeros(count), chains.score, adjacent, scores.gaps
    )
    return NodeParts(lists, scored, siblings, pairs, chains, factors)


@internal()
def _keep(parts, multipliers):
    """Leave the multipliers to the nodes that come."""
    siblings_.keep_siblings(parts.lists, parts.siblings, multipliers)
    pairs_.keep_pairs(parts.lists, parts.pairs, multipliers)
    chains_.keep_chains(parts.lists, parts.chains, multipliers)
    factors_.keep_factors(parts.factors, multipliers)


@internal()
def _relax(parts, backbone):
    """Write the scores that the backbone runs on; return the constant of the bound."""
    lists, scored = parts.lists, parts.backbone
    copy_all(scored.arc, scored.base)
    if backbone == SECOND:
        siblings_.relax_onto_adjacent(lists, parts.siblings, scored)
    else:
        chains_.relax_chains(lists, parts.chains, scored)
    constant = parts.factors.constant + pairs_.relax_pairs(parts.pairs, scored.arc)
    return constant + factors_.relax_factors(parts.factors, scored)


@internal()
def _update(parts, heads, in_tree, gap, rate, options):
    """Take one Polyak step: as long as would close the gap if the bound were linear."""
    lists = parts.lists
    siblings_.point_siblings(lists, parts.siblings, in_tree, options.momentum)
    pairs_.point_pairs(parts.pairs, in_tree, options.momentum)
    norm = pairs_.clip_direction(parts.siblings) + pairs_.clip_direction(parts.pairs)
    norm += factors_.step_factors(parts.factors, in_tree, 0.0)
    norm += chains_.step_chains(lists, parts.chains, heads, in_tree, 0.0)
    if norm == 0.0:
        return
    step = rate * gap / norm
    pairs_.step_along(parts.siblings, step)
    pairs_.step_along(parts.pairs, step)
    factors_.step_factors(parts.factors, in_tree, step)
    chains_.step_chains(lists, parts.chains, heads, in_tree, step)


@internal(counted=True)
def _branching_arc(parts, heads, in_tree):
    """Return the free arc whose parts have the largest gap between bound and score (3.3)."""
    lists = parts.lists
    gaps = np.zeros(lists.head.shape[0])
    siblings_.add_sibling_gaps(lists, parts.siblings, in_tree, gaps)
    pairs_.add_pair_gaps(parts.pairs, in_tree, gaps)
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
        dense, single_root, True, heads, np.empty(2 * size), tokens
    )[0]


@internal()
def closing_slack(incumbents, options):
    """Return how far above a score a bound may lie that proves it, as `search` does."""
    if incumbents.scores[0] == -INF:
        return 0.0
    least = options.tolerance * (1.0 + abs(incumbents.scores[0]))
    return min(least, max(least, 2.0 * options.rounding) - options.rounding)


@jit()
def solve_node(scores, bounding, multipliers, incumbents, mask, options, table, tokens):
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
    with_chains = second or bounding.grandparents.shape[0] > 1
    lists, complete = list_arcs(mask, options.single_root, with_chains, second)
    if not complete:
        return NodeFound(0, -1, -1)
    parts = _gather(lists, bounding, multipliers, options)
    arcs = lists.head.shape[0]
    in_tree = np.zeros(arcs, np.uint8)
    if table is None:
        chart = empty_chart(lists, arcs, size)
    upper, passes, stalled, rate = INF, 0, 0, options.rate
    heads = np.zeros(size, np.int32)
    found = last = -INF  # the score of the best tree as it came, and of the last one
    failures = rest = 0  # climbs that led nowhere, and trees to pass over before the next one
    while True:
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
        # a climb takes about as long as a pass, and hardly ever leads anywhere from poor trees
        least = found if passes > 1 else incumbents.scores[0]
        least -= 0.25 * max(upper - incumbents.scores[0], 0.0)
        truth = tree_score(scores, heads)
        offer(incumbents, heads, truth)
        rest = max(rest - 1, 0)
        if rest == 0 and truth >= least and truth != last:
            before = incumbents.scores[0]
            climb(lists, scores, incumbents, heads, options)
            failures = 0 if incumbents.scores[0] > before else failures + 1
            rest = failures + 1
        found, last = max(found, truth), truth
        threshold = incumbents.scores[k - 1]
        slack = closing_slack(incumbents, options)
        if value <= threshold + slack:
            # the multipliers of this very pass prove it
            _keep(parts, multipliers)
            return NodeFound(passes, -1, -1)
        if passes >= options.passes:
            a = _branching_arc(parts, heads, in_tree)
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
