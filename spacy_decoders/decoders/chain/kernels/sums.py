"""Forward-backward in float64: sums over all labellings, and the probability of each label.

With F the log of the sum over all prefixes that end with a label, its emission included, and P the
probability of the label::

    F[i, y] = E[i, y] + log sum over x of exp(F[i - 1, x] + T[x, y])
    P[i, x] = sum over y of P[i + 1, y] * exp(F[i, x] + T[x, y]) / exp(F[i + 1, y] - E[i + 1, y])

A step is a matrix product of exponentials: those of F less its maximum, and those of the
transitions less the maximum of each column. If a sum is so small that terms may have underflowed,
it is computed again with logarithms. Backwards, the probability of each label is divided among the
labels before it, so that they stay a distribution despite rounding.
"""

from typing import NamedTuple

import numpy as np

from ....arrays import Floats, Floats32, Integers
from ....jit import jit
from .layout import longest_of

__all__ = ["Scores", "sum_all"]

#: Sums of exponentials below this may have lost a term to underflow.
SMALL = 1e-280

#: Smaller probabilities are not passed on: together they matter less than rounding errors.
NEGLIGIBLE = 1e-20


class Scores(NamedTuple):
    """The scores of a model and of sentences that are concatenated."""

    transitions: Floats  # (L, L)
    transfer: Floats  # (L, L): exp(transitions - shift)
    shift: Floats  # (L,): the largest transition into each label
    start: Floats32  # (L,)
    end: Floats32  # (L,)
    emissions: Floats32  # (total, L)
    offsets: Integers  # (sentences + 1,)


@jit()
def log_sum(values):
    """Return the logarithm of the sum of the exponentials."""
    top = values.max()
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += np.exp(value - top)
    return top + np.log(total)


@jit()
def sum_forward(scores, begin, n, ahead, weights, sums):
    """Write F of a sentence, the exponentials of the previous token's F, and their products."""
    emissions, shift = scores.emissions, scores.shift
    transitions, transfer = scores.transitions, scores.transfer
    size = emissions.shape[1]
    for y in range(size):
        ahead[0, y] = np.float64(emissions[begin, y]) + scores.start[y]
    for i in range(1, n):
        top = -np.inf
        for x in range(size):
            top = max(top, ahead[i - 1, x])
        top = top if top > -np.inf else 0.0
        for x in range(size):
            weights[i, x] = np.exp(ahead[i - 1, x] - top)
            sums[i, x] = 0.0
        for x in range(size):
            weight = weights[i, x]
            if weight != 0.0:
                for y in range(size):
                    sums[i, y] += weight * transfer[x, y]
        for y in range(size):
            own = np.float64(emissions[begin + i, y])
            if own == -np.inf:
                ahead[i, y] = own
            elif sums[i, y] >= SMALL:
                ahead[i, y] = own + np.log(sums[i, y]) + top + shift[y]
            else:
                ahead[i, y] = own + log_sum(ahead[i - 1] + transitions[:, y])


@jit()
def share_backward(scores, across, n, ahead, weights, sums, shares, pairs, far):
    """Write P of a sentence, and add to the expected counts of pairs."""
    size = len(across)
    joint = ahead[n - 1] + scores.end
    shares[n - 1] = np.exp(joint - joint.max())
    shares[n - 1] /= shares[n - 1].sum()
    for i in range(n - 1, 0, -1):
        for x in range(size):
            shares[i - 1, x] = 0.0
        for y in range(size):
            if shares[i, y] > NEGLIGIBLE and sums[i, y] >= SMALL:
                ratio = shares[i, y] / sums[i, y]
                for x in range(size):
                    shares[i - 1, x] += ratio * across[y, x]
                if len(pairs):
                    for x in range(size):
                        pairs[y, x] += ratio * weights[i, x]
        for x in range(size):
            shares[i - 1, x] *= weights[i, x]
        for y in range(size):
            if shares[i, y] > NEGLIGIBLE and sums[i, y] < SMALL:
                joint = ahead[i - 1] + scores.transitions[:, y]
                of_joint = np.exp(joint - joint.max())
                of_joint *= shares[i, y] / of_joint.sum()
                shares[i - 1] += of_joint
                if len(pairs):
                    far[y] += of_joint


@jit()
def sum_all(scores, log_partitions, ahead, marginals, pairs):
    """Run forward-backward on each sentence; results that are not wanted are arrays without rows.

    **Shape**: log_partitions (sentences,), initially 0, ``-inf`` if no labelling is legal; ahead
    and marginals (total, L), F and P, where without the latter there is no backward pass; pairs
    (L, L), initially 0, the expected count of each label, by row, after each, by column.
    """
    offsets, size = scores.offsets, scores.emissions.shape[1]
    longest = longest_of(offsets)
    weights, sums = np.empty((longest, size)), np.empty((longest, size))
    of_sentence = np.empty((longest, size))
    across = np.ascontiguousarray(scores.transfer.T)
    far = np.zeros(pairs.shape)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        own = ahead[begin : begin + n] if len(ahead) else of_sentence
        sum_forward(scores, begin, n, own, weights, sums)
        log_partitions[s] = log_sum(own[n - 1] + scores.end)
        if len(marginals) and log_partitions[s] > -np.inf:
            of_labels = marginals[begin : begin + n]
            share_backward(scores, across, n, own, weights, sums, of_labels, pairs, far)
    if len(pairs):
        pairs *= across
        pairs += far
