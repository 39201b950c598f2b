"""Scores of trees, the best trees so far, and hill climbing."""

from .....jit import internal
from ...kernels.rows import copy_all

INF = float("inf")


@internal()
def _chain_score(scores, g, h, m):
    if h == 0 or scores.grandparents.shape[0] == 1:
        return 0.0
    return max(scores.grandparents[g, h, m], scores.forbidden)


@internal()
def _sibling_score(scores, h, a, b):
    return max(scores.siblings[h, min(a, b), max(a, b)], scores.forbidden)


@internal()
def tree_score(scores, heads):
    """Return the score of a tree, where a forbidden part scores `forbidden`."""
    size, value = scores.arcs.shape[0], 0.0
    for m in range(1, size):
        h = heads[m]
        value += scores.arcs[h, m] + _chain_score(scores, heads[h], h, m)
        if scores.siblings.shape[0] > 1:
            for b in range(m + 1, size):
                if heads[b] == h:
                    value += _sibling_score(scores, h, m, b)
    for f in range(scores.factor_scores.shape[0]):
        number = 0
        for i in range(scores.factor_offsets[f], scores.factor_offsets[f + 1]):
            number += heads[scores.factor_arcs[i, 1]] == scores.factor_arcs[i, 0]
        if scores.factor_low[f] <= number <= scores.factor_high[f]:
            value += max(scores.factor_scores[f], scores.forbidden)
    return value + _boundary_score(scores, heads)


@internal()
def _top(heads, m):
    """Return the modifier of the root that dominates m, or is m."""
    while heads[m] != 0:
        m = heads[m]
    return m


@internal()
def _boundary_score(scores, heads):
    """Return the score of the boundaries between a tree's sentences."""
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
def offer(incumbents, heads, value):
    """Insert a tree into the incumbents if it is new and good enough."""
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
def _worth_under(scores, heads, h, m):
    """Return the score of the arcs, grandparents and siblings of m attached to h."""
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
def _may_move(scores, heads, h, m, projective):
    """Return whether m may be attached to h: without a cycle, and projective if required.

    If boundaries are scored, sentences are not changed.
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


@internal(counted=True)
def climb(arcs, scores, incumbents, heads, options):
    """Reattach one token at a time to its best remaining head until nothing improves.

    The moves ignore factors; the final tree is scored with them.
    """
    heads = heads.copy()
    keeps_roots = options.single_root or scores.gaps.size > 0
    improved = True
    while improved:
        improved = False
        for m in range(1, scores.arcs.shape[0]):
            old = heads[m]
            if (old == 0 and keeps_roots) or arcs.choices[m] == 1:
                continue
            present = _worth_under(scores, heads, old, m)
            best, choice = present + 1e-9 * max(1.0, abs(present)), old
            for k in range(arcs.choices[m]):
                h = arcs.above[m, k]
                if h == old or (h == 0 and keeps_roots):
                    continue
                worth = _worth_under(scores, heads, h, m)
                if worth > best and _may_move(scores, heads, h, m, options.projective):
                    best, choice = worth, h
            if choice != old:
                heads[m] = choice
                improved = True
    offer(incumbents, heads, tree_score(scores, heads))
