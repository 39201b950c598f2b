"""Bounds on the gains of labels over a reference path, where transitions are forbidden.

Where a label x may be followed by labels that may not follow a pivot g, no difference of
transitions bounds the gain of x over g. It is bounded along a *reference path* instead, from right
to left. Let V(x) be the best score after label x at token i; g and h the reference's labels at
tokens i and i + 1; and, for the labels y of token i + 1, ``w(y) = emission[y] + V(y) - emission[h]
- V(h) - T[g, h]``. Then V(x) - V(g) is at most

- ``T[x, h] + w(h)`` if h is the best to come after x;
- ``min(D[g, x], T[x, y] + w(y))`` if it is another label y that may follow g, with D as where
  nothing is forbidden;
- ``T[x, y] + w(y)`` if it is a label y that may not follow g.

w is bounded in the same way, from V(y) - V(h). The second case uses only the largest w, and the
largest T[x, y] of each x. For the third, labels with the same legal predecessors form a group; the
best y of each group is bounded individually, the others by their largest w and the largest T[x, y]
of each x. Most labels have no evidence at a token: a w below `floor` is raised to `floor`, which D
includes from the start for the third case.

So the gains of 64 labels are found from a few rows: one of D, and those of the *active* labels and
groups, each with its `excess` w. The model and the survivors are laid out as `dominance` says;
arrays over the tokens of a sentence have rows of whole blocks of 64 labels. Such a row is followed
by its *block maxima*: of each block, the largest of lanes k, k + 16, k + 32 and k + 48, for 16 k,
so that most blocks are pruned with a quarter of the work.
"""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    fill16,
    fill64,
    first_lane,
    fold_largest,
    fold_magnitudes,
    keep_lanes,
    largest,
    load16,
    load64,
    load_acquire,
    maximum,
    minimum,
    select_greater,
    store,
    store_release,
    subtract,
)
from .layout import BLOCK, FORBIDDEN, LANES, LOWEST, UP32, emissions64, prefetch64
from .reach import reach

__all__ = [
    "ConstrainedSearch",
    "ConstrainedTables",
    "choose_reference",
    "enter",
    "first_lanes",
    "look_ahead",
    "need_row",
    "widths",
]

BEAM = 6  # width of the beam that searches for the reference path


class ConstrainedTables(NamedTuple):
    """The scores of a model with forbidden transitions, and the tables derived from them.

    transitions, end: as :mod:`.layout` says. gains: **shape (L * stride,)**, D; rows are filled in
    when a sentence first needs them; `ready`, **shape (L,)**, says which are. rows: **shape ((L +
    groups + 1) * stride,)**, the transitions into each label, the best into each group, and the
    best of all, rounded upwards. groups: **shape (L,)**, the group of each label: labels of a
    group may follow the same labels, or nearly so where that would be too many groups. followers:
    **shape (L * blocks,)**, a bit for each label that may follow a label. kinds: **shape (L,)**:
    labels of a kind may be followed by the same labels; ``within[a, b]`` says whether all labels
    that may follow kind a may follow kind b. floor: the least w of a continuation. margin: how far
    below the best a label of the reference path may score. Neither of these two changes the
    result.
    """

    transitions: Any
    end: Any
    gains: Any
    ready: Any
    rows: Any
    groups: Any
    followers: Any
    kinds: Any
    within: Any
    floor: float
    margin: np.float32


class ConstrainedSearch(NamedTuple):
    """Scratch space of a search.

    By token: marks, as :mod:`.dominance` says; running and advances, the scores of labels and
    bounds on their gains, in rows of whole blocks with their block maxima; emission_maxima;
    reference, the reference's labels; sources, the one label that a token was entered from, or -1;
    tried and origins, `BEAM` labels of each token and their places in the beam before. beam,
    beam_scores: its present labels. active, excesses: rows and their w. firsts, seconds, bests: of
    each group the two largest w, and the label of the first. leaders, best_scores: of each kind
    the best survivor. bounds: of the labels of one token.
    """

    marks: Any
    running: Any
    reference: Any
    emission_maxima: Any
    beam: Any
    beam_scores: Any
    tried: Any
    origins: Any
    advances: Any
    active: Any
    excesses: Any
    firsts: Any
    seconds: Any
    leaders: Any
    best_scores: Any
    bests: Any
    sources: Any
    bounds: Any


@jit(inline="always")
def widths(size):
    """Return the width of a row of blocks, and of a row with its block maxima."""
    blocks = (size + BLOCK - 1) // BLOCK
    return blocks * BLOCK, blocks * (BLOCK + LANES)


@jit()
def sweep(names, scores, first, past, rows, out, at, size, stride):
    """Set ``out[at + y]`` to the best of score + entry of a row over some rows."""
    for block in range(0, size, BLOCK):
        reach(names, scores, first, past, rows, block, out, at + block, stride, 1, 4)


