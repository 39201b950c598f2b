"""The chart of second order over the arcs that are left: inside and back-trace.

Koo and Collins's model 1 with adjacent siblings (Efficient Third-order Dependency Parsers, 2010):
every span knows the head of its head. Only values are kept; the back-trace finds the choices
again.

With boundaries, what a sentence is paid for beginning at token s is part of all spans from one of
the root's modifiers back to s: only spans that end at s - 1 are combined with them.
"""

import numpy as np

from .....jit import FAST, internal
from ...kernels.rows import fill_all, highest_row_sum, raise_row
from .records import SpanChart

INF = np.inf


@internal(counted=True)
def empty_chart(lists, count, size):
    """Return room for the spans of `count` arcs over `size` tokens, the root among them."""
    return SpanChart(
        np.empty((count, size + 1)),
        np.empty((count, size + 1)),
        np.empty((size + 1, count)),
        np.empty(lists.chains[count]),
        np.empty(lists.pairs[count]),
        np.empty((4 * size + 8, 3), np.int64),
    )


@internal(fastmath=FAST)
def inside(lists, scores, chart):
    """Fill the best scores of all spans; return the best score of a tree.

    Heads are taken from right to left, so that each inner loop runs along rows.
    """
    size = lists.index.shape[0]
    fill_all(chart.right, -INF)
    fill_all(chart.left, -INF)
    fill_all(chart.left_by_end, -INF)
    for i in range(size - 1, -1, -1):
        for a in range(lists.first[i], lists.first[i + 1]):
            chart.right[a, i] = 0.0
            chart.left[a, i] = 0.0
            chart.left_by_end[i, a] = 0.0
        if _begins_sentences(lists, scores, i):
            chart.left[lists.first[i], i] = scores.gaps[i]
        for place in range(lists.sides[2 * i + 1], lists.sides[2 * i + 2]):
            _close_right(lists, scores, chart, i, np.int64(lists.members[place]))
        for h in range(i + 1, size if i > 0 else 0):
            _close_left(lists, scores, chart, h, i)
    return chart.right[0, size - 1]


@internal(forceinline=True)
def _begins_sentences(lists, scores, m):
    """Return whether the first arc of m hangs it on the root, and boundaries are scored."""
    return scores.gaps.size > 0 and m > 0 and lists.head[lists.first[m]] == 0


@internal(fastmath=FAST, forceinline=True)
def _close_right(lists, scores, chart, i, a):
    """Fill the spans of the arc a from i to the right, and what they complete."""
    right, left, incomplete = chart.right, chart.left, chart.incomplete
    size = lists.index.shape[0]
    width = size + 1
    m = np.int64(lists.modifier[a])
    first, slots = lists.first[i], lists.first[i + 1] - lists.first[i]
    low = lists.sides[2 * i + 1]
    q, p = lists.chains[a], lists.pairs[a]
    for t in range(slots):
        incomplete[q + t] = left[a, i + 1] + scores.start[a]
    for j in range(lists.pairs[a + 1] - p):
        b = np.int64(lists.members[low + j])
        s = np.int64(lists.modifier[b])
        split = highest_row_sum(right, b * width + s, left, a * width + s + 1, m - s)
        chart.between[p + j] = split
        split += scores.adjacent[p + j]
        if split > -INF:
            raise_row(incomplete, q, incomplete, lists.chains[b], split, slots)
    for t in range(slots):
        incomplete[q + t] += scores.arc[a] + scores.chain[q + t]
        if incomplete[q + t] > -INF:
            g = np.int64(lists.head[first + t])
            end = g if g > i else size
            raise_row(
                right, (first + t) * width + m, right, a * width + m,
                incomplete[q + t], max(end - m, 0),
            )  # fmt: skip


