"""The probability of each entity: forward and backward sums over all legal labellings."""

import numpy as np

from ....jit import jit

__all__ = ["log_probabilities"]


@jit()
def _log_sum(terms, count):
    """Return the log of the sum of the exponentials of the first `count` terms."""
    top = -np.inf
    for i in range(count):
        top = max(top, terms[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(count):
        total += np.exp(terms[i] - top)
    return top + np.log(total)


@jit()
def _forward(transitions, start, emissions, sums, terms):
    """Sum over all beginnings, for the label of each word."""
    size = len(start)
    for i in range(len(emissions)):
        for y in range(size):
            if i == 0:
                sums[0, y] = start[y] + emissions[0, y]
                continue
            for x in range(size):
                terms[x] = sums[i - 1, x] + transitions[x, y]
            sums[i, y] = emissions[i, y] + _log_sum(terms, size)


@jit()
def _backward(transitions, end, emissions, sums, terms):
    """Sum over all continuations of the label of each word, without its own emission."""
    size = len(end)
    last = len(emissions) - 1
    sums[last] = end
    for i in range(last - 1, -1, -1):
        for x in range(size):
            for y in range(size):
                terms[y] = transitions[x, y] + emissions[i + 1, y] + sums[i + 1, y]
            sums[i, x] = _log_sum(terms, size)


@jit()
def log_probabilities(
    transitions, start, end, emissions, continues, kinds, own_kinds, begins, ends
):  # fmt: skip
    """Return the log-probability of each entity, by whichever labels, and no more of it.

    Parameters
    ----------
    transitions, start, end
        **Shape (L, L)**, **(L,)**, **(L,)**, float64: ``-inf`` forbids.
    emissions
        **Shape (n, L)**, float64, with n of at least 1.
    continues
        **Shape (L, L)**, bool: whether the column's label goes on with the entity of the row's.
    kinds
        **Shape (L,)**, int64: a number for the kind of each label.
    own_kinds, begins, ends
        **Shape (entities,)**, int64: its kind, first word, and the word after the last.
    """
    n, size = emissions.shape
    terms, inside, following = np.empty(size), np.empty(size), np.empty(size)
    forward, backward = np.empty((n, size)), np.empty((n, size))
    _forward(transitions, start, emissions, forward, terms)
    _backward(transitions, end, emissions, backward, terms)
    for y in range(size):
        terms[y] = forward[n - 1, y] + end[y]
    whole = _log_sum(terms, size)
    logs = np.empty(len(begins))
    for k in range(len(begins)):
        first, last = begins[k], ends[k] - 1
        for y in range(size):
            inside[y] = -np.inf
            if kinds[y] != own_kinds[k]:
                continue
            if first == 0:
                inside[y] = start[y] + emissions[0, y]
                continue
            for x in range(size):
                fresh = not continues[x, y]
                terms[x] = forward[first - 1, x] + transitions[x, y] if fresh else -np.inf
            inside[y] = _log_sum(terms, size) + emissions[first, y]
        for i in range(first + 1, last + 1):
            for y in range(size):
                following[y] = -np.inf
                if kinds[y] != own_kinds[k]:
                    continue
                for x in range(size):
                    terms[x] = inside[x] + transitions[x, y] if continues[x, y] else -np.inf
                following[y] = _log_sum(terms, size) + emissions[i, y]
            inside[:] = following
        for y in range(size):
            if last == n - 1:
                inside[y] += end[y]
            elif inside[y] > -np.inf:
                for x in range(size):
                    after = transitions[y, x] + emissions[last + 1, x] + backward[last + 1, x]
                    terms[x] = -np.inf if continues[y, x] else after
                inside[y] += _log_sum(terms, size)
        total = _log_sum(inside, size)
        logs[k] = total - whole
    return logs
