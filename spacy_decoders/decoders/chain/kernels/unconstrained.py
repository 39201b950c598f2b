"""Forward dominance over flat arrays, where no transition is forbidden.

Rows and lists are laid out as `dominance` says. Labels are processed in blocks of 64. Entries
behind the labels of a row have no effect, since a block of emissions is ``-inf`` there.

The pivot of a token should be its best label, but any label is valid. The label that is best after
the pivot of the previous token is the best at nearly all tokens, and it is known early, so that
out-of-order execution does not stall. Where another label turns out to be better, that is the
second pivot.
"""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    count_lanes,
    fill16,
    fill64,
    first_lane,
    fold_largest,
    fold_magnitudes,
    largest,
    load16,
    load64,
    maximum,
    peek,
    poke,
    select_greater,
    store,
)
from .dominance import DENSE, DONE, FULL, INVALID, NO_PATH, UNDECIDED, given_up, promote, reached64
from .few_labels import advance_few
from .layout import (
    BLOCK,
    FORBIDDEN,
    LANES,
    LOWEST,
    all_valid,
    are_small,
    emissions16,
    emissions64,
    prefetch64,
)
from .tables import TransitionTables, need_rows

__all__ = ["Pruning", "forward", "workspace"]

CROWD = 64  # survivors of a token, above which a second pivot is tried
FEW = 3  # survivors of a token, up to which all scores are computed
AHEAD = 2  # how many tokens ahead emissions are prefetched


class Pruning(NamedTuple):
    """A model without forbidden transitions, and the best transition into each label."""

    links: TransitionTables
    ceiling: Any


class Search(NamedTuple):
    """Scratch space of a search.

    marks: as :mod:`.dominance` says. running: the scores of the labels of a token. hits: for each
    block with survivors, the set of these as bits, and its first label. firsts: (16,). pivots: of
    each token, where labels are few.
    """

    marks: Any
    running: Any
    hits: Any
    firsts: Any
    pivots: Any


class Token(NamedTuple):
    """A token: the survivors of the previous one, and the offset of its emissions."""

    names: Any
    scores: Any
    first: int
    past: int
    row: int
    last: bool


@jit(inline="always")
def track_best(transitions, lead, emissions, row, block, size, best, place, sums):
    """Update the running maximum with the scores of a block of labels after one label.

    Returns the largest score so far of each lane, its block, and the sums of the emissions'
    magnitudes.
    """
    local = emissions64(emissions, row, block, size)
    value = fold_largest(add(load64(transitions, lead + block), local))
    place = select_greater(value, best, fill16(np.float32(block)), place)
    return maximum(value, best), place, add(sums, fold_magnitudes(local))


@jit(inline="always")
def tracked_label(transitions, lead, emissions, row, size, best, place, firsts):
    """Return the best label after one label, once all blocks are tracked."""
    top = largest(best)
    store(firsts, 0, place)
    block = np.int64(peek(firsts, first_lane(at_least(best, fill16(top)))))
    local = emissions64(emissions, row, block, size)
    bits = at_least(add(load64(transitions, lead + block), local), fill64(top))
    # no bit is set where all are NaN
    return min(block + first_lane(bits | (np.int64(1) << (BLOCK - 1))), size - 1)


@jit(inline="always")
def values_of(links, emissions, size, token, vector):
    """Return the scores of 16 labels after the best of some survivors."""
    stride = len(links.end)
    best = fill16(FORBIDDEN)
    for k in range(token.first, token.past):
        step = load16(links.transitions, peek(token.names, k) * stride + vector)
        best = maximum(add(fill16(peek(token.scores, k)), step), best)
    best = add(best, emissions16(emissions, token.row, vector, size))
    return add(best, load16(links.end, vector)) if token.last else best


@uncounted()
def best_label(links, emissions, size, token, running):
    """Return the best label of a token after some survivors, and its score."""
    stride = len(links.end)
    peak = fill16(FORBIDDEN)
    for vector in range(0, stride, LANES):
        value = values_of(links, emissions, size, token, vector)
        store(running, vector, value)
        peak = maximum(value, peak)
    top = largest(peak)
    for vector in range(0, stride, LANES):
        bits = at_least(load16(running, vector), fill16(top))
        if bits:
            return vector + first_lane(bits), top
    return np.int64(0), top


