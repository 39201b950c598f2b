"""A projective tree that keeps to the numbers of dependants that rules allow, by Eisner's chart.

Each half span knows how much of its head's allowance it has used. Allowances are numbered from 0
(nothing is left) to `states` - 1 (all of it), so that what one half leaves the other is the
difference of the two numbers: the digits of a number, one for each rule, never borrow.
"""

import numpy as np

from ....jit import jit

RIGHT, LEFT = 0, 1


@jit()
def decode(scores, leaf, draw_of, rest, gaps, single_root):
    """Return the heads and classes of labels of the best such tree, (n,), and its score.

    With C the half spans, I the arcs with the inner half of their modifier, s what the head may
    use, and u what the outer half of the modifier may use of all, ``t``::

        I[h, m, s, u] = max_c scores[h, m, c] + max_k C[h, k, s - draw(h, c)] + C[m, k + 1, t - u]
        C[h, j, s]    = max_m max_u I[h, m, s, u] + C[m, j, u]

    and the same to the left.

    Parameters
    ----------
    scores
        float64 (n + 1, n + 1, classes), ``-inf`` where an arc can't have a label of the class.
    leaf
        bool (n + 1, classes), whether a token with such a label has no dependants.
    draw_of
        int64 (n + 1, classes), what a dependant of a head draws on, as a row of `rest`.
    rest
        int64 (draws, states), the allowance after the draw, -1 where it does not suffice.
    gaps
        float64 (n + 1,), the scores of boundaries by token number.
    single_root
        Whether the root has one dependant.
    """
    size, states = scores.shape[0], rest.shape[1]
    whole = states - 1
    spans = np.full((2, size, size, states), -np.inf)
    arcs = np.full((2, size, size, states, states), -np.inf)
    base = np.empty((states, states))
    for i in range(size):
        spans[:, i, i] = 0.0
    for width in range(1, size):
        for i in range(size - width):
            j = i + width
            for side in range(1 if i == 0 else 2):
                h, m = (i, j) if side == RIGHT else (j, i)
                _join(spans, base, side, i, j, gaps, single_root)
                _add_labels(arcs[side, h, m], base, scores[h, m], leaf[m], draw_of[h], rest)
                # a modifier without dependants may have any label
                near = j - 1 if side == RIGHT else i + 1
                for c in range(scores.shape[2]):
                    if leaf[m, c] and scores[h, m, c] > -np.inf:
                        for s in range(states):
                            left = rest[draw_of[h, c], s]
                            if left >= 0:
                                value = _leaf_value(
                                    scores, spans, side, h, m, c, near, left, gaps, single_root
                                )
                                spans[side, h, m, s] = max(spans[side, h, m, s], value)
                end = j if side == RIGHT else i
                step = 1 if side == RIGHT else -1
                for mid in range(h + step, end + step, step):
                    for s in range(states):
                        best = spans[side, h, end, s]
                        for u in range(states):
                            value = arcs[side, h, mid, s, u] + spans[side, mid, end, u]
                            if value > best:
                                best = value
                        spans[side, h, end, s] = best
    heads, classes = np.zeros(size - 1, np.int32), np.zeros(size - 1, np.int64)
    score = spans[RIGHT, 0, size - 1, whole]
    if score > -np.inf:
        _read(scores, leaf, draw_of, rest, gaps, single_root, spans, arcs, heads, classes)
    return heads, classes, score


@jit()
def _join(spans, base, side, i, j, gaps, single_root):
    """Fill in the best split between a head and its modifier, by what each may use."""
    states = base.shape[0]
    base[:] = -np.inf
    for k in range(i, 1 if i == 0 and single_root else j):
        gap = gaps[k + 1] if i == 0 and k > 0 else 0.0
        for s in range(states):
            outer = spans[RIGHT, i, k, s] if side == RIGHT else spans[LEFT, j, k + 1, s]
            if outer == -np.inf:
                continue
            for u in range(states):
                of = states - 1 - u
                inner = spans[LEFT, j, k + 1, of] if side == RIGHT else spans[RIGHT, i, k, of]
                value = outer + inner + gap
                if value > base[s, u]:
                    base[s, u] = value


@jit()
def _add_labels(values, base, scores, leaf, draw_of, rest):
    states = base.shape[0]
    for c in range(scores.shape[0]):
        if scores[c] == -np.inf or leaf[c]:
            continue
        for s in range(states):
            left = rest[draw_of[c], s]
            if left >= 0:
                for u in range(states):
                    value = scores[c] + base[left, u]
                    if value > values[s, u]:
                        values[s, u] = value


@jit()
def _leaf_value(scores, spans, side, h, m, c, near, left, gaps, single_root):
    """Return what a half span is worth whose last modifier has no dependants."""
    if h == 0 and m > 1 and single_root:
        return -np.inf
    gap = gaps[m] if h == 0 and m > 1 else 0.0
    return scores[h, m, c] + (spans[side, h, near, left] + gap)


@jit()
def _read(scores, leaf, draw_of, rest, gaps, single_root, spans, arcs, heads, classes):
    """Write the heads and classes of the best tree."""
    size, states = scores.shape[0], rest.shape[1]
    # half spans (side, head, end, allowance); each has its modifiers read off in turn
    todo = [(RIGHT, 0, size - 1, states - 1)]
    while todo:
        side, h, end, s = todo.pop()
        if h == end:
            continue
        value = spans[side, h, end, s]
        step = 1 if side == RIGHT else -1
        near, found = end - step, False
        for c in range(scores.shape[2]):
            left = rest[draw_of[h, c], s]
            if not found and leaf[end, c] and scores[h, end, c] > -np.inf and left >= 0:
                own = _leaf_value(scores, spans, side, h, end, c, near, left, gaps, single_root)
                if own == value:
                    heads[end - 1], classes[end - 1], found = h, c, True
                    todo.append((side, h, near, left))
        for mid in range(h + step, end + step, step):
            for u in range(states):
                if not found and arcs[side, h, mid, s, u] + spans[side, mid, end, u] == value:
                    found = True
                    todo.append((side, mid, end, u))
                    c, k, left = _of_arc(
                        scores, leaf, draw_of, rest, gaps, single_root, spans,
                        side, h, mid, s, u, arcs[side, h, mid, s, u],
                    )  # fmt: skip
                    heads[mid - 1], classes[mid - 1] = h, c
                    low, high = (h, mid) if side == RIGHT else (mid, h)
                    of = states - 1 - u
                    todo.append((RIGHT, low, k, left if side == RIGHT else of))
                    todo.append((LEFT, high, k + 1, of if side == RIGHT else left))


@jit()
def _of_arc(scores, leaf, draw_of, rest, gaps, single_root, spans, side, h, m, s, u, value):
    """Return the class, the split and the allowance left that make an arc worth `value`."""
    states = rest.shape[1]
    i, j = min(h, m), max(h, m)
    of = states - 1 - u
    for c in range(scores.shape[2]):
        left = rest[draw_of[h, c], s]
        if leaf[m, c] or left < 0 or scores[h, m, c] == -np.inf:
            continue
        for k in range(i, 1 if i == 0 and single_root else j):
            gap = gaps[k + 1] if i == 0 and k > 0 else 0.0
            if side == RIGHT:
                together = spans[RIGHT, i, k, left] + spans[LEFT, j, k + 1, of] + gap
            else:
                together = spans[LEFT, j, k + 1, left] + spans[RIGHT, i, k, of] + gap
            if scores[h, m, c] + together == value:
                return c, k, left
    return -1, -1, -1
