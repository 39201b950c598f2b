"""Upper bounds on chains with scores of whole spans: the proof behind agreement.

One pass from the right, in float64, every sum rounded up. It counts how many tokens an entity
still has, where the search in `spans` follows where it began, and shares nothing with it.
"""

import numpy as np

from ....jit import internal, jit
from .layout import UP64

__all__ = ["span_bounds"]


@internal()
def up(value):
    """Return a sum rounded up by more than its error."""
    return value + UP64 * abs(value) if value > -np.inf else value


@internal()
def continued(chain, y, rests):
    """Bound what follows label y if its entity goes on, given what follows each next label."""
    best = -np.inf
    for z in range(len(rests)):
        if chain.goes_on[z] and chain.kinds[z] == chain.kinds[y]:
            best = max(best, up(chain.transitions[y, z] + rests[z]))
    return best


@internal()
def begun(chain, y, i, starts, ends, worth, first, last, left, exact, least, reach):
    """Bound what follows a label that begins an entity at token i, where mentions may begin."""
    best = -np.inf
    for length in range(1, reach + 1):
        rest = left if length == 1 else continued(chain, y, exact[i + 1, length - 2])
        for m in range(first, last):
            if starts[m] == i and ends[m] == i + length:
                rest = up(rest + worth[m, chain.kinds[y]])
        best = max(best, rest)
    return max(best, continued(chain, y, least[i + 1, reach - 1]))


@jit()
def span_bounds(chain, emissions, offsets, firsts, starts, ends, worth, found):
    """Write an upper bound on all labellings of each sentence to `found`: **shape (sentences,)**.

    Parameters
    ----------
    chain
        As for the search.
    firsts
        **Shape (sentences + 1,)**: the mentions of each sentence.
    starts, ends
        **Shape (mentions,)**: first token of each mention, and the token behind.
    worth
        **Shape (mentions, kinds)**: what it is worth that a mention is an entity of each kind.
    """
    size = len(chain.kinds)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        first, last = firsts[s], firsts[s + 1]
        found[s] = 0.0
        if n == 0:
            continue
        reach = 1
        for m in range(first, last):
            reach = max(reach, ends[m] - starts[m])
        # [i, y]: from the emission of token i on, with a label that continues no entity
        fresh = np.full((n + 1, size), -np.inf)
        # [i, d, y]: the same with a label that continues one, which has exactly, or at least, d
        # tokens more
        exact = np.full((n + 1, reach, size), -np.inf)
        least = np.full((n + 1, reach, size), -np.inf)
        for i in range(n - 1, -1, -1):
            for y in range(size):
                own = np.float64(emissions[begin + i, y])
                if own == -np.inf:
                    continue
                left = chain.end[y] if i == n - 1 else -np.inf
                if i < n - 1:
                    for z in range(size):
                        if not chain.goes_on[z]:
                            left = max(left, up(chain.transitions[y, z] + fresh[i + 1, z]))
                if chain.kinds[y] < 0:
                    fresh[i, y] = up(own + left)
                elif not chain.goes_on[y]:
                    some = False
                    for m in range(first, last):
                        some |= starts[m] == begin + i
                    if some:
                        rest = begun(
                            chain,
                            y,
                            i,
                            starts[first:last] - begin,
                            ends[first:last] - begin,
                            worth[first:last],
                            0,
                            last - first,
                            left,
                            exact,
                            least,
                            reach,
                        )
                    else:
                        rest = max(left, continued(chain, y, least[i + 1, 0]))
                    fresh[i, y] = up(own + rest)
                else:
                    exact[i, 0, y] = up(own + left)
                    rest = max(left, continued(chain, y, least[i + 1, 0]))
                    least[i, 0, y] = up(own + rest)
                    for d in range(1, reach):
                        exact[i, d, y] = up(own + continued(chain, y, exact[i + 1, d - 1]))
                        least[i, d, y] = up(own + continued(chain, y, least[i + 1, d - 1]))
        top = -np.inf
        for y in range(size):
            rest = fresh[0, y] if not chain.goes_on[y] else -np.inf
            top = max(top, up(chain.start[y] + rest))
        found[s] = top