@jit(inline="always")
def first_lanes(count):
    """Return the mask of the first `count` lanes of a block."""
    return (np.int64(1) << count) - 1 if count < BLOCK else np.int64(-1)


@uncounted()
def fill_row(model, g, size):
    """Fill in a bound on the gain of each label over label g by what follows.

    ``gains[g, x] = max over y of (T[x, y] - T[g, y])``, rounded upwards, over the labels y
    that may follow g; over those that may not, ``floor + T[x, y]``.
    """
    transitions, stride, floor = model.transitions, len(model.end), model.floor
    at = g * stride
    for x in range(size):
        gain, link = fill16(FORBIDDEN), fill16(FORBIDDEN)
        for vector in range(0, stride, LANES):
            ours = load16(transitions, x * stride + vector)
            theirs = load16(transitions, at + vector)
            none = fill16(FORBIDDEN)
            gain = maximum(select_greater(theirs, none, subtract(ours, theirs), none), gain)
            link = maximum(select_greater(theirs, none, none, ours), link)
        bound = max(np.float64(largest(gain)), np.float64(largest(link)) + floor)
        if bound > -np.inf:
            bound += (abs(bound) + abs(floor)) * UP32
        model.gains[at + x] = bound
    for x in range(size, stride):
        model.gains[at + x] = FORBIDDEN
    store_release(model.ready, g)


@jit(inline="always")
def need_row(model, g, size):
    """Fill in row g of the gains unless it is ready."""
    if not load_acquire(model.ready, g):
        fill_row(model, g, size)


@jit(inline="always")
def inflated(top, base):
    """Return ``top - base`` as float32, rounded upwards."""
    return np.float32(top - base + (abs(top) + abs(base)) * UP32)


