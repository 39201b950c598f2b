"""Compiled loops over the scores of all arcs and of their labels."""

from __future__ import annotations

import numpy as np

from ....jit import internal, jit

#: Odds of less, as logarithms, change no sum of at least 1 in single precision.
_NEGLIGIBLE = np.float32(-17.0)


@internal(fastmath=frozenset({"reassoc", "contract"}))
def _add_products(by_label, key, total):
    """Add the products of the labels' rows with a head's key to their scores."""
    inner = len(key)
    for label in range(len(total)):
        product = np.float32(0.0)
        for j in range(inner):
            product += by_label[label * inner + j] * key[j]
        total[label] += product


@jit()
def label_arcs(by_label, modifiers, keys, distances, given, places, wanted, into, all_logs):
    """Write the best labels of arcs and their log-probabilities, and add these to the scores.

    **Shape**: by_label (modifiers, labels * inner); modifiers, their numbers; keys (n, inner) by
    head; distances (labels, 2 * far + 1); given (arcs, labels), the scores of templates; places
    and wanted (n, n), by modifier and head, the arcs' rows in these, -1 for none, and which arcs
    are to have labels; into, scores, labels' log-probabilities and labels, (n + 1, n + 1) each by
    head and modifier, the root being 0; all_logs (arcs, labels), the log-probabilities of all
    labels of these arcs.
    """
    scores, logs, labels = into
    count = len(distances)
    total = np.empty(count, np.float32)
    middle, done = distances.shape[1] // 2, 0
    for i in range(len(by_label)):
        modifier = modifiers[i]
        for head in range(len(keys)):
            if not wanted[modifier, head]:
                continue
            place = places[modifier, head]
            for label in range(count):
                total[label] = given[place, label] if place >= 0 else 0.0
            _add_products(by_label[i], keys[head], total)
            best, top = 0, np.float32(-np.inf)
            for label in range(count):
                total[label] += distances[label, middle + head - modifier]
                if total[label] > top:
                    best, top = label, total[label]
            odds = np.float32(0.0)
            for label in range(count):
                if total[label] - top > _NEGLIGIBLE:
                    odds += np.exp(total[label] - top)
            log = -np.log(odds)
            for label in range(count):
                all_logs[done, label] = (total[label] - top) + log
            done += 1
            scores[head + 1, modifier + 1] += log
            logs[head + 1, modifier + 1] = log
            labels[head + 1, modifier + 1] = best


@jit()
def best_of_classes(logs, labelled, class_of, found, best):
    """Write the best label of each class of labelled arcs, and its log-probability.

    For other arcs, the label is -1 and the log-probability is 0, which it is at most.

    **Shape**: logs (arcs, labels), as :func:`label_arcs` writes them; labelled (modifiers, heads);
    class_of (labels or more,); found and best (heads, modifiers, classes), ``-inf`` before.
    """
    done = 0
    for modifier in range(labelled.shape[0]):
        for head in range(labelled.shape[1]):
            scores, which = found[head, modifier], best[head, modifier]
            for label in range(logs.shape[1]):
                one = class_of[label]
                if not labelled[modifier, head]:
                    scores[one], which[one] = 0.0, -1
                elif logs[done, label] > scores[one]:
                    scores[one], which[one] = logs[done, label], label
            done += labelled[modifier, head]


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
