"""The probability of each arc of projective trees: Eisner's algorithm, summed, and its posteriors.

Inside, a span's sum over all of its derivations is kept as a logarithm. Then the probability that
a span is part of the tree is handed down from the whole sentence to what it may be made of, in
shares that add up to it: nothing is subtracted, so that an error is a share of what it is in.
"""

import numpy as np

from ....jit import jit

__all__ = ["arc_probabilities"]


@jit()
def _add_logs(a, b):
    """Return the log of the sum of two exponentials."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@jit()
def _inside(arcs, first, right, left, right_open, left_open):
    """Fill in the sums of all spans from token `first` on.

    `right[s, t]` has the head s and is complete, `right_open[s, t]` ends with the arc from s to
    t; `left` and `left_open` have the head t.
    """
    size = len(arcs)
    for s in range(first, size):
        right[s, s] = 0.0
        left[s, s] = 0.0
    for length in range(1, size - first):
        for s in range(first, size - length):
            t = s + length
            total = -np.inf
            for q in range(s, t):
                total = _add_logs(total, right[s, q] + left[q + 1, t])
            right_open[s, t] = total + arcs[s, t]
            left_open[s, t] = total + arcs[t, s]
            total = -np.inf
            for q in range(s + 1, t + 1):
                total = _add_logs(total, right_open[s, q] + right[q, t])
            right[s, t] = total
            total = -np.inf
            for q in range(s, t):
                total = _add_logs(total, left[s, q] + left_open[q, t])
            left[s, t] = total


@jit()
def _hand_down(arcs, first, logs, posteriors, probabilities):
    """Hand the probabilities of complete spans down to their parts, the longest first."""
    right, left, right_open, left_open = logs
    p_right, p_left, p_right_open, p_left_open = posteriors
    size = len(arcs)
    for length in range(size - first - 1, 0, -1):
        for s in range(first, size - length):
            t = s + length
            if p_right[s, t] > 0.0:
                for q in range(s + 1, t + 1):
                    share = np.exp(right_open[s, q] + right[q, t] - right[s, t]) * p_right[s, t]
                    p_right_open[s, q] += share
                    p_right[q, t] += share
            if p_left[s, t] > 0.0:
                for q in range(s, t):
                    share = np.exp(left[s, q] + left_open[q, t] - left[s, t]) * p_left[s, t]
                    p_left[s, q] += share
                    p_left_open[q, t] += share
            probabilities[s, t] = p_right_open[s, t]
            probabilities[t, s] = p_left_open[s, t]
            both = p_right_open[s, t] + p_left_open[s, t]
            if both > 0.0:
                # without the arc both directions are the same sum
                if p_right_open[s, t] > 0.0:
                    whole = right_open[s, t] - arcs[s, t]
                else:
                    whole = left_open[s, t] - arcs[t, s]
                for q in range(s, t):
                    share = np.exp(right[s, q] + left[q + 1, t] - whole) * both
                    p_right[s, q] += share
                    p_left[q + 1, t] += share


@jit()
def arc_probabilities(arcs, single_root):
    """Return the probability of each arc, and the log of the sum over all trees.

    Parameters
    ----------
    arcs
        **Shape (n + 1, n + 1)**, float64, ``-inf`` where there is no arc; `arcs[h, m]`.
    single_root
        Whether one token alone hangs on the root.
    """
    size = len(arcs)
    first = 1 if single_root else 0
    logs = np.full((4, size, size), -np.inf)
    posteriors = np.zeros((4, size, size))
    probabilities = np.zeros((size, size))
    _inside(arcs, first, logs[0], logs[1], logs[2], logs[3])
    right, left = logs[0], logs[1]
    if not single_root:
        whole = right[0, size - 1]
        posteriors[0, 0, size - 1] = 1.0
    else:
        whole = -np.inf
        for root in range(1, size):
            whole = _add_logs(whole, left[1, root] + right[root, size - 1] + arcs[0, root])
        if whole > -np.inf:
            for root in range(1, size):
                total = left[1, root] + right[root, size - 1] + arcs[0, root]
                share = np.exp(total - whole)
                probabilities[0, root] = share
                posteriors[1, 1, root] += share
                posteriors[0, root, size - 1] += share
    if whole > -np.inf:
        _hand_down(
            arcs,
            first,
            (logs[0], logs[1], logs[2], logs[3]),
            (posteriors[0], posteriors[1], posteriors[2], posteriors[3]),
            probabilities,
        )
    return probabilities, whole
