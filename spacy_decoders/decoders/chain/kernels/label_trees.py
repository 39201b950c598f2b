"""Labels on the nodes of a tree, over flat arrays in 64 bits.

`order` has every node after its parent. `local` holds, for each node and label, the emission, plus
the start score at a root and the end score at a leaf; ``-inf`` forbids.
"""

import numpy as np

from ....jit import jit
from .layout import UP64

__all__ = ["bound", "maximise"]


@jit()
def maximise(transitions, local, parents, order):
    """Return the best labels, by messages from the leaves to the roots; -1s if there are none."""
    n, size = local.shape
    inside = local.copy()
    choice = np.zeros((n, size), np.int32)
    labels = np.full(n, -1, np.int32)
    for k in range(n - 1, -1, -1):
        node, parent = order[k], parents[order[k]]
        if parent >= 0:
            for x in range(size):
                best = -np.inf
                for y in range(size):
                    score = np.float64(transitions[x, y]) + inside[node, y]
                    if score > best:
                        best, choice[node, x] = score, y
                inside[parent, x] += best
    for k in range(n):
        node, parent = order[k], parents[order[k]]
        if parent >= 0:
            labels[node] = choice[node, labels[parent]]
        else:
            labels[node] = np.argmax(inside[node])
            if inside[node, labels[node]] == -np.inf:
                labels[:] = -1
                return labels
    return labels


@jit()
def bound(transitions, local, parents, order):
    """Return an upper bound on all labellings: messages to the roots, rounded up."""
    n, size = local.shape
    inside = local + UP64 * np.abs(np.where(np.isfinite(local), local, 0.0))
    total = 0.0
    for k in range(n - 1, -1, -1):
        node, parent = order[k], parents[order[k]]
        if parent < 0:
            most = inside[node].max()
            total += most + UP64 * (abs(total) + abs(most))
            continue
        for x in range(size):
            most = -np.inf
            for y in range(size):
                score = np.float64(transitions[x, y]) + inside[node, y]
                most = max(most, score + UP64 * abs(score) if score > -np.inf else score)
            inside[parent, x] += most
            if inside[parent, x] > -np.inf:
                inside[parent, x] += UP64 * (abs(inside[parent, x]) + abs(most))
    return total