@jit(inline="always")
def note(hits, many, block, bits):
    """Record the surviving labels of a block, if any; return the number of recorded blocks."""
    poke(hits, 2 * many, bits)
    poke(hits, 2 * many + 1, block)
    # counting, not branching: which block has survivors cannot be predicted
    return many + np.int64(bits != 0)


@jit(inline="always")
def score_exactly(links, emissions, size, token, at, threshold, search, many):
    """Prune the recorded labels, which survived by their bounds, by their exact scores."""
    kept = np.int64(0)
    for j in range(many):
        candidates, block = peek(search.hits, 2 * j), peek(search.hits, 2 * j + 1)
        bits = np.int64(0)
        rest = candidates
        while rest:
            lane = first_lane(rest) & -LANES
            rest &= ~(np.int64(0xFFFF) << lane)
            # summed in the order of the bounds: rounding keeps the order then
            value = values_of(links, emissions, size, token, block + lane)
            store(search.running, block + lane, value)
            bound = add(value, load16(links.gains, at + block + lane))
            bits |= at_least(bound, fill16(threshold)) << lane
        kept = note(search.hits, kept, block, bits & candidates)
    return kept


@jit(inline="always")
def collect(links, emissions, token, lead, top, search, many, used):
    """Append the recorded labels to the survivors, with their scores less `top`.

    The scores are in the scratch space, or computed here if all come from one survivor.

    Returns
    -------
    used
        The new end.
    best, second
        The number of the best of them, and its score.
    """
    hits = search.hits
    surviving = np.int64(0)
    for j in range(many):
        surviving += count_lanes(peek(hits, 2 * j))
    best, second = used, FORBIDDEN
    j = np.int64(0)
    bits, block = peek(hits, 0), peek(hits, 1)
    for _ in range(surviving):
        x = block + first_lane(bits)
        bits &= bits - 1
        # advance to the next block, without an unpredictable branch
        over = -np.int64(bits == 0)
        j -= 2 * over
        bits |= peek(hits, j) & over
        block += (peek(hits, j + 1) - block) & over
        if token.past - token.first == 1:
            score = peek(links.transitions, lead + x) + peek(emissions, token.row + x)
            if token.last:
                score += peek(links.end, x)
        else:
            score = peek(search.running, x)
        score -= top
        poke(token.names, used, x)
        poke(token.scores, used, score)
        if score > second:
            best, second = used, score
        used += 1
    return used, best, second


@uncounted()
def forward(model, emissions, begin, n, size, work, names, scores):
    """Find the survivors of each token of one sentence, as `dominance` says."""
    if size < BLOCK:
        status = advance_few(model, emissions, begin, n, size, work, names, scores)
        if status != UNDECIDED:
            return status
    return advance(model, emissions, begin, n, size, work, names, scores)


