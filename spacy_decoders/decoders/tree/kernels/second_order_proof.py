"""The bounds that the tables of :mod:`.second_order` give on all trees, and through each arc.

As in :mod:`.proofs`, only inequalities are checked: no entry may be less than the score of any way
to build it. Entries are at (x (n + 1) + y) stride + g.
"""

import numpy as np

from ....jit import FAST, jit
from .rows import (
    add_row,
    highest_of_rows,
    highest_row_sum,
    highest_sums,
    raise_row,
    raise_row_to_sum,
)
from .second_order import sibling_score, tables


@jit()
def chart_bound(arcs, grandparents, siblings, gaps, single_root, outermost, space):
    """Return the upper bound that the tables give; infinite if they violate an inequality."""
    size = arcs.shape[0]
    if size == 1:
        return 0.0
    stride, on_arc, complete, incomplete, between, on_closing, closed = tables(
        size, outermost, space
    )
    if not _holds_scores(arcs, grandparents, outermost, stride, on_arc, on_closing):
        return np.inf
    row = size * stride
    steps, rows = np.empty(size), np.empty(size, np.int64)
    best = np.empty(stride)
    for i in range(1, size):
        if not _outside_at_least(complete, i * (row + stride), np.zeros(stride), i, i, size):
            return np.inf
        for j in range(i + 1, size):
            width = j - i
            first, second = i * (row + stride), j * row + (i + 1) * stride
            highest_sums(best, 0, complete, first, complete, second, stride, width)
            if gaps.size > 0:
                best[0] = -np.inf
                for r in range(i, j):
                    met = complete[i * row + r * stride] + complete[j * row + (r + 1) * stride]
                    best[0] = max(best[0], met + gaps[r + 1])
            here = i * row + j * stride
            if not _outside_at_least(between, here, best, i, j, size):
                return np.inf
            for side in range(2):
                h, m = (i, j) if side == 0 else (j, i)
                here = h * row + m * stride
                nearest = h + 1 if side == 0 else h - 1
                for s in range(i + 1, j):
                    one, other = min(s, m), max(s, m)
                    pair = siblings[h, one, other] if siblings.size > 0 else 0.0
                    steps[s - i - 1] = between[one * row + other * stride + h] + pair
                    rows[s - i - 1] = h * row + s * stride
                inner = complete[m * row + nearest * stride + h]
                highest_of_rows(best, 0, incomplete, rows, steps, width - 1, inner, stride)
                add_row(best, 0, on_arc, here, stride)
                alive = arcs[h, m] > -np.inf
                if alive and not _outside_at_least(incomplete, here, best, i, j, size):
                    return np.inf
                if outermost:
                    for g in range(stride):
                        best[g] = incomplete[here + g] + on_closing[here + g]
                    if not _outside_at_least(closed, here, best, i, j, size):
                        return np.inf
                for k in range(width):
                    s = k + (i + 1 if side == 0 else i)
                    steps[k] = complete[s * row + m * stride + h]
                    rows[k] = h * row + s * stride
                highest_of_rows(best, 0, closed, rows, steps, width, -np.inf, stride)
                if not _outside_at_least(complete, here, best, i, j, size):
                    return np.inf
    up_to = np.empty(size)
    return _of_root(arcs, siblings, single_root, complete, between, row, stride, up_to)


@jit()
def _outside_at_least(table, at, least, i, j, size):
    """Return whether the entries for all tokens outside i..j are no less than `least`."""
    below = 0
    for g in range(i):
        below += not table[at + g] >= least[g]
    for g in range(j + 1, size):
        below += not table[at + g] >= least[g]
    return below == 0


@jit()
def _holds_scores(arcs, grandparents, outermost, stride, on_arc, on_closing):
    """Return whether the scores in the tables are no less than the problem's."""
    size = arcs.shape[0]
    below = 0
    for h in range(1, size):
        for m in range(1, size):
            at = (h * size + m) * stride
            for g in range(size):
                if g == h or g == m or h == m or arcs[h, m] == -np.inf:
                    continue
                chain = grandparents[g, h, m] if grandparents.size > 0 else 0.0
                if outermost:
                    below += not (on_arc[at + g] >= arcs[h, m] and on_closing[at + g] >= chain)
                else:
                    below += not on_arc[at + g] >= arcs[h, m] + chain
    return below == 0


