"""Eisner's chart over projective trees: inside and back-trace.

A chart, float64 (4, n + 1, n + 1), has four tables over spans i <= j:
`incomplete_right[i, j]` holds the arc i -> j, `incomplete_left[i, j]` the arc j -> i, and
`complete_right[i, j]` and `complete_left[i, j]` all descendants of i and of j within the span.

The inside pass runs i from right to left. As soon as the entry (i, r) is final, it updates every
(i, j) with j > r: the inner loop runs along contiguous rows and has no reduction, so that it is
vectorised. No backpointers are stored; the back-trace recomputes the best split of the O(n) spans
that it visits.

``-inf`` needs no sentinel here: nothing is subtracted and nothing is +inf, so no NaN arises.

With boundary scores `gaps`, float64 (n + 1,), each subtree of the root is a sentence, and
``gaps[s]`` is added for each sentence but the first, which begins at token s: at the split between
two modifiers of the root. If `gaps` is empty, nothing is added. With a single root it must be.
"""

import numpy as np

from ....jit import FAST, internal, jit


@internal(fastmath=FAST)
def inside(arcs, single_root, gaps, chart):
    """Fill the chart and return the best score, -inf if there is no tree."""
    size = arcs.shape[0]
    incomplete_right, incomplete_left = chart[0], chart[1]
    complete_right, complete_left = chart[2], chart[3]
    # with a single root, the row of the root is a loop at the end
    for i in range(size - 1, 0 if single_root else -1, -1):
        for j in range(i, size):
            incomplete_right[i, j] = -np.inf
            complete_right[i, j] = -np.inf
            complete_left[i, j] = -np.inf
        complete_right[i, i] = 0.0
        complete_left[i, i] = 0.0
        for j in range(i + 1, size):
            incomplete_right[i, j] = complete_left[i + 1, j]
        for r in range(i + 1, size):
            between = incomplete_right[i, r]
            right = between + arcs[i, r]
            left = between + arcs[r, i]
            incomplete_right[i, r] = right
            incomplete_left[i, r] = left
            below = max(complete_right[i, r], right)
            above = max(complete_left[i, r], left)
            complete_right[i, r] = below
            complete_left[i, r] = above
            before = below
            if i == 0 and gaps.size > r + 1:
                before += gaps[r + 1]  # r + 1 begins a sentence
            for j in range(r + 1, size):
                incomplete_right[i, j] = max(
                    incomplete_right[i, j], before + complete_left[r + 1, j]
                )
                complete_right[i, j] = max(complete_right[i, j], right + complete_right[r, j])
                complete_left[i, j] = max(complete_left[i, j], above + incomplete_left[r, j])
    if not single_root:
        return complete_right[0, size - 1]
    best = -np.inf
    for r in range(1, size):
        best = max(best, complete_left[1, r] + arcs[0, r] + complete_right[r, size - 1])
    return best


@internal(counted=True, fastmath=FAST)
def back_trace(arcs, single_root, gaps, chart, heads):
    """Write the best tree into `heads` (n + 1,)."""
    size = arcs.shape[0]
    incomplete_right, incomplete_left = chart[0], chart[1]
    complete_right, complete_left = chart[2], chart[3]
    # a stack of complete spans: their two ends, and whether the head is at the right
    begins = np.empty(2 * size + 2, np.int64)
    ends = np.empty(2 * size + 2, np.int64)
    leftwards = np.empty(2 * size + 2, np.int64)
    top = 0
    heads[0] = -1
    if single_root:
        root, best = 1, -np.inf
        for r in range(1, size):
            value = complete_left[1, r] + arcs[0, r] + complete_right[r, size - 1]
            if value > best:
                best, root = value, r
        heads[root] = 0
        begins[0], ends[0], leftwards[0] = 1, root, True
        begins[1], ends[1], leftwards[1] = root, size - 1, False
        top = 2
    else:
        begins[0], ends[0], leftwards[0] = 0, size - 1, False
        top = 1
    while top > 0:
        top -= 1
        i, j = begins[top], ends[top]
        if i == j:
            continue
        best = -np.inf
        if leftwards[top]:
            split = i
            for r in range(i, j):
                value = complete_left[i, r] + incomplete_left[r, j]
                if value > best:
                    best, split = value, r
            heads[split] = j
            begins[top], ends[top] = i, split
            left, right = split, j
        else:
            split = j
            for r in range(i + 1, j + 1):
                value = incomplete_right[i, r] + complete_right[r, j]
                if value > best:
                    best, split = value, r
            heads[split] = i
            begins[top], ends[top] = split, j
            left, right = i, split
        # the two complete spans between head and modifier
        best, split = -np.inf, left
        for r in range(left, right):
            value = complete_right[left, r]
            if left == 0 and r > 0 and gaps.size > 0:
                value += gaps[r + 1]
            value += complete_left[r + 1, right]
            if value > best:
                best, split = value, r
        begins[top + 1], ends[top + 1], leftwards[top + 1] = left, split, False
        begins[top + 2], ends[top + 2], leftwards[top + 2] = split + 1, right, True
        top += 3


@internal(fastmath=FAST)
def positive_mass(arcs, gaps):
    """Return the sum of each token's best positive arc and gap: the scale of rounding errors."""
    size = arcs.shape[0]
    total = 0.0
    for m in range(1, size):
        if gaps.size > 0:
            total += max(gaps[m], 0.0)
        best = 0.0
        for h in range(size):
            best = max(best, arcs[h, m])
        total += best
    return total


@jit(fastmath=FAST)
def charted(arcs, single_root, gaps):
    """Return the best heads (n,), the chart, its value and the scale of rounding errors.

    Without a tree the value is -inf and the heads are all -1.
    """
    size = arcs.shape[0]
    chart = np.empty((4, size, size))
    heads = np.full(size, -1, np.int32)
    value = inside(arcs, single_root, gaps, chart)
    if value > -np.inf:
        back_trace(arcs, single_root, gaps, chart, heads)
    return heads[1:], chart, value, positive_mass(arcs, gaps)
