"""The score of a tree, and upper bounds on all trees, by code that is independent of the decoders.

The decoders' kernels provide a chart, or the duals of a contraction. Either is a dual solution of
the linear program of trees if it satisfies a set of inequalities, and only these are checked here.
No fastmath flags are set, so that a NaN satisfies no inequality.
"""

import numpy as np

from ....jit import FAST, jit
from .rows import fill_all


@jit()
def tally(arcs, heads, projective, single_root):
    """Return whether heads (n,) are a legal tree, its score, and the sum of its absolute arcs."""
    size = arcs.shape[0]
    score = scale = 0.0
    roots = 0
    if heads.shape[0] != size - 1:
        return False, score, scale
    for m in range(1, size):
        h = heads[m - 1]
        if h < 0 or h >= size or arcs[h, m] == -np.inf:
            return False, score, scale
        score += arcs[h, m]
        scale += abs(arcs[h, m])
        roots += h == 0
    if single_root and size > 1 and roots != 1:
        return False, score, scale
    reached = np.zeros(size, np.int64)  # the walk towards the root that visited each token
    for m in range(1, size):
        at = m
        while at > 0 and reached[at] == 0:
            reached[at] = m
            at = heads[at - 1]
        if at > 0 and reached[at] == m:
            return False, score, scale
    if projective:
        for m in range(1, size):
            left, right = min(m, heads[m - 1]), max(m, heads[m - 1])
            for between in range(left + 1, right):
                h = heads[between - 1]
                if h < left or h > right:
                    return False, score, scale
    return True, score, scale


@jit()
def chart_bound(arcs, single_root, gaps, chart):
    """Return the value of Eisner's chart if no span scores less than its parts, else infinity.

    The chart, float64 (4, n + 1, n + 1), and the boundary scores `gaps` are as in
    :func:`.eisner.inside`.
    """
    size = arcs.shape[0]
    incomplete_right, incomplete_left, right, left = chart[0], chart[1], chart[2], chart[3]
    last = size - 1
    between = np.empty(size)
    for i in range(1 if single_root else 0, size):
        if not (right[i, i] >= 0.0 and left[i, i] >= 0.0):
            return np.inf
        between[i:] = -np.inf
        # violations are counted, without an early exit, so that these loops are vectorised
        missed = 0
        for r in range(i, size):
            begun, ended = left[i, r], right[i, r]
            if i == 0 and 0 < r < gaps.size - 1:
                ended += gaps[r + 1]
            through = -np.inf
            if r > i:
                through = incomplete_right[i, r]
                missed += not right[i, r] >= through + right[r, r]
            for j in range(r + 1, size):
                value = ended + left[r + 1, j]
                between[j] = value if value > between[j] else between[j]
                missed += not left[i, j] >= begun + incomplete_left[r, j]
                missed += not right[i, j] >= through + right[r, j]
        for j in range(i + 1, size):
            missed += not incomplete_right[i, j] >= between[j] + arcs[i, j]
            missed += not incomplete_left[i, j] >= between[j] + arcs[j, i]
        if missed > 0:
            return np.inf
    if size == 1:
        return 0.0
    if not single_root:
        return right[0, last]
    best = -np.inf
    for r in range(1, size):
        value = left[1, r] + arcs[0, r] + right[r, last]
        if not value <= best:
            best = value
    return best if best == best else np.inf


@jit(fastmath=FAST)
def bounds_by_chart(arcs, single_root, gaps, chart, bound):
    """Return upper bounds on the trees through each arc by Eisner's chart, ``-inf`` without any.

    `bound` is that of :func:`chart_bound`; if it is infinite, so are all of these. Otherwise each
    is the score of the best tree, up to rounding, unless spans score more than their parts. The
    outside pass mirrors the inside pass: where (i, r) updates (i, j) there, (i, j) updates (i, r)
    here.
    """
    size = arcs.shape[0]
    last = size - 1
    result = np.empty((size, size))
    fill_all(result, np.inf)
    if bound == np.inf:
        return result
    ir, il, cr, cl = chart[0], chart[1], chart[2], chart[3]
    outer = np.empty((5, size, size))
    fill_all(outer, -np.inf)
    out_ir, out_il, out_cr, out_cl, out_between = outer[0], outer[1], outer[2], outer[3], outer[4]
    fill_all(result, -np.inf)
    if single_root:
        for r in range(1, size):
            out_cl[1, r] = arcs[0, r] + cr[r, last]
            out_cr[r, last] = arcs[0, r] + cl[1, r]
            result[0, r] = cl[1, r] + out_cl[1, r]
    else:
        out_cr[0, last] = 0.0
    for i in range(1 if single_root else 0, size):
        for r in range(last, i - 1, -1):
            right, left = ir[i, r], cl[i, r]
            gap = gaps[r + 1] if i == 0 and r > 0 and gaps.size > r + 1 else 0.0
            below = cr[i, r] + gap
            from_right, from_left, from_between = out_ir[i, r], out_cl[i, r], out_cr[i, r]
            if r > i:
                for j in range(r + 1, size):
                    out_cr[r, j] = max(out_cr[r, j], out_cr[i, j] + right)
                    out_il[r, j] = max(out_il[r, j], out_cl[i, j] + left)
                for j in range(r + 1, size):
                    from_right = max(from_right, out_cr[i, j] + cr[r, j])
                    from_left = max(from_left, out_cl[i, j] + il[r, j])
            for j in range(r + 1, size):
                out_cl[r + 1, j] = max(out_cl[r + 1, j], out_between[i, j] + below)
            for j in range(r + 1, size):
                from_between = max(from_between, out_between[i, j] + (cl[r + 1, j] + gap))
            if r > i:
                # spans that end with the arc: the modifier has nothing on its far side
                from_right = max(from_right, from_between)
                from_arc_left = max(out_il[i, r], from_left)
                out_ir[i, r], out_il[i, r] = from_right, from_arc_left
                out_cr[i, r], out_cl[i, r] = from_between, from_left
                out_between[i, r] = max(from_right + arcs[i, r], from_arc_left + arcs[r, i])
                result[i, r] = ir[i, r] + from_right
                result[r, i] = il[i, r] + from_arc_left
    return result


