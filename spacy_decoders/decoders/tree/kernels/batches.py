"""Many sentences in one call: arcs end to end, (n + 1) x (n + 1) each, and where each begins."""

import numpy as np

from ....arrays import LARGEST_SCORE
from ....jit import FAST, jit
from . import chu_liu_edmonds, eisner, proofs


@jit()
def forbid_root_and_self(flat, begins, sizes):
    """Set what is no arc to -inf: the root as a modifier, and tokens that head themselves.

    Returns the first sentence with NaN or a score beyond `LARGEST_SCORE`, -1 if there is none.
    """
    for s in range(sizes.shape[0]):
        begin, size = begins[s], sizes[s]
        wrong = 0
        for at in range(begin, begin + size * size):
            wrong += not (flat[at] <= LARGEST_SCORE)
            wrong += -np.inf < flat[at] < -LARGEST_SCORE
        if wrong > 0:
            return s
        for h in range(size):
            flat[begin + h * size] = -np.inf
            flat[begin + h * size + h] = -np.inf
    return -1


@jit(fastmath=FAST)
def favourite_heads(flat, begins, sizes, offsets, heads):
    """Write the best head of each token whatever the others are, the first of equals."""
    for s in range(sizes.shape[0]):
        begin, size, first = begins[s], sizes[s], offsets[s]
        best = flat[begin + 1 : begin + size].copy()
        heads[first : first + size - 1] = 0
        for h in range(1, size):
            row = begin + h * size + 1
            for m in range(size - 1):
                if flat[row + m] > best[m]:
                    best[m] = flat[row + m]
                    heads[first + m] = h


@jit()
def tallies(flat, begins, sizes, offsets, heads, projective, single_root, legal, scores, scales):
    """Write whether each sentence has a legal tree, its score, and the sum of absolute parts."""
    for s in range(sizes.shape[0]):
        begin, size, first = begins[s], sizes[s], offsets[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        legal[s], scores[s], scales[s] = proofs.tally(
            arcs, heads[first : first + size - 1], projective, single_root
        )


@jit(fastmath=FAST)
def charts(flat, begins, sizes, which, single_root, gaps, offsets, heads, room, positive):
    """Decode some sentences by Eisner's chart; the charts are written end to end into `room`."""
    at = 0
    for place in range(which.shape[0]):
        s = which[place]
        begin, size, first = begins[s], sizes[s], offsets[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        chart = room[at : at + 4 * size * size].reshape(4, size, size)
        found = np.full(size, -1, np.int32)
        value = eisner.inside(arcs, single_root, gaps, chart[0], chart[1], chart[2], chart[3])
        if value > -np.inf:
            eisner.back_trace(
                arcs, single_root, gaps, chart[0], chart[1], chart[2], chart[3], found
            )
        heads[first : first + size - 1] = found[1:]
        positive[s] = eisner.positive_mass(arcs)
        at += 4 * size * size


@jit()
def chart_bounds(flat, begins, sizes, which, single_root, gaps, room, bounds):
    """Write the bounds that charts prove, infinite where a chart is incorrect."""
    at = 0
    for place in range(which.shape[0]):
        s = which[place]
        begin, size = begins[s], sizes[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        chart = room[at : at + 4 * size * size].reshape(4, size, size)
        bounds[s] = proofs.chart_bound(arcs, single_root, gaps, chart)
        at += 4 * size * size


@jit()
def contractions(flat, begins, sizes, which, offsets, heads, penalties, values, parents, counts):
    """Find the best non-projective trees of some sentences; write heads and duals.

    `values` and `parents` get 2 (n + 1) entries a sentence, end to end, and `counts` the number of
    nodes: 0 without duals, -1 where no tree was found. See :func:`.proofs.dual_bound`.
    """
    at = 0
    for place in range(which.shape[0]):
        s = which[place]
        begin, size, first = begins[s], sizes[s], offsets[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        found, bound, penalty, value, parent, count = chu_liu_edmonds.with_duals(arcs, True)
        heads[first : first + size - 1] = found
        penalties[place] = penalty
        values[at : at + 2 * size] = value
        parents[at : at + 2 * size] = parent
        counts[place] = count if bound > -np.inf else -1
        at += 2 * size


@jit()
def dual_bounds(flat, begins, sizes, which, penalties, values, parents, counts, bounds, slack):
    """Write the bounds that duals prove and their rounding errors, infinite without a proof.

    Where no tree was found, the bound is -inf if there provably is none.
    """
    at = 0
    for place in range(which.shape[0]):
        s = which[place]
        begin, size = begins[s], sizes[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        if counts[place] < 0:
            known = proofs.reaches_all(arcs > -np.inf, True)
            bounds[s], slack[s] = np.inf if known else -np.inf, 0.0
        elif counts[place] == 0:
            bounds[s], slack[s] = np.inf, 0.0
        else:
            bounds[s], slack[s] = proofs.dual_bound(
                arcs, penalties[place], values[at : at + 2 * size], parents[at : at + 2 * size],
                counts[place],
            )  # fmt: skip
        at += 2 * size


@jit()
def column_bounds(flat, begins, sizes, bounds, positive):
    """Write the sum of each token's best arc, which bounds all trees, and of its positive ones."""
    for s in range(sizes.shape[0]):
        begin, size = begins[s], sizes[s]
        best = np.full(size, -np.inf)
        for h in range(size):
            for m in range(1, size):
                value = flat[begin + h * size + m]
                # a NaN is no bound
                best[m] = best[m] if value <= best[m] else value
        total, gained = 0.0, 0.0
        for m in range(1, size):
            total += best[m]
            gained += max(best[m], 0.0)
        bounds[s] = total if total == total else np.inf
        positive[s] = gained