@jit()
def _of_root(arcs, siblings, single_root, complete, between, row, stride, up_to):
    """Return the best score of a tree, from the spans of the root's modifiers.

    `up_to`, (n + 1,), is written: the best score up to each modifier of the root.
    """
    size = arcs.shape[0]
    best = -np.inf
    for m in range(1, size):
        up_to[m] = complete[m * row + stride]
        for s in range(1, 1 if single_root else m):
            pair = siblings[0, s, m] if siblings.size > 0 else 0.0
            up_to[m] = max(up_to[m], up_to[s] + (between[s * row + m * stride] + pair))
        up_to[m] += arcs[0, m]
        value = up_to[m] + complete[m * row + (size - 1) * stride]
        if not value <= best:
            best = value
    return best if best == best else np.inf


@jit(fastmath=FAST)
def bounds_by_chart(arcs, grandparents, siblings, gaps, single_root, space, bound):
    """Return upper bounds on the trees through each arc, ``-inf`` without any.

    All grandparents are scored. `bound` is that of :func:`chart_bound`; if it is infinite, so are
    all of these. Otherwise each is the score of the best tree, up to rounding, unless entries are
    larger than the sum of their parts.

    The outside pass mirrors the inside pass, from larger spans to smaller ones: where a part
    updates a larger span there, the larger span updates the part here.
    """
    size = arcs.shape[0]
    if bound == np.inf:
        return np.full((size, size), np.inf)
    stride, on_arc, complete, incomplete, between, _, _ = tables(size, False, space)
    row = size * stride
    to_root = np.empty(size)
    _of_root(arcs, siblings, single_root, complete, between, row, stride, to_root)
    out_complete = np.full(size * row, -np.inf)
    out_incomplete = np.full(size * row, -np.inf)
    out_between = np.full(size * row, -np.inf)
    result = np.full((size, size), -np.inf)
    _outside_root(
        arcs, siblings, single_root, complete, between, stride, to_root,
        out_complete, out_between, result,
    )  # fmt: skip
    base = np.empty(stride)
    for i in range(1, size):
        for j in range(size - 1, i, -1):
            for side in range(2):
                h, m = (i, j) if side == 0 else (j, i)
                here = h * row + m * stride
                step = 1 if side == 0 else -1
                for k in range(h + step, m + step, step):
                    if arcs[h, k] == -np.inf:
                        continue
                    at = h * row + k * stride
                    below = k * row + m * stride + h
                    raise_row(out_incomplete, at, out_complete, here, complete[below], stride)
                    value = highest_row_sum(out_complete, here, incomplete, at, stride)
                    out_complete[below] = max(out_complete[below], value)
                if arcs[h, m] == -np.inf:
                    continue
                outer = -np.inf
                for g in range(stride):
                    base[g] = out_incomplete[here + g] + on_arc[here + g]
                    outer = max(outer, base[g])
                result[h, m] = highest_row_sum(out_incomplete, here, incomplete, here, stride)
                inner = m * row + (h + step) * stride + h
                out_complete[inner] = max(out_complete[inner], outer)
                for s in range(i + 1, j):
                    if arcs[h, s] == -np.inf:
                        continue
                    at = h * row + s * stride
                    span = min(s, m) * row + max(s, m) * stride + h
                    pair = sibling_score(siblings, h, s, m)
                    raise_row(out_incomplete, at, base, 0, between[span] + pair, stride)
                    value = highest_row_sum(base, 0, incomplete, at, stride) + pair
                    out_between[span] = max(out_between[span], value)
            here = i * row + j * stride
            for r in range(i, j):
                left = i * row + r * stride
                right = j * row + (r + 1) * stride
                one, other = out_complete[left], out_complete[right]
                raise_row_to_sum(out_complete, left, out_between, here, complete, right, stride)
                raise_row_to_sum(out_complete, right, out_between, here, complete, left, stride)
                if gaps.size > 0:  # the root's entries include the boundary
                    meeting = out_between[here] + gaps[r + 1]
                    out_complete[left] = max(one, meeting + complete[right])
                    out_complete[right] = max(other, meeting + complete[left])
    return result


@jit(fastmath=FAST)
def _outside_root(
    arcs, siblings, single_root, complete, between, stride, to_root,
    out_complete, out_between, result,
):  # fmt: skip
    """Start the outside pass at the root's modifiers."""
    size = arcs.shape[0]
    row = size * stride
    outer = np.full(size, -np.inf)
    for m in range(size - 1, 0, -1):
        end = m * row + (size - 1) * stride
        outer[m] = max(outer[m], complete[end])
        out_complete[end] = max(out_complete[end], to_root[m])
        result[0, m] = to_root[m] + outer[m]
        base = outer[m] + arcs[0, m]
        begin = m * row + stride
        out_complete[begin] = max(out_complete[begin], base)
        if not single_root:
            for s in range(1, m):
                pair = sibling_score(siblings, 0, s, m)
                span = s * row + m * stride
                outer[s] = max(outer[s], base + (between[span] + pair))
                out_between[span] = max(out_between[span], base + to_root[s] + pair)
