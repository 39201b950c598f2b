"""What trees are worth, and the best of them so far."""

from .....jit import internal
from ...kernels.rows import copy_all

INF = float("inf")


@internal()
def tree_score(scores, heads):
    """Return the objective of a tree, a forbidden part counting as `forbidden`."""
    size, value = scores.arcs.shape[0], 0.0
    chained, paired = scores.grandparents.shape[0] > 1, scores.siblings.shape[0] > 1
    for m in range(1, size):
        h = heads[m]
        value += scores.arcs[h, m]
        if chained and h > 0:
            value += max(scores.grandparents[heads[h], h, m], scores.forbidden)
        if paired:
            for b in range(m + 1, size):
                if heads[b] == h:
                    value += max(scores.siblings[h, m, b], scores.forbidden)
    for f in range(scores.factor_scores.shape[0]):
        number = 0
        for i in range(scores.factor_offsets[f], scores.factor_offsets[f + 1]):
            number += heads[scores.factor_arcs[i, 1]] == scores.factor_arcs[i, 0]
        if scores.factor_low[f] <= number <= scores.factor_high[f]:
            value += max(scores.factor_scores[f], scores.forbidden)
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
def offer(incumbents, heads, value):
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