@jit()
def dual_bound(arcs, single_root, penalty, value, parent, count):
    """Return an upper bound on all trees by the duals of a contraction, and its rounding error.

    Each contracted set of tokens has a dual of at most 0, each token one of any sign. A tree
    enters every set at least once and every token exactly once, so the sum of all duals, plus each
    token's largest excess of an arc over the duals of the sets that it enters, bounds every tree.
    With a penalty on root arcs they bound only the trees with one root.

    **Shape**: `value` float64 (count or more,), the dual of each node: tokens, then contracted
    sets in the order of contraction; `parent` int64, the set that each was contracted into, or -1.
    """
    size = arcs.shape[0]
    if count < size or (penalty != 0.0 and not single_root):
        return np.inf, 0.0
    bound, mass = penalty, abs(penalty)
    for node in range(1, count):
        outer = parent[node]
        wrong = outer >= 0 and (outer <= node or outer >= count or outer < size)
        if wrong or (node >= size and not value[node] <= 0.0):
            return np.inf, 0.0
        bound += value[node]
        mass += abs(value[node])
    # by token: the sum of the duals of all sets that contain it, the lowest sum an arc can enter
    least = np.empty(size)
    rounding = 0.0
    for m in range(1, size):
        total, absolute, depth, node = 0.0, 0.0, 0, m
        while node >= 0:
            total += value[node]
            absolute += abs(value[node])
            depth += 1
            node = parent[node]
        least[m] = total
        rounding += depth * absolute
    excess = np.zeros(size)
    paid, holder = np.empty(count), np.full(count, -1)
    for h in range(size):
        for m in range(1, size):
            worth = arcs[h, m] if h > 0 else arcs[0, m] - penalty
            # an arc between two tokens of one set does not enter it
            if h != m and not worth <= least[m]:
                if holder[h] != h:
                    _enter(value, parent, h, paid, holder)
                if not worth <= paid[m]:
                    excess[m] = max(excess[m], worth - paid[m])
    bound += excess[1:].sum()
    slack = 2.0**-52 * (rounding + 2.0 * (size + 1) * (mass + excess[1:].sum()))
    return (bound, slack) if bound == bound else (np.inf, 0.0)


@jit()
def _enter(value, parent, h, paid, holder):
    """Write to `paid` for each node the sum of the duals of the sets that contain it but not h.

    `holder` is set to h for all nodes that contain h.
    """
    node = h
    while node >= 0:
        holder[node] = h
        node = parent[node]
    for node in range(len(paid) - 1, -1, -1):  # sets come after what they contain
        paid[node] = 0.0
        if holder[node] != h:
            paid[node] = value[node] + (paid[parent[node]] if parent[node] >= 0 else 0.0)


@jit()
def bounds_by_duals(arcs, penalty, value, parent, bound):
    """Return bounds on the trees through each arc by the duals of a contraction.

    The arc h -> m enters the sets that contain m but not h. `bound` includes their duals and m's
    largest excess, so a tree with the arc falls short of it by at least that excess less the
    arc's own. All are infinite if `bound` is.
    """
    size, count = arcs.shape[0], len(value)
    if bound == np.inf:
        return np.full((size, size), np.inf)
    least = np.full((size, size), -np.inf)
    excess = np.zeros(size)
    paid, holder = np.empty(count), np.full(count, -1)
    for h in range(size):
        _enter(value, parent, h, paid, holder)
        for m in range(1, size):
            if h != m and arcs[h, m] > -np.inf:
                worth = arcs[h, m] if h > 0 else arcs[0, m] - penalty
                least[h, m] = worth - paid[m]
                excess[m] = max(excess[m], least[h, m])
    for h in range(size):
        for m in range(1, size):
            if least[h, m] > -np.inf:
                least[h, m] = bound + (least[h, m] - excess[m])
    return least
