"""Chu-Liu-Edmonds over dense arcs, with its dual: O(n^2) for one tree.

Every node takes its best incoming arc; a cycle is contracted to one node whose incoming arcs are
charged for the arc that they replace. Sources of arcs stay original tokens: only rows of incoming
arcs are merged, never columns, and only the members of cycles ever get a row. Nodes 0..n are the
root and the tokens, later ones are contracted cycles.

The values of the chosen arcs are the dual: every tree enters every node, so their sum bounds every
tree, and the score of an arc less the duals of the nodes that it enters is its reduced cost.
"""

import numpy as np

from ....jit import FAST, jit
from .proofs import bounds_by_duals

#: The largest penalty on root arcs, relative to the scale of the scores: beyond it rounding hides
#: them.
LARGEST_PENALTY = 4096.0


@jit(fastmath=FAST)
def _best_heads(arcs, root, value, source):
    """Write each token's best incoming arc; return the worst of them, -inf for none."""
    size = arcs.shape[0]
    for m in range(size):
        value[m] = root[m]
        source[m] = 0
    for h in range(1, size):
        for m in range(size):
            # selects, not branches: this loop runs along rows and compiles to vector code
            better = arcs[h, m] > value[m]
            value[m] = arcs[h, m] if better else value[m]
            source[m] = h if better else source[m]
    worst = np.inf
    for m in range(1, size):
        worst = min(worst, value[m])
    return worst


@jit(fastmath=FAST)
def _contract(arcs, root, value, source, parent, first, sibling):
    """Contract cycles until every node is reached from the root.

    `value` and `source` hold each node's best incoming arc, `parent`, `first` (child) and
    `sibling` the forest of contractions. Returns the rows of incoming arcs of contracted
    nodes and the number of nodes, 0 if a node can't be reached.
    """
    size = arcs.shape[0]
    rows = np.empty((size, size))
    where = np.arange(size)  # the outermost node that holds each token
    state = np.zeros(2 * size, dtype=np.int8)  # 0 new, 1 on the path, 2 reached from the root
    state[0] = 2
    path = np.empty(2 * size, dtype=np.int64)
    count = size
    for start in range(1, size):
        node = where[start]
        if state[node] == 2:
            continue
        length = 0
        while True:
            state[node] = 1
            path[length] = node
            length += 1
            before = where[source[node]]
            if state[before] == 0:
                node = before
                continue
            if state[before] == 2:
                break
            # a cycle: everything on the path from `before` on
            row = rows[count - size]
            row[:] = -np.inf
            first[count] = -1
            while True:
                length -= 1
                member = path[length]
                worth = value[member]
                if member < size:
                    row[0] = max(row[0], root[member] - worth)
                    for h in range(1, size):
                        row[h] = max(row[h], arcs[h, member] - worth)
                else:
                    inner = rows[member - size]
                    for h in range(size):
                        row[h] = max(row[h], inner[h] - worth)
                parent[member] = count
                sibling[member] = first[count]
                first[count] = member
                if member == before:
                    break
            best, argument = -np.inf, 0
            for h in range(size):
                if parent[where[h]] == count:
                    where[h] = count
                elif row[h] > best:
                    best, argument = row[h], h
            if best == -np.inf:
                return rows, 0
            value[count], source[count] = best, argument
            parent[count] = -1
            state[count] = 0
            node = count
            count += 1
        for i in range(length):
            state[path[i]] = 2
    return rows, count


@jit(fastmath=FAST)
def _expand(arcs, root, rows, count, value, source, first, sibling, heads):
    """Expand the contracted nodes and write the heads."""
    size = arcs.shape[0]
    entered = np.zeros(count, dtype=np.bool_)
    for outer in range(count - 1, 0, -1):
        if entered[outer]:
            continue  # an inner node was entered from outside
        h = source[outer]
        node = outer
        entered[node] = True
        while node >= size:
            child = first[node]
            best, argument = -np.inf, child
            while child >= 0:
                if child >= size:
                    incoming = rows[child - size, h]
                else:
                    incoming = arcs[h, child] if h > 0 else root[child]
                if incoming - value[child] > best:
                    best, argument = incoming - value[child], child
                child = sibling[child]
            node = argument
            entered[node] = True
        heads[node] = h


@jit(fastmath=FAST)
def solve(arcs, root, heads, value, source, parent, first, sibling):
    """Write the best tree with any number of roots; return the dual bound and the nodes.

    `root` replaces row 0 of the arcs. The bound is -inf if there is no tree. The work arrays
    hold 2n + 2 entries each.
    """
    parent[:] = -1
    if _best_heads(arcs, root, value, source) == -np.inf:
        return -np.inf, 0
    rows, count = _contract(arcs, root, value, source, parent, first, sibling)
    if count == 0:
        return -np.inf, 0
    _expand(arcs, root, rows, count, value, source, first, sibling, heads)
    heads[0] = -1
    bound = 0.0
    for node in range(1, count):
        bound += value[node]
    return bound, count


@jit(fastmath=FAST)
def _roots(heads):
    count = 0
    for m in range(1, heads.shape[0]):
        if heads[m] == 0:
            count += 1
    return count


@jit(fastmath=FAST)
def _score(arcs, heads):
    score = 0.0
    for m in range(1, heads.shape[0]):
        score += arcs[heads[m], m]
    return score


