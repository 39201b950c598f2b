"""The chart over arcs, grandparents and adjacent siblings of projective trees, O(n^4).

Tables over (end, end, outside token), the last axis innermost so that every loop runs along
contiguous rows:

- `complete[x, y, g]`: head x with all descendants from x to y, where g is the head of x;
- `incomplete[h, m, g]`: the arc h -> m and all between, where g is the head of h;
- `between[a, b, h]`: all between the adjacent siblings a < b, where h is their head.

`x <= y` and `y <= x` are the two directions. Entries whose last index lies within the span mean
nothing and are never read, as are the scores of forbidden arcs. `closed` is the incomplete span as
a part of a complete one: the same array if every grandparent is scored, or with the grandparent of
the outermost modifier added if only that is scored.

The score of a sentence that begins at token s, ``gaps[s]``, is part of `between` where the head is
the root: there two sentences meet. If `gaps` is empty, boundaries are not scored.

The tables are flat float64; entry (x, y, g) is at (x (n + 1) + y) stride + g. No backpointers are
stored; the back-trace recomputes the best split of the spans that it visits. ``-inf`` needs no
sentinel: nothing is subtracted and nothing is +inf.
"""

import numpy as np

from ....jit import FAST, jit
from .rows import LANES, add_row, highest_of_rows, highest_sums


@jit(fastmath=FAST)
def _turn(arcs, grandparents, outermost, stride, on_arc, on_closing):
    """Write the scores of arcs, and of closing a span, with the grandparent as the last axis.

    The first are the arcs', with their grandparents if all are scored; the second, if present, the
    grandparents of outermost modifiers.
    """
    size = arcs.shape[0]
    for at in range(on_closing.size):
        on_closing[at] = 0.0
    turned = on_closing if outermost else on_arc
    for h in range(size):
        for m in range(size):
            if arcs[h, m] == -np.inf:
                continue
            begin = (h * size + m) * stride
            for at in range(begin, begin + stride):
                on_arc[at] = arcs[h, m]
        if grandparents.size > 0:
            for g in range(size):
                place = h * size * stride + g
                for m in range(size):
                    turned[place] += grandparents[g, h, m]
                    place += stride


@jit(fastmath=FAST)
def sibling_score(siblings, h, a, b):
    if siblings.size == 0:
        return 0.0
    return siblings[h, min(a, b), max(a, b)]


@jit(fastmath=FAST)
def _inner(complete, h, m, size, stride):
    """Return the span between a head and its first modifier on that side."""
    return complete[(m * size + (h + 1 if h < m else h - 1)) * stride + h]


@jit(fastmath=FAST)
def _meeting_at_root(complete, gaps, i, j, size, stride):
    """Return the best score between two adjacent modifiers of the root, with the boundary."""
    best = -np.inf
    for r in range(i, j):
        pair = complete[(i * size + r) * stride] + complete[(j * size + r + 1) * stride]
        best = max(best, pair + gaps[r + 1])
    return best


