"""Chu-Liu-Edmonds over dense arcs, with its dual: O(n^2) for one tree.

Every node takes its best incoming arc; a cycle is contracted to one node, from whose incoming arcs
the score of the arc that they replace is subtracted. Heads of arcs stay original tokens: only rows
of incoming arcs are merged, never columns, and only contracted cycles need a row. Nodes 0..n are
the root and the tokens, later ones are contracted cycles.

The values of the chosen arcs are the dual: every tree enters every node, so their sum bounds every
tree, and the score of an arc less the duals of the nodes that it enters is its reduced cost.
"""

import numpy as np

from ....jit import FAST, jit

#: The rows of `work`, by node: the head of its best arc, the node that it is contracted into, the
#: first of the nodes contracted into it, and the next node contracted into the same one.
SOURCE, PARENT, FIRST, SIBLING = range(4)


@jit(fastmath=FAST)
def _best_heads(arcs, root, value, source):
    """Write each token's best incoming arc; return the lowest score, -inf if a token has none."""
    size = arcs.shape[0]
    for m in range(size):
        value[m] = root[m]
        source[m] = 0
    for h in range(1, size):
        for m in range(size):
            # selects rather than branches, along rows, so that the loop is vectorised
            better = arcs[h, m] > value[m]
            value[m] = arcs[h, m] if better else value[m]
            source[m] = h if better else source[m]
    worst = np.inf
    for m in range(1, size):
        worst = min(worst, value[m])
    return worst


@jit(fastmath=FAST)
def _contract(arcs, root, value, source, parent, first, sibling):
    """Contract cycles until every node can be reached from the root.

    `value` and `source` have each node's best incoming arc, `parent`, `first` (child) and
    `sibling` the forest of contractions. Returns the incoming arcs of contracted nodes, as rows,
    and the number of nodes, 0 if a node can't be reached.
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
            # a cycle: all nodes on the path from `before` on
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
            continue  # decided with the node that contains it
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
def _range_of_penalties(arcs):
    """Return the first and the largest useful penalty on root arcs.

    The first is of the size of good arcs' scores; at the largest, trees with fewer roots score
    more than all others.
    """
    size = arcs.shape[0]
    scale = largest = 0.0
    for m in range(1, size):
        best = -np.inf
        for h in range(size):
            if arcs[h, m] > -np.inf:
                best = max(best, arcs[h, m])
                largest = max(largest, abs(arcs[h, m]))
        scale = max(scale, abs(best))
    if scale == 0.0:
        scale = 1.0  # the best scores are 0: any positive penalty will do
    return scale, scale + 4.0 * size * largest


@jit(fastmath=FAST)
def solve_rooted(arcs, single_root, heads, value, work):
    """Write the best tree; return its bound, the penalty, and the number of nodes.

    The single-root constraint is relaxed at first; if the tree has several roots, a penalty on
    root arcs is raised until one remains: the tree is then the best with one root, and the dual
    bound plus one penalty bounds all such trees. The bound is -inf if there is none.
    """
    source, parent = work[SOURCE], work[PARENT]
    first, sibling = work[FIRST], work[SIBLING]
    root = arcs[0]
    penalty = next_penalty = largest = 0.0
    while True:
        bound, count = solve(arcs, root, heads, value, source, parent, first, sibling)
        if bound == -np.inf:
            return bound, penalty, 0
        roots = 0
        for m in range(1, heads.shape[0]):
            roots += heads[m] == 0
        if not single_root or roots <= 1:
            return bound + penalty, penalty, count
        if next_penalty == 0.0:
            next_penalty, largest = _range_of_penalties(arcs)
        if next_penalty > 8.0 * largest:
            return -np.inf, penalty, 0
        penalty = next_penalty
        root = arcs[0] - penalty
        next_penalty *= 8.0


@jit(fastmath=FAST)
def with_duals(arcs, single_root):
    """Return heads (n,), the bound, and the duals that prove it: see :func:`.dual_bound`.

    The latter are the penalty on root arcs, the dual and the parent of each node, and the number
    of nodes. Without a tree the bound is -inf, and there are no nodes.
    """
    size = arcs.shape[0]
    heads = np.full(size, -1, dtype=np.int32)
    work = np.empty((4, 2 * size), dtype=np.int64)
    value = np.empty(2 * size)
    bound, penalty, count = solve_rooted(arcs, single_root, heads, value, work)
    return heads[1:], bound, penalty, value, work[PARENT], count
