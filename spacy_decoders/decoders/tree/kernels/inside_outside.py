"""The probability of each arc of projective trees: Eisner's algorithm, summed, and its posteriors.

Inside, a span has the sum over all of its derivations. Then the probability that a span is part of
the tree is handed down from the whole sentence to what it may be made of, in shares that add up to
it: nothing is subtracted, so that an error is a share of what it is in.

Sums of weights take a tenth of the time of logarithms, and are used where none can underflow.
"""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit

__all__ = ["Posterior", "posterior", "posterior_by_logs"]

#: Sums below this are taken for nothing: they may have lost digits.
TINY = 1e-305


class Posterior(NamedTuple):
    """The distribution over trees."""

    #: **Shape (n + 1, n + 1)**, float64: the probability of each arc.
    arcs: Any
    #: **Shape (n + 1,)**, float64: the probability that a root's subtree begins at each token;
    #: only where several roots are allowed.
    starts: Any
    #: Log of the sum over all trees of exp(score); ``-inf`` if there is none.
    log_partition: Any


@jit()
def _inside(arcs, starts, first, right, left, right_open, left_open):
    """Fill in the sums of all spans from token `first` on.

    `right[s, t]` has the head s and is complete, `right_open[s, t]` ends with the arc from s to
    t; `left` and `left_open` have the head t.
    """
    size = len(arcs)
    for s in range(first, size):
        right[s, s] = 1.0
        left[s, s] = 1.0
    for length in range(1, size - first):
        for s in range(first, size - length):
            t = s + length
            total = 0.0
            if s == 0:
                for q in range(t):
                    total += right[0, q] * left[q + 1, t] * starts[q + 1]
            else:
                for q in range(s, t):
                    total += right[s, q] * left[q + 1, t]
            right_open[s, t] = total * arcs[s, t]
            left_open[s, t] = total * arcs[t, s]
            total = 0.0
            for q in range(s + 1, t + 1):
                total += right_open[s, q] * right[q, t]
            right[s, t] = total
            total = 0.0
            for q in range(s, t):
                total += left[s, q] * left_open[q, t]
            left[s, t] = total


@jit()
def _hand_down(arcs, starts, first, sums, posteriors, found):
    """Hand the probabilities of complete spans down to their parts, the longest first."""
    right, left, right_open, left_open = sums
    p_right, p_left, p_right_open, p_left_open = posteriors
    size = len(arcs)
    for length in range(size - first - 1, 0, -1):
        for s in range(first, size - length):
            t = s + length
            if right[s, t] > TINY:
                scale = p_right[s, t] / right[s, t]
                for q in range(s + 1, t + 1):
                    share = right_open[s, q] * right[q, t] * scale
                    p_right_open[s, q] += share
                    p_right[q, t] += share
            if left[s, t] > TINY:
                scale = p_left[s, t] / left[s, t]
                for q in range(s, t):
                    share = left[s, q] * left_open[q, t] * scale
                    p_left[s, q] += share
                    p_left_open[q, t] += share
            found.arcs[s, t] = p_right_open[s, t]
            found.arcs[t, s] = p_left_open[s, t]
            # without the arc both directions are the same sum
            scale = 0.0
            if right_open[s, t] > TINY:
                scale += p_right_open[s, t] / right_open[s, t] * arcs[s, t]
            if left_open[s, t] > TINY:
                scale += p_left_open[s, t] / left_open[s, t] * arcs[t, s]
            for q in range(s, t):
                share = right[s, q] * left[q + 1, t] * scale
                if s == 0:
                    share *= starts[q + 1]
                    found.starts[q + 1] += share
                p_right[s, q] += share
                p_left[q + 1, t] += share