@jit(fastmath=FAST)
def _inside(
    arcs, siblings, gaps, on_arc, on_closing, complete, incomplete, closed, between, stride
):
    """Fill the tables for all spans of tokens, with left ends from right to left."""
    size = arcs.shape[0]
    row = size * stride
    steps, below = np.empty(size), np.empty(size)
    rows, closed_rows = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(size - 1, 0, -1):
        for at in range(i * (row + stride), i * (row + stride) + stride):
            complete[at] = 0.0
        for j in range(i + 1, size):
            width = j - i
            right = i * row + j * stride
            left = j * row + i * stride
            first, second = i * (row + stride), j * row + (i + 1) * stride
            highest_sums(between, right, complete, first, complete, second, stride, width)
            if gaps.size > 0:
                between[right] = _meeting_at_root(complete, gaps, i, j, size, stride)
            for side in range(2):
                h, m = (i, j) if side == 0 else (j, i)
                here = right if side == 0 else left
                inner = _inner(complete, h, m, size, stride)
                # only over allowed arcs: the siblings s inside of m, then the last modifiers k
                alive = arcs[h, m] > -np.inf
                count = 0
                if alive:
                    for s in range(i + 1, j):
                        if arcs[h, s] > -np.inf:
                            span = (min(s, m) * size + max(s, m)) * stride
                            steps[count] = between[span + h] + sibling_score(siblings, h, s, m)
                            rows[count] = h * row + s * stride
                            count += 1
                closing = 0
                for k in range(i + 1 if side == 0 else i, j + 1 if side == 0 else j):
                    if arcs[h, k] > -np.inf:
                        below[closing] = complete[k * row + m * stride + h]
                        closed_rows[closing] = h * row + k * stride
                        closing += 1
                least = inner if alive else -np.inf
                highest_of_rows(incomplete, here, incomplete, rows, steps, count, least, stride)
                if alive:
                    add_row(incomplete, here, on_arc, here, stride)
                if on_closing.size > 0:
                    for at in range(here, here + stride):
                        closed[at] = incomplete[at] + on_closing[at]
                given = closed, closed_rows, below, closing
                highest_of_rows(complete, here, *given, -np.inf, stride)


@jit(fastmath=FAST)
def _at_root(arcs, siblings, single_root, complete, between, stride, to_root):
    """Fill the root's row, which has no grandparent, and return the best score.

    `to_root[m]` is the best score of all tokens up to m, the last modifier of the root so far.
    """
    size = arcs.shape[0]
    if size == 1:
        return 0.0
    best = -np.inf
    for m in range(1, size):
        value = complete[(m * size + 1) * stride]
        if not single_root:
            for s in range(1, m):
                step = between[(s * size + m) * stride] + sibling_score(siblings, 0, s, m)
                value = max(value, to_root[s] + step)
        to_root[m] = value + arcs[0, m]
        best = max(best, to_root[m] + complete[(m * size + size - 1) * stride])
    return best


