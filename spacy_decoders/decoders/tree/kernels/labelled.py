"""The best label of every arc."""

import numpy as np

from ....jit import jit


@jit()
def with_best_labels(arcs, labels):
    """Return the scores of arcs with their best labels, and these labels, (n + 1, n + 1) each.

    Parameters
    ----------
    arcs
        float64 (n + 1, n + 1), ``-inf`` where there is no arc: its label is not looked for.
    labels
        float64 (n + 1, n + 1, labels).
    """
    size = arcs.shape[0]
    count = labels.shape[2]
    totals = np.full((size, size), -np.inf)
    best = np.zeros((size, size), np.int64)
    for h in range(size):
        for m in range(1, size):
            if arcs[h, m] > -np.inf:
                highest = labels[h, m, 0]
                for one in range(1, count):
                    if labels[h, m, one] > highest:
                        highest = labels[h, m, one]
                        best[h, m] = one
                totals[h, m] = arcs[h, m] + highest
    return totals, best
