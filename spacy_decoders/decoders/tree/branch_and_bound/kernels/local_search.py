"""What trees are worth, the best of them so far, and hill climbing from good ones."""

import numpy as np

from .....jit import internal
from ...kernels.rows import copy_all
from .arc_lists import is_free

INF = np.inf


@internal()
def _pays(scores, f, number):
    if scores.factor_low[f] <= number <= scores.factor_high[f]:
        return max(scores.factor_scores[f], scores.forbidden)
    return 0.0


@internal()
def _count_arc(scores, index, h, m, by):
    """Add or remove an arc in the factors' counters; return the change of the score."""
    size = scores.arcs.shape[0]
    gain = 0.0
    for i in range(index.offsets[h * size + m], index.offsets[h * size + m + 1]):
        f = index.factors[i]
        number = np.int64(index.counts[f])
        gain += _pays(scores, f, number + by) - _pays(scores, f, number)
        index.counts[f] += by
    return gain


@internal()
def _chain_score(scores, g, h, m):
    if h == 0 or scores.grandparents.shape[0] == 1:
        return 0.0
    return max(scores.grandparents[g, h, m], scores.forbidden)


@internal()
def _sibling_score(scores, h, a, b):
    if scores.siblings.shape[0] == 1:
        return 0.0
    return max(scores.siblings[h, min(a, b), max(a, b)], scores.forbidden)


@internal()
def _worth_under(scores, heads, h, m):
    """Return what arcs, grandparents and siblings pay for m under h, all other heads given."""
    value = scores.arcs[h, m] + _chain_score(scores, heads[h], h, m)
    if scores.grandparents.shape[0] > 1:
        for c in range(1, scores.arcs.shape[0]):
            if heads[c] == m:
                value += _chain_score(scores, h, m, c)
    if scores.siblings.shape[0] > 1:
        for c in range(1, scores.arcs.shape[0]):
            if c != m and heads[c] == h:
                value += _sibling_score(scores, h, m, c)
    return value


@internal()
def tree_score(scores, index, heads):
    """Return the objective of a tree, a forbidden part counting as `forbidden`."""
    size = scores.arcs.shape[0]
    value = index.constant
    for m in range(1, size):
        h = heads[m]
        value += scores.arcs[h, m] + _chain_score(scores, heads[h], h, m)
        value += _count_arc(scores, index, h, m, 1)
        if scores.siblings.shape[0] > 1:
            for b in range(m + 1, size):
                if heads[b] == h:
                    value += _sibling_score(scores, h, m, b)
    for m in range(1, size):
        _count_arc(scores, index, heads[m], m, -1)
    return value + _boundary_score(scores, heads)


@internal()
def _top(heads, m):
    """Return the root's modifier above m, m itself perhaps."""
    while heads[m] != 0:
        m = heads[m]
    return m


@internal()
def _boundary_score(scores, heads):
    """Return what the boundaries between a tree's sentences are worth."""
    value = 0.0
    if scores.gaps.size > 0:
        before = _top(heads, 1)
        for m in range(2, heads.shape[0]):
            top = _top(heads, m)
            if top != before:
                value += scores.gaps[m]
            before = top
    return value


@internal()
def _may_move(scores, heads, h, m, projective):
    """Return whether m may move under h: no cycle, and no crossing arc if that matters.

    Where boundaries are scored, sentences stay as they are.
    """
    if scores.gaps.size > 0 and _top(heads, h) != _top(heads, m):
        return False
    up = h
    while up != 0:
        if up == m:
            return False
        up = heads[up]
    if not projective:
        return True
    low, high = min(h, m), max(h, m)
    for k in range(1, heads.shape[0]):
        if k == m:
            continue
        if low < k < high:
            if heads[k] < low or heads[k] > high:
                return False
        elif (k < low or k > high) and low < heads[k] < high:
            return False
    return True


@internal()
def _climb(lists, scores, index, heads, value, options):
    """Move one token at a time under its best head that is left until nothing gains."""
    size = scores.arcs.shape[0]
    keeps_roots = options.single_root or scores.gaps.size > 0
    for m in range(1, size):
        _count_arc(scores, index, heads[m], m, 1)
    improved = True
    while improved:
        improved = False
        for m in range(1, size):
            old = heads[m]
            if (old == 0 and keeps_roots) or not is_free(lists, m):
                continue
            present = _worth_under(scores, heads, old, m)
            present -= _count_arc(scores, index, old, m, -1)
            best, choice = present + 1e-9 * max(1.0, abs(value)), old
            for a in range(lists.first[m], lists.first[m + 1]):
                h = lists.head[a]
                if h == old or (h == 0 and keeps_roots):
                    continue
                gain = _worth_under(scores, heads, h, m)
                gain += _count_arc(scores, index, h, m, 1)
                _count_arc(scores, index, h, m, -1)
                if gain > best and _may_move(scores, heads, h, m, options.projective):
                    best, choice = gain, h
            if choice != old:
                heads[m] = choice
                value += best - present
                improved = True
            _count_arc(scores, index, choice, m, 1)
    for m in range(1, size):
        _count_arc(scores, index, heads[m], m, -1)


@internal()
def _offer(incumbents, heads, value):
    """Take a tree among the incumbents if it is new and good enough."""
    k = incumbents.scores.shape[0]
    if value <= incumbents.scores[k - 1]:
        return
    for i in range(k):
        if incumbents.scores[i] == -INF:
            break
        same = True
        for m in range(1, heads.shape[0]):
            same = same and incumbents.heads[i, m] == heads[m]
        if same:
            return
    at = k - 1
    while at > 0 and incumbents.scores[at - 1] < value:
        incumbents.scores[at] = incumbents.scores[at - 1]
        copy_all(incumbents.heads[at], incumbents.heads[at - 1])
        at -= 1
    incumbents.scores[at] = value
    copy_all(incumbents.heads[at], heads)


@internal()
def starting_score(found, incumbents, upper):
    """Return what a tree must reach to be climbed from, given the best score `found` so far.

    The smaller the gap, the nearer to the best.
    """
    best = found if found > -INF else incumbents.scores[0]
    return best - 0.25 * max(upper - incumbents.scores[0], 0.0) if best > -INF else -INF


@internal(counted=True)
def consider(lists, scores, index, incumbents, heads, least, options):
    """Score a tree and keep it if it is good; climb from it if it is worth `least`.

    Climbing costs about as much as a pass, and hardly ever leads anywhere from poor trees.
    """
    value = tree_score(scores, index, heads)
    _offer(incumbents, heads, value)
    if value >= least:
        better = heads.copy()
        _climb(lists, scores, index, better, value, options)
        _offer(incumbents, better, tree_score(scores, index, better))
    return value
