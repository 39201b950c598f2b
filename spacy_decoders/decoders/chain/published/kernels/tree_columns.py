"""Column generation for labels on the nodes of a tree, over flat arrays in 64 bits.

`order` has every node after its parent. `local` holds, for each node and label, the emission, plus
the start score at a root and the end score at a leaf; ``-inf`` forbids.
"""

import numpy as np

from .....jit import jit

__all__ = ["generate_columns", "legal_labels"]


@jit()
def legal_labels(transitions, local, parents, order):
    """Return `local` with ``-inf`` for every label that no legal labelling has."""
    n, size = local.shape
    legal = local.copy()
    for upwards in (True, False):
        for j in range(n):
            node = order[n - 1 - j] if upwards else order[j]
            parent = parents[node]
            if parent < 0:
                continue
            here, there = (parent, node) if upwards else (node, parent)
            for x in range(size):
                if legal[here, x] == -np.inf:
                    continue
                found = False
                for y in range(size):
                    step = transitions[x, y] if upwards else transitions[y, x]
                    if step > -np.inf and legal[there, y] > -np.inf:
                        found = True
                        break
                if not found:
                    legal[here, x] = -np.inf
    return legal


@jit()
def close(transitions, local, parents, order, member):
    """Add to the domains the neighbours that their labels need."""
    n, size = local.shape
    for upwards in (True, False):
        for j in range(n):
            node = order[n - 1 - j] if upwards else order[j]
            parent = parents[node]
            if parent < 0:
                continue
            here, there = (node, parent) if upwards else (parent, node)
            for x in range(size):
                if not member[here, x]:
                    continue
                best, chosen, found = -np.inf, 0, False
                for y in range(size):
                    step = np.float64(transitions[y, x] if upwards else transitions[x, y])
                    if step > -np.inf and member[there, y]:
                        found = True
                        break
                    if step + local[there, y] > best:
                        best, chosen = step + local[there, y], y
                if not found:
                    member[there, chosen] = True


@jit()
def send(transitions, bounds, values, member, message, choice, upwards):
    """Write the message over one edge: for each label beyond it, the best of the domain.

    A label that may not stand beside any label of the domain gets an estimate: its largest
    transition beside the best label.
    """
    size = len(values)
    top = -np.inf
    for y in range(size):
        if member[y]:
            top = max(top, values[y])
    for x in range(size):
        best = -np.inf
        for y in range(size):
            if member[y]:
                step = np.float64(transitions[x, y] if upwards else transitions[y, x])
                if step + values[y] > best:
                    best, choice[x] = step + values[y], y
        message[x] = best if best > -np.inf else top + np.float64(bounds[x])


@jit()
def generate_columns(transitions, most_in, most_out, local, parents, order, shares, gap, limit):
    """Column generation on a forest.

    The reduced cost of a pair of labels on an edge mixes that of the messages to the root,
    and that of the messages to the leaves below, by the share of the latter. `shares` is, for
    each node, half of the fraction of its tree's leaves that are below it.

    Returns labels, the excess of the bound over their score, and the iterations.
    """
    n, size = local.shape
    member = np.zeros((n, size), np.bool_)
    fresh = np.zeros((n, size), np.bool_)
    up = np.zeros((n, size))
    down = np.zeros((n, size))
    choice = np.zeros((n, size), np.int32)
    unused = np.zeros(size, np.int32)
    labels = np.zeros(n, np.int32)
    outside = np.zeros(size)
    left = np.zeros(size)
    children = np.zeros(n, np.int64)
    for node in range(n):
        member[node, np.argmax(local[node])] = True
        if parents[node] >= 0:
            children[parents[node]] += 1
    best_bound = np.inf
    iterations = 0
    while True:
        close(transitions, local, parents, order, member)
        inside = local.copy()
        for k in range(n - 1, -1, -1):
            node, parent = order[k], parents[order[k]]
            if parent >= 0:
                send(
                    transitions, most_out, inside[node], member[node], up[node], choice[node], True
                )
                inside[parent] += up[node]
        score = over = 0.0
        found = False
        fresh[:] = False
        for k in range(n):
            node, parent = order[k], parents[order[k]]
            if parent < 0:
                down[node] = 0.0
                labels[node] = best_member(inside[node], member[node])
                score += inside[node, labels[node]]
            else:
                labels[node] = choice[node, labels[parent]]
                for x in range(size):
                    outside[x] = -np.inf
                    if local[parent, x] > -np.inf:
                        outside[x] = inside[parent, x] - up[node, x] + down[parent, x]
                send(transitions, most_in, outside, member[parent], down[node], unused, False)
                share = shares[node]
                top = -np.inf
                for x in range(size):
                    left[x] = -np.inf
                    if local[parent, x] > -np.inf:
                        left[x] = share * outside[x] - (1.0 - share) * up[node, x]
                    top = max(top, left[x])
                worst = 0.0
                for y in range(size):
                    if local[node, y] == -np.inf:
                        continue
                    right = (1.0 - share) * inside[node, y] - share * down[node, y]
                    if top + right + np.float64(most_in[y]) <= 0.0:
                        continue
                    for x in range(size):
                        cost = left[x] + np.float64(transitions[x, y]) + right
                        if cost > 0.0 and not (member[parent, x] and member[node, y]):
                            worst = max(worst, cost)
                            fresh[parent, x] = fresh[node, y] = found = True
                over += worst
            # the labels of a root and of the leaves have a dual of their own
            if parent < 0 or not children[node]:
                if parent < 0:
                    weight = 0.5 if children[node] else 1.0
                else:
                    weight = shares[node]
                top = -np.inf
                for x in range(size):
                    if member[node, x]:
                        top = max(top, inside[node, x] + down[node, x])
                most = top
                for x in range(size):
                    if local[node, x] > -np.inf and inside[node, x] + down[node, x] > top:
                        most = max(most, inside[node, x] + down[node, x])
                        if not member[node, x]:
                            fresh[node, x] = found = True
                over += weight * (most - top)
        iterations += 1
        best_bound = min(best_bound, score + over)
        if not found:
            return labels, 0.0, iterations
        if iterations == limit or best_bound - score <= gap:
            return labels, max(0.0, best_bound - score), iterations
        for node in range(n):
            for x in range(size):
                member[node, x] |= fresh[node, x]


@jit()
def best_member(values, member):
    """Return the label of the domain with the largest value."""
    best, chosen = -np.inf, 0
    for x in range(len(values)):
        if member[x] and values[x] > best:
            best, chosen = values[x], x
    return chosen
