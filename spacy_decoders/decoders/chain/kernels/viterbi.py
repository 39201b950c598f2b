"""Dense Viterbi over flat arrays."""

import numpy as np

from ....jit import jit

__all__ = ["decode"]

UNIT32 = 2.0**-24


@jit()
def decode(transitions, start, end, emissions, offsets):
    """Return labels, rounding slacks and (sentence, token) of the first dead end, or -1s."""
    size = len(start)
    labels = np.zeros(offsets[-1], np.int32)
    slacks = np.zeros(len(offsets) - 1)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    back = np.empty((longest, size), np.int32)
    running = np.empty(size, np.float32)
    best = np.empty(size, np.float32)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        total = 0.0
        for i in range(n):
            if i == 0:
                best[:] = start
            else:
                best[:] = -np.inf
                back[i, :] = 0
                for x in range(size):
                    worth = running[x]
                    if worth > -np.inf:
                        for y in range(size):
                            candidate = worth + transitions[x, y]
                            if candidate > best[y]:
                                best[y] = candidate
                                back[i, y] = x
            top = np.float32(-np.inf)
            for y in range(size):
                best[y] += emissions[begin + i, y]
                top = max(top, best[y])
            if top == -np.inf:
                return labels, slacks, (s, i)
            low = np.float32(0)
            for y in range(size):
                running[y] = best[y] - top
                if running[y] > -np.inf:
                    low = min(low, running[y])
            # every running score of this step lies between top + low and top
            total += 3.0 * (abs(np.float64(top)) - 2.0 * np.float64(low))
        top = np.float32(-np.inf)
        last = 0
        for y in range(size):
            if running[y] + end[y] > top:
                top = running[y] + end[y]
                last = y
        if top == -np.inf:
            return labels, slacks, (s, n)
        slacks[s] = 2.0 * UNIT32 * total * (1.0 + 1e-5)
        for i in range(n - 1, -1, -1):
            labels[begin + i] = last
            if i:
                last = back[i, last]
    return labels, slacks, (np.int64(-1), np.int64(-1))
