"""The probabilities of runs of labels, such as entities.

Given the next label, the label of a token is independent of all later ones, and its probability
follows from the forward sums. So the probability of a run is computed from its last token back to
its first.
"""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit

__all__ = ["Chain", "Kinds", "likely_runs", "probabilities_of_runs"]

#: Less probable labels are left out: together they matter less than rounding errors.
NEGLIGIBLE = 1e-15


class Chain(NamedTuple):
    """The results of forward-backward on sentences that are concatenated."""

    transitions: Any  # (L, L)
    # (total, L): scores, logarithms of forward sums, probabilities
    emissions: Any
    forward: Any
    marginals: Any
    offsets: Any  # (sentences + 1,)


class Kinds(NamedTuple):
    """The labels of each kind of run."""

    labels: Any  # (members,): those of kind k are `labels[bounds[k]:bounds[k + 1]]`
    bounds: Any  # (kinds + 1,)
    continues: Any  # (L, L), bool: whether the column's label continues the run of the row's


@jit()
def _share(chain, token, before, label):
    """Return P(label `before` at the previous token | `label` at the token)."""
    reached = chain.forward[token, label] - chain.emissions[token, label]
    return np.exp(chain.forward[token - 1, before] + chain.transitions[before, label] - reached)


@jit()
def _end_at(chain, kinds, kind, last, stop, mass):
    """Write, for each label of the kind, P(it is at token `last`, and the run ends there).

    Returns the sum over labels.
    """
    first, end = kinds.bounds[kind], kinds.bounds[kind + 1]
    total = 0.0
    for p in range(first, end):
        label = kinds.labels[p]
        left = chain.marginals[last, label]
        if last + 1 < stop and left > NEGLIGIBLE:
            for q in range(first, end):
                later = kinds.labels[q]
                weight = chain.marginals[last + 1, later]
                if kinds.continues[label, later] and weight > NEGLIGIBLE:
                    left -= weight * _share(chain, last + 1, label, later)
        mass[p - first] = max(left, 0.0)
        total += mass[p - first]
    return total


@jit()
def _step_back(chain, kinds, kind, token, mass, other):
    """Replace the mass of labels at `token` by that of the labels before it that they continue.

    Returns the sum: the probability that the run begins before `token`.
    """
    first, end = kinds.bounds[kind], kinds.bounds[kind + 1]
    total = 0.0
    for p in range(first, end):
        before = kinds.labels[p]
        other[p - first] = 0.0
        if chain.marginals[token - 1, before] > NEGLIGIBLE:
            for q in range(first, end):
                label = kinds.labels[q]
                if kinds.continues[before, label] and mass[q - first] > NEGLIGIBLE:
                    other[p - first] += mass[q - first] * _share(chain, token, before, label)
        total += other[p - first]
    for p in range(end - first):
        mass[p] = other[p]
    return total


@jit()
def probabilities_of_runs(chain, kinds, runs, borders):
    """Return the probability of each run, from a :class:`Chain` and :class:`Kinds`.

    **Shape**: runs int64 (runs, 3), first token, token after the last, kind; borders int64
    (runs, 2), where each run's sentence begins and ends.
    """
    found = np.zeros(len(runs))
    mass, other = np.zeros(len(kinds.labels) + 1), np.zeros(len(kinds.labels) + 1)
    for r in range(len(runs)):
        begin, end, kind = runs[r, 0], runs[r, 1], runs[r, 2]
        total = _end_at(chain, kinds, kind, end - 1, borders[r, 1], mass)
        for token in range(end - 1, begin, -1):
            total = _step_back(chain, kinds, kind, token, mass, other)
        if begin > borders[r, 0]:
            total -= _step_back(chain, kinds, kind, begin, mass, other)
        found[r] = max(total, 0.0)
    return found


@jit()
def likely_runs(chain, kinds, least):
    """Return all runs with at least this probability: **(runs, 3)** and **(runs,)**."""
    runs, found = np.empty((64, 3), np.int64), np.empty(64)
    count = 0
    mass, other = np.zeros(len(kinds.labels) + 1), np.zeros(len(kinds.labels) + 1)
    for s in range(len(chain.offsets) - 1):
        begin, stop = chain.offsets[s], chain.offsets[s + 1]
        for last in range(begin, stop):
            for kind in range(len(kinds.bounds) - 1):
                inside = 0.0
                for p in range(kinds.bounds[kind], kinds.bounds[kind + 1]):
                    inside += chain.marginals[last, kinds.labels[p]]
                if inside < least:
                    continue
                left = _end_at(chain, kinds, kind, last, stop, mass)
                token = last
                # the mass can only shrink on the way back
                while left >= least:
                    before = 0.0
                    if token > begin:
                        before = _step_back(chain, kinds, kind, token, mass, other)
                    if left - before >= least:
                        if count == len(runs):
                            more, further = np.empty((2 * count, 3), np.int64), np.empty(2 * count)
                            more[:count], further[:count] = runs, found
                            runs, found = more, further
                        runs[count, 0], runs[count, 1], runs[count, 2] = token, last + 1, kind
                        found[count] = left - before
                        count += 1
                    left = before
                    token -= 1
    return runs[:count], found[:count]
