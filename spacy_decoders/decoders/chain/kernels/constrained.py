"""Forward dominance where transitions are forbidden, over flat arrays.

A reference path is found by a narrow beam, and what each label can gain on it is bounded from
right to left, as :mod:`.reference_path` says. Then the labels of each token are pruned from left
to right: those that score less than the reference's label, and cannot make up for it.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import add, at_least, fill64, first_lane, load64
from .dominance import DENSE, DONE, FULL, INVALID, NO_PATH, NO_REFERENCE, given_up
from .layout import BLOCK, FORBIDDEN, LANES, LOWEST, aligned, all_valid, are_small
from .reference_path import (
    BEAM,
    ConstrainedSearch,
    choose_reference,
    enter,
    first_lanes,
    look_ahead,
    need_row,
    widths,
)

__all__ = ["forward", "workspace"]

CROWD = 16  # survivors of a token, above which the best of them prune others
PIVOTS = 3  # the best survivors that prune others where there are many


@uncounted()
def forward(model, emissions, begin, n, size, work, names, scores):
    """Find the survivors of each token of one sentence, as `dominance` says."""
    legal, sums = choose_reference(model, emissions, begin, n, size, work)
    if not (are_small(sums) or all_valid(emissions, begin * size, (begin + n) * size)):
        return INVALID
    if not legal:
        return NO_REFERENCE
    look_ahead(model, emissions, begin, n, size, work)
    return advance(model, emissions, begin, n, size, work, names, scores)


@uncounted()
def advance(model, emissions, begin, n, size, work, names, scores):
    """Find the survivors, given the reference path and the possible gains on it."""
    stride = len(model.end)
    marks, running, reference, maxima = (
        work.marks,
        work.running,
        work.reference,
        work.emission_maxima,
    )
    advances, sources = work.advances, work.sources
    body, wide = widths(size)
    names[0], scores[0] = size, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    for i in range(n):
        row = (begin + i) * size
        last = i == n - 1
        at = i * wide
        if past - first > 1 or names[first] != sources[i]:
            # else the reference came from here alone: all labels are scored already
            sources[i] = -1
            enter(
                names, scores, first, past, model, emissions, row, size, last, running, maxima, i
            )
        threshold = max(running[at + reference[i]], LOWEST)
        start = used = past
        if used + size > len(names):
            return FULL
        for high in range(at + body, at + wide, BLOCK):
            bound = add(load64(running, high), load64(advances, high))
            candidates = at_least(bound, fill64(threshold)) & first_lanes(at + wide - high)
            while candidates:
                lane = first_lane(candidates) & -LANES
                candidates &= ~(np.int64(0xFFFF) << lane)
                block = 4 * (high + lane - at - body)
                value = add(load64(running, at + block), load64(advances, at + block))
                bits = at_least(value, fill64(threshold))
                while bits:
                    x = block + first_lane(bits)
                    bits &= bits - 1
                    names[used], scores[used] = x, running[at + x]
                    used += 1
        best = FORBIDDEN
        where = start
        for k in range(start, used):
            if scores[k] > best:
                best, where = scores[k], k
        if not (FORBIDDEN < best < np.inf):
            return NO_PATH
        names[start], names[where] = names[where], names[start]
        scores[where], scores[start] = scores[start], 0.0
        for k in range(start + 1, used):
            scores[k] -= best
        if used - start > CROWD and not last:
            used = thinned(model, work, names, scores, start, used, size, stride)
        first, past = start, used
        marks[i + 2] = used
        if given_up(used, i, n, size):
            return DENSE
    return DONE


@uncounted()
def thinned(model, work, names, scores, start, used, size, stride):
    """Prune survivors that another dominates whatever follows; return the new end.

    First the best survivor of each kind prunes those with the same followers, then each of the
    best survivors those whose followers may all follow it too.
    """
    table, kinds, within = model.gains, model.kinds, model.within
    leaders, best_scores = work.leaders, work.best_scores
    for k in range(start, used):
        best_scores[kinds[names[k]]] = FORBIDDEN
    for k in range(start, used):
        kind = kinds[names[k]]
        if scores[k] > best_scores[kind]:
            leaders[kind], best_scores[kind] = names[k], scores[k]
    kept = start
    for k in range(start, used):
        x, score = names[k], scores[k]
        kind = kinds[x]
        g = leaders[kind]
        need_row(model, g, size)
        names[kept], scores[kept] = x, score
        # counting, not branching: who is kept cannot be predicted
        kept += np.int64(score + table[g * stride + x] >= best_scores[kind])
    used = kept
    lead = start
    while lead < start + PIVOTS and used - start > CROWD:
        lead += 1
        for k in range(lead + 1, used):
            if scores[k] > scores[lead]:
                names[lead], names[k] = names[k], names[lead]
                scores[lead], scores[k] = scores[k], scores[lead]
        g = names[lead]
        need_row(model, g, size)
        least = scores[lead]
        kind = kinds[g]
        kept = lead + 1
        for k in range(lead + 1, used):
            x, score = names[k], scores[k]
            names[kept], scores[kept] = x, score
            stays = score + table[g * stride + x] >= least
            kept += np.int64(stays or not within[kinds[x], kind])
        used = kept
    return used


@jit()
def workspace(model, longest, size):
    """Return scratch space, and the lists of survivors."""
    stride = len(model.end)
    body, wide = widths(size)
    count = len(model.rows) // stride - size - 1
    work = ConstrainedSearch(
        marks=np.zeros(longest + 2, np.int64),
        running=aligned(longest * wide),
        reference=np.empty(longest + 1, np.int64),
        emission_maxima=np.empty(longest * (wide - body), np.float32),
        beam=np.empty(BEAM, np.int64),
        beam_scores=np.empty(BEAM, np.float32),
        tried=np.empty(BEAM * longest, np.int64),
        origins=np.empty(BEAM * longest, np.int64),
        advances=aligned(longest * wide),
        active=np.empty(2 * count + 1, np.int64),
        excesses=np.empty(2 * count + 1, np.float32),
        firsts=np.full(count, FORBIDDEN),
        seconds=np.full(count, FORBIDDEN),
        leaders=np.empty(size, np.int64),
        best_scores=np.empty(size, np.float32),
        bests=np.zeros(count, np.int64),
        sources=np.empty(longest, np.int64),
        bounds=aligned(body),
    )
    capacity = 4 * longest + 2 * size + 2
    return work, np.empty(capacity, np.int64), np.empty(capacity, np.float32)