@jit(fastmath=FAST)
def _first_penalty(arcs, value):
    """Return a penalty on root arcs that leaves one root where each token takes its best head."""
    size = arcs.shape[0]
    value[:size] = -np.inf
    for h in range(1, size):
        for m in range(size):
            value[m] = max(value[m], arcs[h, m])
    first = second = -np.inf  # what the root gains over the best other head
    for m in range(1, size):
        gain = arcs[0, m] - value[m] if arcs[0, m] > -np.inf else -np.inf
        if gain > first:
            first, second = gain, first
        elif gain > second:
            second = gain
    if second == -np.inf or first > 0.0 > second:
        return 0.0
    half = 0.5 * (first - second)
    if first <= 0.0:
        return first - min(half, 1.0 - first)
    return second + min(half, 1.0 + second)


@jit(fastmath=FAST)
def _large_penalty(arcs):
    """Return a penalty on root arcs that almost always leaves one root, and the largest."""
    size = arcs.shape[0]
    highest, lowest, scale = -np.inf, np.inf, 0.0
    for m in range(1, size):
        best = -np.inf
        for h in range(1, size):
            best = max(best, arcs[h, m])
        top = max(best, arcs[0, m])
        highest = max(highest, top)
        scale = max(scale, abs(top))
        if best > -np.inf:
            lowest = min(lowest, best)
    if lowest == np.inf:
        lowest = highest
    if scale == 0.0:
        scale = 1.0  # all scores are 0: any positive penalty works
    return 2.0 * (highest - lowest) + scale, LARGEST_PENALTY * scale


@jit(fastmath=FAST)
def solve_rooted(arcs, single_root, at_once, heads, value, work):
    """Write the best tree; return its bound, the penalty that was used, and the nodes.

    With a single root, the constraint is relaxed first, `at_once` with a penalty on root arcs (or
    a prize) that mostly leaves one root. Where it leaves several, it is raised until one remains:
    the tree is then the best with one root, and the dual bound plus one penalty bounds all such
    trees. If no penalty of the magnitude of the scores suffices, each token is tried as the only
    root: no nodes are returned then, as the duals in the work arrays are those of the last root
    alone.
    """
    size = arcs.shape[0]
    source, parent, first, sibling = work[0], work[1], work[2], work[3]
    root = arcs[0].copy()  # the root's arcs, penalised or masked by the constraint
    penalty = _first_penalty(arcs, value) if single_root and at_once else 0.0
    if penalty != 0.0:
        root -= penalty
    next_penalty, largest = -1.0, 0.0
    only_root = 0  # the one token that may be a root, 0 for any
    best, best_score = -np.inf, -np.inf
    best_heads = heads
    while True:
        bound, count = solve(arcs, root, heads, value, source, parent, first, sibling)
        accepted = bound > -np.inf and (not single_root or _roots(heads) <= 1)
        if accepted:
            bound += penalty
            if only_root == 0:
                return bound, penalty, count
            best = max(best, bound)
            score = _score(arcs, heads)
            if score > best_score:
                best_score = score
                best_heads[:] = heads
        elif bound == -np.inf and only_root == 0:
            return bound, penalty, 0
        if next_penalty < 0.0:
            next_penalty, largest = _large_penalty(arcs)
        if only_root == 0 and next_penalty <= largest:
            penalty = next_penalty
            for m in range(1, size):
                root[m] = arcs[0, m] - penalty
            next_penalty *= 8.0
            continue
        if only_root == 0:
            penalty = 0.0
            best_heads = heads.copy()
        only_root += 1
        while only_root < size and arcs[0, only_root] == -np.inf:
            only_root += 1
        if only_root == size:
            heads[:] = best_heads
            return best, 0.0, 0
        root[:] = -np.inf
        root[only_root] = arcs[0, only_root]


@jit(fastmath=FAST)
def decode(arcs, single_root, with_bounds):
    """Return heads (n,), score, bound, the scale of rounding errors, and the arcs' bounds.

    The last are (0, 0) unless `with_bounds`: an upper bound on all trees through each arc.
    """
    size = arcs.shape[0]
    # without a penalty the bounds of arcs are tighter
    found = _solved(arcs, single_root, not with_bounds)
    heads, bound, penalty, value, parent, count = found
    scale = penalty
    for m in range(1, size):
        best = 0.0
        for h in range(size):
            best = max(best, arcs[h, m])
        scale += best
    score = bound
    if bound > -np.inf:
        score = 0.0
        for m in range(1, size):
            score += arcs[heads[m - 1], m]
    bounds = np.empty((0, 0))
    if with_bounds:
        bounds = np.full((size, size), bound)
        if count > 0:
            bounds = bounds_by_duals(arcs, penalty, value, parent, bound)
    return heads, score, bound, scale, bounds


@jit(fastmath=FAST)
def with_duals(arcs, single_root):
    """Return heads (n,), the kernel's bound, and the duals that prove it: see :func:`.dual_bound`.

    The latter are the penalty on the root's arcs, the dual and the parent of each node, and their
    number, which is 0 if there is no such proof.
    """
    return _solved(arcs, single_root, True)


@jit(fastmath=FAST)
def _solved(arcs, single_root, at_once):
    size = arcs.shape[0]
    heads = np.full(size, -1, dtype=np.int32)
    work = np.empty((4, 2 * size), dtype=np.int64)
    value = np.empty(2 * size)
    bound, penalty, count = solve_rooted(arcs, single_root, at_once, heads, value, work)
    return heads[1:], bound, penalty, value, work[1], count
