"""Messages and labels for a few tokens at a time, so that the clock can be checked in between.

All sums are in float64, and those of messages are rounded up.
"""

import numpy as np

from ....jit import jit
from .dense import pass_on
from .layout import UP64

__all__ = ["follow", "send"]


@jit()
def send(table, emissions, size, way, values, begin, stop):
    """Compute the messages of tokens `begin` to `stop` - 1, given those of token `begin` - 1.

    ``V[i, y] = E[i, y] + max over x of (V[i - 1, x] + T[x, y])``, for tokens that are counted
    from the left, or with a `way` of -1 from the right. Returns the first token of which all
    messages are ``-inf``, or `stop`.

    **Shapes:** table, flat, in the layout of :mod:`.layout`; emissions (n * L,); values float64
    (n, L), or fewer rows, used cyclically.
    """
    n = len(emissions) // size
    reached = np.empty(len(table) // (size + 1))
    for i in range(begin, stop):
        token = i if way > 0 else n - 1 - i
        pass_on(table, values[(i - 1) % len(values)], size, len(reached), reached)
        found, alive = values[i % len(values)], False
        for y in range(size):
            best = reached[y]
            if best > -np.inf:
                best += UP64 * abs(best)
            best += np.float64(emissions[token * size + y])
            if best > -np.inf:
                best += UP64 * abs(best)
                alive = True
            found[y] = best
        if not alive:
            return i
    return stop


@jit()
def follow(transitions, start, emissions, behind, known, labels, dead, i, moves):
    """Label from token i on: greedily, then optimally once the messages, of `known` tokens, begin.

    A label without a continuation is marked in `dead`, and its token is labelled anew. Returns the
    next token after so many moves: n if all are labelled, -1 if no labelling is legal.

    **Shapes:** transitions (L, L); start (L,); emissions (n, L); behind float64 (n, L), the
    messages from the right, that of the last token first; labels int32 (n,); dead bool (n, L).
    """
    n, size = emissions.shape
    for _ in range(moves):
        if not 0 <= i < n:
            break
        best, place = -np.inf, -1
        for y in range(size):
            link = start[y] if i == 0 else transitions[labels[i - 1], y]
            own = behind[n - 1 - i, y] if n - i <= known else np.float64(emissions[i, y])
            value = np.float64(link) + own
            if value > best and not dead[i, y]:
                best, place = value, y
        if place >= 0:
            labels[i] = place
            i += 1
        else:
            i -= 1
            if i >= 0:
                dead[i, labels[i]] = True
    return i