@jit(inline="always")
def enter(names, scores, first, past, model, emissions, row, size, last, running, maxima, i):
    """Write the scores of all labels of token i, entered from some labels, to row i of `running`.

    Also writes their block maxima, and to row i of `maxima` those of the emissions (at the last
    token, of emission and end). Returns the largest score, and the sums of the magnitudes of all
    emissions.
    """
    transitions, end, stride = model.transitions, model.end, len(model.end)
    body, wide = widths(size)
    at, own_at = i * wide, i * (wide - body)
    one = past - first == 1
    lead = names[first] * stride
    if not one:
        sweep(names, scores, first, past, transitions, running, at, size, stride)
    peak, sums = fill16(FORBIDDEN), fill16(np.float32(0))
    for block in range(0, size, BLOCK):
        prefetch64(emissions, row + size + block)
        own = emissions64(emissions, row, block, size)
        sums = add(sums, fold_magnitudes(own))
        if last:
            own = add(own, load64(end, block))
        step = load64(transitions, lead + block) if one else load64(running, at + block)
        reached = add(step, own)
        store(running, at + block, reached)
        best = fold_largest(reached)
        store(running, at + body + block // 4, best)
        store(maxima, own_at + block // 4, fold_largest(own))
        peak = maximum(best, peak)
    return largest(peak), sums


@uncounted()
def choose_reference(model, emissions, begin, n, size, work):
    """Find a good path by a beam over the labels whose scores are within the margin of the best.

    Its labels go to `reference`; to `maxima`, those of the emissions (and at the last token, of
    emission and end). Returns whether the beam found a legal path, and the sums of the magnitudes
    of all emissions read.
    """
    transitions, stride, margin = model.transitions, len(model.end), model.margin
    running, reference, maxima, sources = (
        work.running,
        work.reference,
        work.emission_maxima,
        work.sources,
    )
    beam, scores, tried, origins = work.beam, work.beam_scores, work.tried, work.origins
    body, wide = widths(size)
    sums = fill16(np.float32(0))
    beam[0], scores[0] = size, 0.0
    width = np.int64(1)
    for i in range(n):
        row, at = (begin + i) * size, i * wide
        last = i == n - 1
        sources[i] = beam[0] if width == 1 else -1
        top, local = enter(
            beam, scores, 0, width, model, emissions, row, size, last, running, maxima, i
        )
        sums = add(sums, local)
        if not (FORBIDDEN < top < np.inf):
            return False, sums
        floor = max(top - margin, LOWEST)
        here = i * BEAM
        kept = 0
        for high in range(at + body, at + wide, BLOCK):
            candidates = at_least(load64(running, high), fill64(floor)) & first_lanes(
                at + wide - high
            )
            while candidates:
                lane = first_lane(candidates) & -LANES
                candidates &= ~(np.int64(0xFFFF) << lane)
                block = 4 * (high + lane - at - body)
                bits = at_least(load64(running, at + block), fill64(floor))
                while bits:
                    y = block + first_lane(bits)
                    bits &= bits - 1
                    if kept == BEAM and not running[at + y] > floor:
                        continue
                    k = min(kept, BEAM - 1)
                    kept = min(kept + 1, BEAM)
                    while k > 0 and running[at + tried[here + k - 1]] < running[at + y]:
                        tried[here + k] = tried[here + k - 1]
                        k -= 1
                    tried[here + k] = y
                    if kept == BEAM:
                        floor = max(floor, running[at + tried[here + BEAM - 1]])
        if kept == 0:
            return False, sums
        for j in range(kept):
            y = tried[here + j]
            origins[here + j] = 0
            most = FORBIDDEN
            for k in range(width):
                score = scores[k] + transitions[beam[k] * stride + y]
                if score > most:
                    most = score
                    origins[here + j] = k
        for j in range(kept):
            y = tried[here + j]
            beam[j], scores[j] = y, running[at + y] - top
        width = np.int64(kept)
    k = np.int64(0)
    for i in range(n - 1, -1, -1):
        reference[i] = tried[i * BEAM + k]
        k = origins[i * BEAM + k]
    return True, sums


@uncounted()
def look_ahead(model, emissions, begin, n, size, work):
    """Bound the gains of labels over the reference path by what follows.

    The bounds at token i go to row i of `advances`, with block maxima.
    """
    transitions, end, table = model.transitions, model.end, model.gains
    rows, groups, legal, floor = model.rows, model.groups, model.followers, model.floor
    reference, maxima, advances = work.reference, work.emission_maxima, work.advances
    bounds = work.bounds
    active, excesses = work.active, work.excesses
    firsts, seconds, bests = work.firsts, work.seconds, work.bests
    stride = len(end)
    body, wide = widths(size)
    blocks = body // BLOCK
    outs = (size + len(firsts)) * stride  # the row of the largest T[x, y] of each x
    used = 0
    active[0], excesses[0] = 0, 0.0
    rest = np.float32(0)  # the largest w of all labels that are not active
    for i in range(n - 1, -1, -1):
        row = (begin + i) * size
        last = i == n - 1
        own, before = reference[i], reference[max(i - 1, 0)]
        lead = own * stride
        at = i * wide
        one, excess = active[0] * stride, excesses[0]
        if not last:
            need_row(model, own, size)
            if used > 1:
                sweep(active, excesses, 0, used, rows, advances, at, size, stride)
        link = np.float64(transitions[before * stride + own])
        base = link + np.float64(emissions[row + own])
        if last:
            base += np.float64(end[own])
        least = np.float32(base + floor - (abs(base) + abs(floor)) * UP32)
        most = fill16(FORBIDDEN)
        touched = np.int64(0)
        for block in range(0, size, BLOCK):
            prefetch64(table, before * stride + block)
            prefetch64(rows, lead + block)
            gain = fill64(np.float32(0))  # nothing follows the last token
            if not last:
                of_rest = add(load64(rows, outs + block), fill64(rest))
                gain = minimum(load64(table, lead + block), of_rest)
                if used > 1:
                    gain = maximum(load64(advances, at + block), gain)
                else:
                    gain = maximum(add(load64(rows, one + block), fill64(excess)), gain)
            if block + BLOCK > size:
                # behind the last label, rows are uninitialised
                gain = keep_lanes(first_lanes(size - block), gain)
            store(advances, at + block, gain)
            best = fold_largest(gain)
            store(advances, at + body + block // 4, best)
            if i == 0:
                continue
            bound = add(load16(maxima, i * (wide - body) + block // 4), best)
            if not at_least(bound, fill16(least)):
                continue
            followers = legal[before * blocks + block // BLOCK]
            closed = ~followers
            if block <= own < block + BLOCK:
                followers &= ~(np.int64(1) << (own - block))
            reached = emissions64(emissions, row, block, size)
            if last:
                reached = add(reached, load64(end, block))
            reached = add(reached, gain)
            store(bounds, block, reached)
            bits = at_least(reached, fill64(least))
            most = maximum(fold_largest(keep_lanes(followers, reached)), most)
            bits &= closed
            while bits:
                y = block + first_lane(bits)
                bits &= bits - 1
                c, value = groups[y], bounds[y]
                touched |= np.int64(1) << c
                # no branches: which label is the best of its group cannot be predicted
                first = firsts[c]
                seconds[c] = max(seconds[c], min(first, value))
                firsts[c] = max(first, value)
                bests[c] += np.int64(value > first) * (y - bests[c])
        rest = inflated(max(np.float64(largest(most)), base + floor), base)
        active[0], excesses[0] = own, inflated(0.0, link)
        used = 1
        while touched:
            c = first_lane(touched)
            touched &= touched - 1
            active[used], excesses[used] = bests[c], inflated(np.float64(firsts[c]), base)
            used += 1
            if seconds[c] > FORBIDDEN:
                active[used], excesses[used] = size + c, inflated(np.float64(seconds[c]), base)
                used += 1
            firsts[c] = seconds[c] = FORBIDDEN
