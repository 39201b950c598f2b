"""Forward-backward in float64, with forward weights that are scaled at every token."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit
from .layout import longest_of

__all__ = ["SMALLEST", "Sums", "expect"]

#: Factors and forward weights below this are not multiplied: three of them may underflow.
SMALLEST = 1e-100


class Sums(NamedTuple):
    """What is written."""

    log_partitions: NDArray[np.float64]  # (sentences,), float64
    marginals: NDArray[np.float32]  # (total, L), float32
    # (L, L), float64, zeros at first: how often each label is expected to follow each,
    # divided by the pair's `transfer`
    pairs: NDArray[np.float64]
    # (L,), float64, zeros at first
    start: NDArray[np.float64]
    end: NDArray[np.float64]


@jit()
def expect(transfer, shift, start, end, emissions, offsets, sums):
    """Write the expectations of all sentences; return whether no term was lost to underflow.

    If it returns False, what was written is of no use: either a sentence has no legal labelling,
    or scores lie so far apart that logarithms are needed.

    Parameters
    ----------
    transfer
        **Shape (L, L)**, float64: exp(transitions - shift); 0, or at least `SMALLEST`.
    shift
        What was subtracted from the transitions.
    start, end
        **Shape (L,)**, float32.
    emissions
        **Shape (total, L)**, float32.
    offsets
        **Shape (sentences + 1,)**, int64.
    sums
        The :class:`Sums`.
    """
    size = emissions.shape[1]
    longest = longest_of(offsets)
    factors = np.empty((longest, size))
    weights = np.empty((longest, size))
    scales = np.empty(longest)
    backward, ratios = np.empty(size), np.empty(size)
    across = np.ascontiguousarray(transfer.T)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        partition = 0.0
        for i in range(n):
            # the exponentials of the token's scores, the largest 1
            top = -np.inf
            for y in range(size):
                score = np.float64(emissions[begin + i, y])
                if i == 0:
                    score += start[y]
                if i == n - 1:
                    score += end[y]
                factors[i, y] = score
                top = max(top, score)
            if top == -np.inf:
                return False
            for y in range(size):
                score = factors[i, y]
                factors[i, y] = np.exp(score - top)
                if factors[i, y] < SMALLEST and score != -np.inf:
                    return False
            if i == 0:
                weights[i] = 1.0
            else:
                weights[i] = 0.0
                for x in range(size):
                    weight = weights[i - 1, x]
                    if weight != 0.0:
                        for y in range(size):
                            weights[i, y] += weight * transfer[x, y]
            total = 0.0
            for y in range(size):
                weights[i, y] *= factors[i, y]
                total += weights[i, y]
            if total <= 0.0:
                return False
            for y in range(size):
                weights[i, y] /= total
                if weights[i, y] < SMALLEST and weights[i, y] != 0.0:
                    return False
            scales[i] = total
            partition += np.log(total) + top + (shift if i > 0 else 0.0)
        sums.log_partitions[s] = partition
        backward[:] = 1.0
        for i in range(n - 1, -1, -1):
            total = 0.0
            for y in range(size):
                total += weights[i, y] * backward[y]
            for y in range(size):
                share = weights[i, y] * backward[y] / total
                sums.marginals[begin + i, y] = share
                if i == 0:
                    sums.start[y] += share
                if i == n - 1:
                    sums.end[y] += share
            if i == 0:
                break
            for y in range(size):
                ratios[y] = factors[i, y] * backward[y] / scales[i]
            backward[:] = 0.0
            for y in range(size):
                ratio = ratios[y]
                for x in range(size):
                    backward[x] += ratio * across[y, x]
            for x in range(size):
                weight = weights[i - 1, x]
                if weight != 0.0:
                    for y in range(size):
                        sums.pairs[x, y] += weight * ratios[y]
    return True
