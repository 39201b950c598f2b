"""Compiled loops over the scores of all arcs, and of their labels."""

from __future__ import annotations

import numpy as np

from ....jit import jit


@jit()
def best_of_labels(scores):
    """Reduce (modifiers, labels, heads) to the best label, and leave score - best in place.

    Rows of heads are contiguous and each is one pass of compare and select, which vectorises.
    """
    modifiers, labels, heads = scores.shape
    best = np.zeros((modifiers, heads), np.int32)
    top = np.empty(heads, np.float32)
    for i in range(modifiers):
        row = best[i]
        for j in range(heads):
            top[j] = scores[i, 0, j]
        for label in range(1, labels):
            given = scores[i, label]
            for j in range(heads):
                better = given[j] > top[j]
                top[j] = given[j] if better else top[j]
                row[j] = label if better else row[j]
        for label in range(labels):
            given = scores[i, label]
            for j in range(heads):
                given[j] -= top[j]
    return best


@jit()
def add_distances(scores, distances, first):
    """Add the score of each label at each distance, in place.

    **Shape**: scores (modifiers, labels, heads), the modifiers being those from `first` on;
    distances (labels, 2 * far + 1), of heads from `far` on the left to `far` on the right.
    """
    modifiers, labels, heads = scores.shape
    middle = distances.shape[1] // 2
    for i in range(modifiers):
        left = middle - first - i
        for label in range(labels):
            row, more = scores[i, label], distances[label, left : left + heads]
            for j in range(heads):
                row[j] += more[j]


@jit()
def write_best(odds, best, arcs, first, into):
    """Write labels, their log-probabilities, and the scores of arcs with these.

    **Shape**: odds (modifiers, labels, heads), those of each label to the best one, the modifiers
    being those from `first` on; best (modifiers, heads), the best labels; arcs (n, n + 1) by
    modifier and head, the root at 0; into, scores, labels' log-probabilities and labels, (n + 1, n
    + 1) each by head and modifier, written to.
    """
    scores, logs, labels = into
    modifiers, count, heads = odds.shape
    sums = np.empty(heads, np.float32)
    for i in range(modifiers):
        sums[:] = 0.0
        for label in range(count):
            given = odds[i, label]
            for j in range(heads):
                sums[j] += given[j]
        modifier = first + i + 1
        scores[0, modifier] = arcs[modifier - 1, 0]
        for j in range(heads):
            log = -np.log(sums[j])
            scores[j + 1, modifier] = arcs[modifier - 1, j + 1] + log
            logs[j + 1, modifier] = log
            labels[j + 1, modifier] = best[i, j]


@jit()
def best_of_classes(scores, highest, class_of, found, best):
    """Write the best label of each class of every arc, and its log-probability.

    **Shape**: scores (modifiers, labels, heads), highest (heads, modifiers), the log-probability
    of each arc's best label of all; class_of (labels or more,); found and best (heads, modifiers,
    classes).
    """
    modifiers, labels, heads = scores.shape
    classes = found.shape[2]
    top = np.empty((classes, heads), np.float32)
    which = np.empty((classes, heads), np.int32)
    shift = np.empty(heads, np.float32)
    for i in range(modifiers):
        top[:] = -np.inf
        which[:] = 0
        for label in range(labels):
            given, above, of = scores[i, label], top[class_of[label]], which[class_of[label]]
            for j in range(heads):
                better = given[j] > above[j]
                above[j] = given[j] if better else above[j]
                of[j] = label if better else of[j]
        shift[:] = -np.inf
        for one in range(classes):
            for j in range(heads):
                shift[j] = max(shift[j], top[one, j])
        for j in range(heads):
            for one in range(classes):
                # the difference is exact for the best of all
                found[j, i, one] = np.float64(top[one, j] - shift[j]) + highest[j, i]
                best[j, i, one] = which[one, j]


@jit()
def write_arcs(among, of_root, of_modifier, of_head, near, scores):
    """Write the scores of the arcs of a sentence of n tokens, distances included.

    **Shape**: among (n, n), of heads by modifier; of_root (n,); of_modifier and of_head (n,
    classes), by the class of the distance; near (2 * far + 1,), the class of each distance, those
    beyond `far` being of the last class of their side; scores (n, n + 1), written, the root first.
    """
    n = len(among)
    far = len(near) // 2
    for m in range(n):
        into, given = scores[m], among[m]
        into[0] = of_root[m]
        for h in range(n):
            bucket = near[min(max(h - m, -far), far) + far]
            into[h + 1] = given[h] + of_modifier[m, bucket] + of_head[h, bucket]
        into[m + 1] = -np.inf
