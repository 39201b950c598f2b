"""Eisner's chart over the arcs that survive a bound from the best tree with crossing arcs.

The duals of that tree bound every tree through an arc. With the score of any projective tree, most
arcs are proven to be in no better one; the chart of the others takes O(n) steps an arc.
"""

import numpy as np

from ....jit import FAST, internal, jit
from . import eisner, proofs
from .batches import Duals, Judged

#: Arcs a token from which on a better incumbent is sought first.
MANY = 3


@internal()
def lift(heads):
    """Attach modifiers of crossing arcs to their heads' heads until the tree is projective.

    **Shape**: heads (n + 1,), a tree with one root.
    """
    changed = True
    while changed:
        changed = False
        for m in range(1, heads.shape[0]):
            h = heads[m]
            for between in range(min(h, m) + 1, max(h, m)):
                above = between
                while above > 0 and above != h:
                    above = heads[above]
                if above != h:
                    heads[m] = heads[h]
                    changed = True
                    break


@internal(counted=True)
def survive(arcs, value, parent, below, kept):
    """Write which arcs between tokens, through which no tree is proven so far `below`, survive.

    Returns their number.
    """
    size = arcs.shape[0]
    least = np.full(size, -below)
    for m in range(1, size):
        node = m if below < np.inf else -1
        while node >= 0:
            least[m] += value[node]
            node = parent[node]
    count = 0
    for h in range(1, size):
        for m in range(1, size):
            kept[h, m] = arcs[h, m] >= least[m] and arcs[h, m] > -np.inf
            count += kept[h, m]
    return count


@internal(counted=True, fastmath=FAST)
def fill(arcs, kept, incomplete_right, incomplete_left, complete_right, complete_left):
    """Fill the chart of :mod:`.eisner` with a single root, by surviving arcs alone."""
    size = arcs.shape[0]
    below = np.empty((size, size), np.int32)  # the modifiers on the left of each token
    count = np.zeros(size, np.int64)
    for i in range(size - 1, 0, -1):
        for j in range(i, size):
            incomplete_right[i, j] = -np.inf
            incomplete_left[i, j] = -np.inf
            complete_right[i, j] = -np.inf
        complete_right[i, i] = complete_left[i, i] = 0.0
        for j in range(i + 1, size):
            if kept[i, j] or kept[j, i]:
                between = -np.inf
                for r in range(i, j):
                    between = max(between, complete_right[i, r] + complete_left[r + 1, j])
                if kept[i, j]:
                    right = between + arcs[i, j]
                    incomplete_right[i, j] = right
                    for k in range(j, size):
                        complete_right[i, k] = max(
                            complete_right[i, k], right + complete_right[j, k]
                        )
                if kept[j, i]:
                    incomplete_left[i, j] = between + arcs[j, i]
                    below[j, count[j]] = i
                    count[j] += 1
            best = -np.inf
            for place in range(count[j]):
                r = below[j, place]
                best = max(best, complete_left[i, r] + incomplete_left[r, j])
            complete_left[i, j] = best


@internal(counted=True)
def chart_survivors(arcs, value, parent, bound, slack, below, kept, chart):
    """Fill the chart by the arcs through which a tree may be less than `below` under the bound.

    The slack is added where `below` is found anew.
    """
    size = arcs.shape[0]
    spans = chart[0], chart[1], chart[2], chart[3]
    done = False
    if survive(arcs, value, parent, below, kept) > MANY * size and below < np.inf:
        guess = below / 8.0  # the best tree of fewer arcs leaves fewer to the others
        survive(arcs, value, parent, guess, kept)
        fill(arcs, kept, *spans)
        best = eisner.value_of(arcs, True, chart[2], chart[3])
        below = min(below, _room(bound, best, slack))
        done = below <= guess
        if not done:
            survive(arcs, value, parent, below, kept)
    if not done:
        fill(arcs, kept, *spans)


@internal()
def _room(bound, score, slack):
    """Return how far a score is below a bound, rounded up, with the rounding errors of both."""
    return max(bound - score, 0.0) * (1.0 + 1e-12) + slack


@jit()
def surviving_charts(flat, begins, sizes, which, offsets, heads, dual_arrays, columns, kept, room):
    """Decode some sentences; the survivors and charts are written end to end."""
    duals, found = Duals(*dual_arrays), Judged(*columns)
    at = 0
    no_gaps = np.empty(0)
    for place in range(which.shape[0]):
        s = which[place]
        begin, size, first = begins[s], sizes[s], offsets[s]
        arcs = flat[begin : begin + size * size].reshape(size, size)
        tree = np.full(size, -1, np.int32)
        below, slack = np.inf, 0.0
        if found.bounds[s] < np.inf:
            tree[1:] = heads[first : first + size - 1]
            if proofs.tally(arcs, tree[1:], False, True)[0]:
                lift(tree)
            legal, score, scale = proofs.tally(arcs, tree[1:], True, True)
            # differences of large numbers, as of masks, have the errors of these numbers
            slack = 2.0 * found.slack[s] + 4.0 * size * proofs.UNIT * scale
            if legal:
                below = _room(found.bounds[s], score, slack)
        chart = room[4 * at : 4 * (at + size * size)].reshape(4, size, size)
        nodes = 2 * (first + s)
        chart_survivors(
            arcs, duals.values[nodes:], duals.parents[nodes:], found.bounds[s], slack, below,
            kept[at : at + size * size].reshape(size, size), chart,
        )  # fmt: skip
        tree[:] = -1
        if eisner.value_of(arcs, True, chart[2], chart[3]) > -np.inf:
            eisner.back_trace(arcs, True, no_gaps, chart[0], chart[1], chart[2], chart[3], tree)
        heads[first : first + size - 1] = tree[1:]
        at += size * size
