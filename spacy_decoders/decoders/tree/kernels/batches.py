"""Many sentences in one call: arcs end to end, (n + 1) x (n + 1) each, and where each begins.

Named tuples are given as plain ones, which take numba less time to recognise.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import internal, jit
from . import chu_liu_edmonds, proofs
from .rows import LANES


class Judged(NamedTuple):
    """What is known of the best trees of a batch, a row each: see :class:`.TreeSolutions`."""

    bounds: NDArray[np.float64]
    slack: NDArray[np.float64]  # the rounding errors of the bounds
    scores: NDArray[np.float64]
    scales: NDArray[np.float64]
    legal: NDArray[np.bool_]


class Duals(NamedTuple):
    """What contractions prove of the sentences of a batch: see :func:`.proofs.dual_bound`.

    The nodes of sentence s begin at ``2 * (offsets[s] + s)``. A sentence with a count of 0 has no
    duals, one with -1 has no tree either.
    """

    penalties: NDArray[np.float64]  # (sentences,)
    counts: NDArray[np.int64]  # (sentences,)
    values: NDArray[np.float64]  # (2 (tokens + sentences),)
    parents: NDArray[np.int64]  # (2 (tokens + sentences),)


@jit()
def contractions(flat, begins, sizes, which, offsets, heads, dual_arrays):
    """Find the best non-projective trees of some sentences; write heads and duals."""
    duals = Duals(*dual_arrays)
    for place in range(which.shape[0]):
        s = which[place]
        begin, size, first = begins[s], sizes[s], offsets[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        found, bound, penalty, value, parent, count = chu_liu_edmonds.with_duals(arcs, True)
        heads[first : first + size - 1] = found
        at = 2 * (first + s)
        duals.penalties[s] = penalty
        duals.values[at : at + 2 * size] = value
        duals.parents[at : at + 2 * size] = parent
        duals.counts[s] = count if bound > -np.inf else -1


@internal(counted=True)
def _judge(arcs, s, offsets, heads, projective, found, room):
    """Write whether a sentence has a legal tree, its score and the sum of absolute parts.

    Returns whether the score attains the bound, up to rounding. Where a chart follows, which is
    exact, errors of the bound beyond the usual tolerance leave it open.
    """
    of_tree = heads[offsets[s] : offsets[s + 1]]
    legal, score, scale = proofs.tally_within(arcs, of_tree, projective, True, room)
    found.legal[s], found.scores[s], found.scales[s] = legal, score, scale
    slack = found.slack[s]
    usual = 1e-9 * (1.0 + scale)
    if projective and 2.0 * slack > usual:
        return False
    tolerance = max(usual, 2.0 * slack)
    return legal and found.bounds[s] + slack - score <= tolerance


@jit()
def judge_by_columns(flat, begins, sizes, offsets, heads, projective, columns):
    """Bound the trees of all sentences by the best head of each token; return the unproven."""
    found = Judged(*columns)
    best = np.empty(sizes.max() + LANES)
    unproven, reached = np.empty(sizes.shape[0], np.int64), np.empty(sizes.max(), np.int64)
    count = 0
    for s in range(sizes.shape[0]):
        begin, size = begins[s], sizes[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        found.bounds[s], found.slack[s] = proofs.column_bound(arcs, best)
        if not _judge(arcs, s, offsets, heads, projective, found, reached):
            unproven[count] = s
            count += 1
    return unproven[:count]


@jit()
def judge_by_duals(flat, begins, sizes, which, offsets, heads, projective, dual_arrays, columns):
    """Bound the trees of some sentences by duals, infinite without a proof; return the unproven.

    Where no tree was found, the bound is -inf if there provably is none.
    """
    duals = Duals(*dual_arrays)
    found = Judged(*columns)
    unproven, reached = np.empty(which.shape[0], np.int64), np.empty(sizes.max(), np.int64)
    count = 0
    for place in range(which.shape[0]):
        s = which[place]
        begin, size = begins[s], sizes[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        found.bounds[s], found.slack[s] = np.inf, 0.0
        if duals.counts[s] < 0 and not proofs.reaches_all(arcs > -np.inf, True):
            found.bounds[s] = -np.inf
        elif duals.counts[s] > 0:
            at = 2 * (offsets[s] + s)
            found.bounds[s], found.slack[s] = proofs.dual_bound(
                arcs, duals.penalties[s], duals.values[at:], duals.parents[at:], duals.counts[s]
            )
        if not _judge(arcs, s, offsets, heads, projective, found, reached):
            unproven[count] = s
            count += 1
    return unproven[:count]


@jit()
def judge_by_charts(flat, begins, sizes, which, offsets, heads, dual_arrays, kept, room, columns):
    """Bound the projective trees of some sentences by charts of surviving arcs.

    Returns the unproven ones.
    """
    duals = Duals(*dual_arrays)
    found = Judged(*columns)
    unproven, reached = np.empty(which.shape[0], np.int64), np.empty(sizes.max(), np.int64)
    count = 0
    at = 0
    for place in range(which.shape[0]):
        s = which[place]
        begin, size = begins[s], sizes[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        nodes = 2 * (offsets[s] + s)
        found.bounds[s], found.slack[s] = proofs.surviving_bound(
            arcs, found.bounds[s], found.slack[s], duals.values[nodes:], duals.parents[nodes:],
            kept[at : at + size * size].reshape(size, size),
            room[4 * at : 4 * (at + size * size)].reshape(4, size, size),
        )  # fmt: skip
        if not _judge(arcs, s, offsets, heads, True, found, reached):
            unproven[count] = s
            count += 1
        at += size * size
    return unproven[:count]