@jit()
def posterior(arcs, starts, single_root, least):
    """Return the distribution over trees, and whether the sum over all was large enough.

    Parameters
    ----------
    arcs
        **Shape (n + 1, n + 1)**, float64: ``exp(score)`` of each arc, 0 where there is none, each
        column divided by its maximum; `arcs[h, m]`.
    starts
        **Shape (n + 1,)**, float64: what a root's subtree that begins at each token is multiplied
        by; not used with a single root.
    single_root
        Whether one token alone hangs on the root.
    least
        The sum over all trees beside which sums of `TINY` count nothing, whatever they are
        multiplied by.
    """
    size = len(arcs)
    first = 1 if single_root else 0
    sums, posteriors = np.zeros((4, size, size)), np.zeros((4, size, size))
    found_arcs, found_starts = np.zeros((size, size)), np.zeros(size)
    right, left = sums[0], sums[1]
    _inside(arcs, starts, first, right, left, sums[2], sums[3])
    total = right[0, size - 1]
    if single_root:
        total = 0.0
        for root in range(1, size):
            total += left[1, root] * right[root, size - 1] * arcs[0, root]
    if not least <= total < np.inf:
        return Posterior(found_arcs, found_starts, -np.inf), False
    if single_root:
        for root in range(1, size):
            share = left[1, root] * right[root, size - 1] * arcs[0, root] / total
            found_arcs[0, root] = share
            posteriors[1, 1, root] += share
            posteriors[0, root, size - 1] += share
    else:
        posteriors[0, 0, size - 1] = 1.0
    found = Posterior(found_arcs, found_starts, np.log(total))
    _hand_down(
        arcs,
        starts,
        first,
        (sums[0], sums[1], sums[2], sums[3]),
        (posteriors[0], posteriors[1], posteriors[2], posteriors[3]),
        found,
    )
    return found, True


@jit()
def _add_logs(a, b):
    """Return the log of the sum of two exponentials."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@jit()
def _inside_by_logs(arcs, starts, first, right, left, right_open, left_open):
    """Do the same as `_inside` with logarithms."""
    size = len(arcs)
    for s in range(first, size):
        right[s, s] = 0.0
        left[s, s] = 0.0
    for length in range(1, size - first):
        for s in range(first, size - length):
            t = s + length
            total = -np.inf
            for q in range(s, t):
                start = starts[q + 1] if s == 0 else 0.0
                total = _add_logs(total, right[s, q] + left[q + 1, t] + start)
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
def _hand_down_by_logs(arcs, starts, first, logs, posteriors, found):
    """Do the same as `_hand_down` with logarithms."""
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
            found.arcs[s, t] = p_right_open[s, t]
            found.arcs[t, s] = p_left_open[s, t]
            both = p_right_open[s, t] + p_left_open[s, t]
            if both > 0.0:
                # without the arc both directions are the same sum
                if p_right_open[s, t] > 0.0:
                    whole = right_open[s, t] - arcs[s, t]
                else:
                    whole = left_open[s, t] - arcs[t, s]
                for q in range(s, t):
                    start = starts[q + 1] if s == 0 else 0.0
                    share = np.exp(right[s, q] + left[q + 1, t] + start - whole) * both
                    if s == 0:
                        found.starts[q + 1] += share
                    p_right[s, q] += share
                    p_left[q + 1, t] += share


@jit()
def posterior_by_logs(arcs, starts, single_root):
    """Do the same as `posterior` with the logarithms of arcs and starts, however far apart."""
    size = len(arcs)
    first = 1 if single_root else 0
    logs = np.full((4, size, size), -np.inf)
    posteriors = np.zeros((4, size, size))
    found_arcs, found_starts = np.zeros((size, size)), np.zeros(size)
    right, left = logs[0], logs[1]
    _inside_by_logs(arcs, starts, first, right, left, logs[2], logs[3])
    whole = right[0, size - 1]
    if single_root:
        whole = -np.inf
        for root in range(1, size):
            whole = _add_logs(whole, left[1, root] + right[root, size - 1] + arcs[0, root])
    found = Posterior(found_arcs, found_starts, whole)
    if whole == -np.inf:
        return found
    if single_root:
        for root in range(1, size):
            share = np.exp(left[1, root] + right[root, size - 1] + arcs[0, root] - whole)
            found_arcs[0, root] = share
            posteriors[1, 1, root] += share
            posteriors[0, root, size - 1] += share
    else:
        posteriors[0, 0, size - 1] = 1.0
    _hand_down_by_logs(
        arcs,
        starts,
        first,
        (logs[0], logs[1], logs[2], logs[3]),
        (posteriors[0], posteriors[1], posteriors[2], posteriors[3]),
        found,
    )
    return found
