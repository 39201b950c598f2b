"""What no set of spans exceeds: potentials from right to left, and what they prove.

With the spans sorted by their first token, span i ends before the span ``next[i]``. For any
potentials G over 0..s, spans that are chosen together, i < j with ``next[i] <= j``, are worth at
most::

    G[0] - G[s] + sum(max(0, G[i + 1] - G[i])) + sum(max(0, scores[i] + G[next[i]] - G[i]))

since the terms of the chosen spans telescope. So the bound holds whatever the potentials are;
the best value from each span on makes all but the first term vanish. This is the dual of the
linear program over spans, whose matrix of intervals is totally unimodular.

Nothing here is shared with the search in :mod:`.schedule`.
"""

import numpy as np

from ....jit import jit

__all__ = ["bound"]


@jit()
def _row_bound(begins, ends, worth, gap, members, count, potentials):
    """Bound what members, sorted by their first token, are worth together."""
    potentials[count] = 0.0
    for i in range(count - 1, -1, -1):
        follower = i + 1
        while follower < count and begins[members[follower]] < ends[members[i]] + gap:
            follower += 1
        potentials[i] = max(potentials[i + 1], worth[members[i]] + potentials[follower])
    total = potentials[0] - potentials[count]
    for i in range(count):
        follower = i + 1
        while follower < count and begins[members[follower]] < ends[members[i]] + gap:
            follower += 1
        total += max(0.0, potentials[i + 1] - potentials[i])
        total += max(0.0, worth[members[i]] + potentials[follower] - potentials[i])
    return total


@jit()
def bound(begins, ends, scores, gap, nested, by_length):
    """Bound what any allowed set of spans is worth.

    Parameters
    ----------
    begins, ends
        **Shape (s,)**, int64, sorted by begin.
    scores
        **Shape (s,)**, float64, all finite and greater than 0.
    gap, nested, by_length
        As in :func:`~.schedule.schedule`.
    """
    size = len(begins)
    worth = scores.copy()
    potentials = np.empty(size + 1)
    members = np.empty(size, dtype=np.int64)
    if nested:
        for span in by_length:
            count = 0
            first = span
            while first > 0 and begins[first - 1] == begins[span]:
                first -= 1
            for other in range(first, size):
                if begins[other] >= ends[span]:
                    break
                same = begins[other] == begins[span] and ends[other] == ends[span]
                if ends[other] <= ends[span] and not same:
                    members[count] = other
                    count += 1
            worth[span] += _row_bound(begins, ends, worth, gap, members, count, potentials)
    return _row_bound(begins, ends, worth, gap, np.arange(size), size, potentials)