@internal(fastmath=FAST, forceinline=True)
def _close_left(lists, scores, chart, h, i):
    """Fill the spans of the arc from h back to i, if it is left, and all from h that end at i."""
    right, left, incomplete = chart.right, chart.left, chart.incomplete
    width, count = lists.index.shape[0] + 1, lists.head.shape[0]
    low = lists.sides[2 * h]
    first, slots = lists.first[h], lists.first[h + 1] - lists.first[h]
    a = np.int64(lists.index[h, i])
    if a >= 0:
        q, p = lists.chains[a], lists.pairs[a]
        for t in range(slots):
            incomplete[q + t] = right[a, h - 1] + scores.start[a]
        for j in range(lists.pairs[a + 1] - p):
            b = np.int64(lists.members[low + j])
            s = np.int64(lists.modifier[b])
            split = highest_row_sum(right, a * width + i, left, b * width + i + 1, s - i)
            chart.between[p + j] = split
            split += scores.adjacent[p + j]
            if split > -INF:
                raise_row(incomplete, q, incomplete, lists.chains[b], split, slots)
        for t in range(slots):
            incomplete[q + t] += scores.arc[a] + scores.chain[q + t]
    for place in range(low, lists.sides[2 * h + 1]):
        b = np.int64(lists.members[place])
        if lists.modifier[b] < i:
            break
        if left[b, i] > -INF:
            raise_row(
                chart.left_by_end, i * count + first, incomplete, lists.chains[b],
                left[b, i], slots,
            )  # fmt: skip
    for t in range(slots):
        left[first + t, i] = chart.left_by_end[i, first + t]
    if _begins_sentences(lists, scores, h):
        left[first, i] += scores.gaps[i]


#: Kinds of spans on the stack of the back-trace, with what is stacked beside an arc.
RIGHT, LEFT, ARC = 0, 1, 2  # the span's end, its end, the slot of the arc's head


@internal()
def _push(stack, top, kind, a, at):
    stack[top, 0], stack[top, 1], stack[top, 2] = kind, a, at
    return top + 1


@internal()
def back_trace(lists, scores, chart, heads):
    """Write the best tree, (n + 1,)."""
    size = lists.index.shape[0]
    stack = chart.stack
    top = _push(stack, 0, RIGHT, 0, size - 1)
    while top > 0:
        top -= 1
        kind, a, at = stack[top, 0], stack[top, 1], stack[top, 2]
        if kind == ARC:
            heads[lists.modifier[a]] = lists.head[a]
            top = _trace_arc(lists, scores, chart, a, at, top)
        elif at != lists.modifier[a]:
            top = _trace_complete(lists, scores, chart, kind, a, at, top)


@internal()
def _trace_complete(lists, scores, chart, kind, a, at, top):
    """Find the last modifier of a complete span from the modifier of a to `at`."""
    h = lists.modifier[a]
    t = a - lists.first[h]
    table = chart.right if kind == RIGHT else chart.left
    side = 2 * h + 1 - kind
    whole = table[a, at]
    paid = kind == LEFT and lists.head[a] == 0 and scores.gaps.size > 0
    for place in range(lists.sides[side], lists.sides[side + 1]):
        b = lists.members[place]
        m = lists.modifier[b]
        if (m > at) if kind == RIGHT else (m < at):
            continue
        value = chart.incomplete[lists.chains[b] + t] + table[b, at]
        if paid:
            value += scores.gaps[at]
        if value == whole:
            top = _push(chart.stack, top, ARC, b, t)
            return _push(chart.stack, top, kind, b, at)
    return top


@internal()
def _trace_arc(lists, scores, chart, a, at, top):
    """Find what lies between an arc's two ends, given the head in slot `at` above it."""
    stack = chart.stack
    h, m = lists.head[a], lists.modifier[a]
    q, p = lists.chains[a] + at, lists.pairs[a]
    own = scores.arc[a] + scores.chain[q]
    whole = chart.incomplete[q]
    alone = chart.left[a, h + 1] if h < m else chart.right[a, h - 1]
    if (alone + scores.start[a]) + own == whole:
        return _push(stack, top, LEFT if h < m else RIGHT, a, h + 1 if h < m else h - 1)
    low = lists.sides[2 * h + 1] if h < m else lists.sides[2 * h]
    for j in range(lists.pairs[a + 1] - p):
        b = lists.members[low + j]
        split = chart.between[p + j]
        between = split + scores.adjacent[p + j]
        if chart.incomplete[lists.chains[b] + at] + between + own != whole:
            continue
        inner, outer = (b, a) if h < m else (a, b)
        for r in range(lists.modifier[inner], lists.modifier[outer]):
            if chart.right[inner, r] + chart.left[outer, r + 1] == split:
                top = _push(stack, top, RIGHT, inner, r)
                top = _push(stack, top, LEFT, outer, r + 1)
                return _push(stack, top, ARC, b, at)
        return top
    return top