@jit(fastmath=FAST)
def tables(size, outermost, space):
    """Return the stride, and the tables as slices of `space`, which has `entries` elements."""
    stride = -(-size // LANES) * LANES
    each = size * size * stride
    on_arc, complete = space[:each], space[each : 2 * each]
    incomplete, between = space[2 * each : 3 * each], space[3 * each : 4 * each]
    on_closing = space[4 * each : 5 * each] if outermost else space[:0]
    closed = space[5 * each : 6 * each] if outermost else incomplete
    return stride, on_arc, complete, incomplete, between, on_closing, closed


def entries(size, outermost):
    """Return the number of elements that the tables need for `size` tokens with the root."""
    return (6 if outermost else 4) * size * size * (-(-size // LANES) * LANES)


@jit(fastmath=FAST)
def _back_trace(
    arcs, siblings, gaps, single_root, complete, incomplete, closed, between, stride, to_root,
    heads,
):  # fmt: skip
    """Write the best tree into `heads` (n + 1,)."""
    size = arcs.shape[0]
    row = size * stride
    # a stack of complete spans: head, other end, grandparent
    stack = np.empty((3, 2 * size + 2), dtype=np.int64)
    top = 0
    heads[0] = -1
    # the root's modifiers, from the last to the first
    end, m = size - 1, 0
    while end > 0:
        best, last = -np.inf, m
        for s in range(1, (m if m > 0 else size)):
            if m == 0:
                value = to_root[s] + complete[s * row + end * stride]
            else:
                value = to_root[s] + (
                    between[s * row + m * stride] + sibling_score(siblings, 0, s, m)
                )
            if value > best:
                best, last = value, s
        if m > 0:
            inner = complete[m * row + stride]
            if single_root or inner >= best:
                stack[0, top], stack[1, top], stack[2, top] = m, 1, 0
                top += 1
                break
            end = _split(complete, gaps, last, m, 0, row, stride)
            stack[0, top], stack[1, top], stack[2, top] = m, end + 1, 0
            top += 1
        heads[last] = 0
        stack[0, top], stack[1, top], stack[2, top] = last, end, 0
        top += 1
        m = last
    while top > 0:
        top -= 1
        h, e, g = stack[0, top], stack[1, top], stack[2, top]
        if h == e:
            continue
        step = 1 if h < e else -1
        best, m = -np.inf, h
        for candidate in range(h + step, e + step, step):
            value = closed[h * row + candidate * stride + g]
            value += complete[candidate * row + e * stride + h]
            if value > best:
                best, m = value, candidate
        stack[0, top], stack[1, top], stack[2, top] = m, e, h
        top += 1
        # the modifiers of h on this side, from the outermost inwards
        while True:
            heads[m] = h
            best, inner_sibling = _inner(complete, h, m, size, stride), h
            for s in range(min(h, m) + 1, max(h, m)):
                span = min(s, m) * row + max(s, m) * stride
                value = between[span + h] + sibling_score(siblings, h, s, m)
                value += incomplete[h * row + s * stride + g]
                if value > best:
                    best, inner_sibling = value, s
            if inner_sibling == h:
                stack[0, top], stack[1, top], stack[2, top] = m, h + step, h
                top += 1
                break
            s = inner_sibling
            left, right = min(s, m), max(s, m)
            split = _split(complete, gaps, left, right, h, row, stride)
            stack[0, top], stack[1, top], stack[2, top] = left, split, h
            stack[0, top + 1], stack[1, top + 1], stack[2, top + 1] = right, split + 1, h
            top += 2
            m = s


@jit(fastmath=FAST)
def _split(complete, gaps, left, right, h, row, stride):
    """Return where the descendants of the left of two adjacent siblings end."""
    best, split = -np.inf, left
    for r in range(left, right):
        value = (
            complete[left * row + r * stride + h] + complete[right * row + (r + 1) * stride + h]
        )
        if h == 0 and gaps.size > 0:
            value += gaps[r + 1]
        if value > best:
            best, split = value, r
    return split


@jit(fastmath=FAST)
def score(arcs, grandparents, siblings, outermost, heads):
    """Return the sum of all parts of the tree `heads` (n,), and that of their absolute values."""
    size = arcs.shape[0]
    # the latest modifier of each head, from left to right
    latest = np.zeros(size, dtype=np.int64)
    total = scale = 0.0
    for m in range(1, size):
        h = heads[m - 1]
        before = latest[h]
        latest[h] = m
        neighbour = before > 0 and (before > h) == (m > h)
        total += arcs[h, m]
        scale += abs(arcs[h, m])
        if neighbour:
            total += sibling_score(siblings, h, before, m)
            scale += abs(sibling_score(siblings, h, before, m))
        if h > 0 and grandparents.size > 0:
            g = heads[h - 1]
            if not outermost or (m < h and not neighbour):
                total += grandparents[g, h, m]
                scale += abs(grandparents[g, h, m])
    if outermost and grandparents.size > 0:
        for h in range(1, size):
            if latest[h] > h:
                total += grandparents[heads[h - 1], h, latest[h]]
                scale += abs(grandparents[heads[h - 1], h, latest[h]])
    return total, scale


@jit(fastmath=FAST)
def decode(arcs, grandparents, siblings, gaps, single_root, outermost, space):
    """Return the best heads (n,) and the chart's value; the tables stay in `space`.

    Without a tree the value is -inf and the heads are all -1.
    """
    size = arcs.shape[0]
    heads, to_root = np.full(size, -1, dtype=np.int32), np.empty(size)
    stride, on_arc, complete, incomplete, between, on_closing, closed = tables(
        size, outermost, space
    )
    _turn(arcs, grandparents, outermost, stride, on_arc, on_closing)
    _inside(
        arcs, siblings, gaps, on_arc, on_closing, complete, incomplete, closed, between, stride
    )
    best = _at_root(arcs, siblings, single_root, complete, between, stride, to_root)
    if best > -np.inf:
        _back_trace(
            arcs, siblings, gaps, single_root, complete, incomplete, closed, between, stride,
            to_root, heads,
        )  # fmt: skip
    return heads[1:], best
