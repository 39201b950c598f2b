"""Weighted interval scheduling: the best set of spans, from left to right."""

import numpy as np

from ....jit import jit

__all__ = ["schedule"]


@jit()
def _before(ends, count, limit):
    """Return how many of the first `count` sorted ends are at most `limit`."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if ends[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@jit()
def _best_row(begins, ends, worth, gap, members, count, prefix):
    """Fill `prefix[i]` with what the best of the first i members is worth; return the last."""
    own_ends = np.empty(count, dtype=np.int64)
    prefix[0] = 0.0
    for i in range(count):
        span = members[i]
        own_ends[i] = ends[span]
        joined = worth[span] + prefix[_before(own_ends, i, begins[span] - gap)]
        prefix[i + 1] = max(prefix[i], joined)
    return prefix[count]


@jit()
def _inside(begins, ends, span, members):
    """Collect the spans that lie in one and are shorter, in their order; return their number."""
    first = span
    while first > 0 and ends[first - 1] > begins[span]:
        first -= 1
    count = 0
    for other in range(first, len(begins)):
        if ends[other] > ends[span]:
            break
        shorter = ends[other] - begins[other] < ends[span] - begins[span]
        if shorter and begins[other] >= begins[span]:
            members[count] = other
            count += 1
    return count


@jit()
def _trace(begins, ends, worth, gap, members, count, prefix, chosen):
    """Mark a best set of members that were just put into one row."""
    i = count
    own_ends = ends[members[:count]]
    while i > 0:
        if prefix[i] == prefix[i - 1]:
            i -= 1
            continue
        span = members[i - 1]
        chosen[span] = True
        i = _before(own_ends, i - 1, begins[span] - gap)


@jit()
def schedule(begins, ends, scores, gap, nested, by_length):
    """Choose a best set of spans.

    Parameters
    ----------
    begins, ends
        **Shape (s,)**, int64, sorted by end.
    scores
        **Shape (s,)**, float64, all finite and greater than 0.
    gap
        How many tokens must stand between two spans that do not nest.
    nested
        Whether spans may lie in others.
    by_length
        **Shape (s,)**, int64: the spans, the shorter ones first.

    Returns
    -------
    **Shape (s,)**, bool: the chosen ones.
    """
    size = len(begins)
    worth = scores.copy()
    prefix = np.empty(size + 1)
    members = np.empty(size, dtype=np.int64)
    if nested:
        for span in by_length:
            count = _inside(begins, ends, span, members)
            worth[span] += _best_row(begins, ends, worth, gap, members, count, prefix)
    chosen = np.zeros(size, dtype=np.bool_)
    everything = np.arange(size)
    _best_row(begins, ends, worth, gap, everything, size, prefix)
    _trace(begins, ends, worth, gap, everything, size, prefix, chosen)
    if nested:
        # the longer ones first: each that is chosen says which of its content is
        for i in range(size - 1, -1, -1):
            span = by_length[i]
            if chosen[span]:
                count = _inside(begins, ends, span, members)
                _best_row(begins, ends, worth, gap, members, count, prefix)
                _trace(begins, ends, worth, gap, members, count, prefix, chosen)
    return chosen
