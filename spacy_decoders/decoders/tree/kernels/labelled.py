"""The best label of every arc in each class, and labels that break a rule."""

import numpy as np

from ....jit import jit


@jit()
def best_of_classes(arcs, labels, class_of, classes):
    """Return the score of the best label of each class for every arc, and this label.

    **Shape**: both (n + 1, n + 1, classes), ``-inf`` where there is no arc.

    Parameters
    ----------
    arcs
        float64 (n + 1, n + 1), ``-inf`` where there is no arc: its label is not looked for.
    labels
        float64 (n + 1, n + 1, labels).
    class_of
        int64 (labels,), the class of each label.
    classes
        Their number.
    """
    size, count = arcs.shape[0], labels.shape[2]
    scores = np.full((size, size, classes), -np.inf)
    best = np.zeros((size, size, classes), np.int64)
    for h in range(size):
        for m in range(1, size):
            if arcs[h, m] > -np.inf:
                for one in range(count):
                    of = class_of[one]
                    if labels[h, m, one] > scores[h, m, of]:
                        scores[h, m, of] = labels[h, m, one]
                        best[h, m, of] = one
    return scores, best


@jit()
def breaks_any(heads, labels, digits):
    """Return whether a tree breaks a rule on labels; **Shape**: heads and labels (n,).

    Parameters
    ----------
    digits
        int64 (3, labels), a binary digit for each rule: whether a head has the label at most once,
        whether tokens with it have no dependants, and whether dependants with it may be.
    """
    n = heads.shape[0]
    once, leaf, exempt = digits[0], digits[1], digits[2]
    taken = np.zeros(n + 1, np.int64)
    for m in range(n):
        h, counted = heads[m], once[labels[m]]
        if taken[h] & counted:
            return True
        taken[h] |= counted
        if h > 0 and leaf[labels[h - 1]] & ~exempt[labels[m]]:
            return True
    return False