@uncounted()
def advance(model, emissions, begin, n, size, work, names, scores):
    """Find the survivors, for any number of labels."""
    links, ceiling = model.links, model.ceiling
    transitions, end, gains = links.transitions, links.end, links.gains
    marks, running, hits, firsts = work.marks, work.running, work.hits, work.firsts
    stride = len(end)
    poke(names, 0, size)
    poke(scores, 0, np.float32(0))
    first, past = np.int64(0), np.int64(1)
    second = FORBIDDEN  # the second best score
    nothing, zeros = fill16(FORBIDDEN), fill16(np.float32(0))
    peak, place, sums = nothing, zeros, zeros
    row, lead = begin * size, size * stride
    for block in range(0, size, BLOCK):
        peak, place, sums = track_best(
            transitions, lead, emissions, row, block, size, peak, place, sums
        )
    pivot = tracked_label(transitions, lead, emissions, row, size, peak, place, firsts)
    for i in range(n):
        if past + size > len(names):
            return FULL
        row = (begin + i) * size
        last = i == n - 1
        token = Token(names, scores, first, past, row, last)
        g = pivot
        lead = peek(names, first) * stride
        top = peek(transitions, lead + g)
        for k in range(first + 1, past):
            top = max(top, peek(scores, k) + peek(transitions, peek(names, k) * stride + g))
        top += peek(emissions, row + g)
        if last:
            top += peek(end, g)
        if not (FORBIDDEN < top < np.inf):
            # the pivot is not reachable, or cannot be last
            g, top = best_label(links, emissions, size, token, running)
            if not (FORBIDDEN < top < np.inf):
                return NO_PATH
        at = (size + 1) * stride
        if not last:
            at = need_rows(links, g, size, stride)
        count = past - first
        home, own = g & -BLOCK, np.int64(1) << (g & (BLOCK - 1))
        threshold = max(top, LOWEST)
        many = np.int64(0)
        peak, place, after = nothing, zeros, g * stride
        for block in range(0, size, BLOCK):
            # up to a few survivors: exact scores. Otherwise an upper bound: the best survivor's
            # exact scores, or the second score plus the best transition for all others
            if count == 1:
                value = load64(transitions, lead + block)
            elif count <= FEW:
                value = reached64(transitions, names, scores, first, past, block, stride)
            else:
                value = add(load64(ceiling, block), fill64(second))
                value = maximum(load64(transitions, lead + block), value)
            value = add(value, emissions64(emissions, row, block, size))
            if last:
                value = add(value, load64(end, block))
            if count > 1:
                store(running, block, value)
            bits = at_least(add(value, load64(gains, at + block)), fill64(threshold))
            bits &= ~(own * np.int64(block == home))
            many = note(hits, many, block, bits)
            if not last:
                # in this loop and not in one of its own, to hide the memory latency
                prefetch64(emissions, row + (1 + AHEAD) * size + block)
                peak, place, sums = track_best(
                    transitions, after, emissions, row + size, block, size, peak, place, sums
                )
        if not last:
            pivot = tracked_label(
                transitions, after, emissions, row + size, size, peak, place, firsts
            )
        if count > FEW:
            many = score_exactly(links, emissions, size, token, at, threshold, work, many)
        second = FORBIDDEN
        start, used = past, past + 1
        poke(names, start, g)
        poke(scores, start, np.float32(0))
        if many:
            used, best, second = collect(links, emissions, token, lead, top, work, many, used)
            if second > 0:
                g = peek(names, best)
                if not last:
                    at = need_rows(links, g, size, stride)
                used, second = promote(names, scores, start, used, best, gains, at)
            if used - start > CROWD and not last:
                used, second = thinned(links, names, scores, start, used, size, stride)
            if given_up(used, i, n, size):
                return DENSE
        first, past = start, used
        poke(marks, i + 2, used)
    if not (are_small(sums) or all_valid(emissions, begin * size, (begin + n) * size)):
        return INVALID
    return DONE


@uncounted()
def thinned(links, names, scores, start, used, size, stride):
    """Prune survivors that the second best dominates.

    Returns the new end, and the second best score.
    """
    lead = start + 1
    for k in range(lead + 1, used):
        if scores[k] > scores[lead]:
            names[lead], names[k] = names[k], names[lead]
            scores[lead], scores[k] = scores[k], scores[lead]
    at = need_rows(links, names[lead], size, stride)
    floor = scores[lead]
    kept = lead + 1
    for k in range(lead + 1, used):
        x, score = names[k], scores[k]
        names[kept], scores[kept] = x, score
        kept += np.int64(score + links.gains[at + x] >= floor)
    return kept, scores[lead]


@jit()
def workspace(longest, size, stride):
    """Return scratch space, and the lists of survivors."""
    work = Search(
        marks=np.zeros(longest + 2, np.int64),
        running=np.empty(stride + BLOCK, np.float32),
        hits=np.empty(2 * (size // BLOCK + 2), np.int64),
        firsts=np.empty(LANES, np.float32),
        pivots=np.empty(longest, np.int64),
    )
    work.marks[1] = 1
    capacity = 4 * longest + 2 * size + 2
    return work, np.empty(capacity, np.int64), np.empty(capacity, np.float32)
