"""A bound on the best labelling, given any labelling: search, and proof behind certificates.

The given labelling, however it was found, is the *reference*. Its label at token i is r, and
``a(x)`` is the score of the best prefix that ends with label x at token i. The best continuation
of x exceeds that of r by at most ``A(x)``; so where ``a(x) + A(x) < a(r)``, no best labelling has
x there, and only the other labels, the *survivors*, need messages. The largest message of the last
token is the bound. That is the dual of the linear program of the chain: a pruned label has the
potential ``a(r) - A(x)``.

A(x) is the larger of two bounds, from the tables of :mod:`.tables`: ``gains[r, x]`` for the
labels that usually follow r; and for the others ``exits[r, x] + detour``, where a pass from the
right sets the detour to ``max over other y of (E[y] + A(y)) - (T[r, s] + E[s])``, for the
emissions E and A of the next token and the reference's label s there.

Labels are pruned by float32, 64 at a time. The tables are rounded up by eight units of the last
place, messages by as much, the threshold down by eight, and the terms are added in the order
transition, emission, message, A: then no rounding of the sum can prune a label wrongly. The scores
of the survivors are computed in float64, and rounded up by more than their error.

Where all transitions are usual, nothing looks ahead, and the search lets the reference be chosen
on the way: the label of the best emission if no other survives beside it, which makes a token
independent of the one before; else the best label after the one before.

The search reads sentences from the left (`way` is 1, `begin` the first token), the proof from the
right (-1, the last token) with the tables of the reversed model: what is wrong in a table of one
does not stand in the other's. Token i below is counted in that direction.
"""

from typing import NamedTuple

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    fill16,
    fill64,
    first_lane,
    fold_largest,
    keep_lanes,
    largest,
    load16,
    load64,
    maximum,
    peek,
    poke,
    prefetch,
    store,
)
from .layout import BLOCK, FORBIDDEN, LANES, TINY, UP32, UP64, emissions16, emissions64, longest_of
from .tables import advance_of, lattice_for, maxima_width, need_rows, up32, with_more_room

__all__ = [
    "BACK",
    "FORTH",
    "FULL",
    "GIVEN_UP",
    "ILLEGAL",
    "PROVEN",
    "best_after",
    "bound",
    "bounds",
    "survive",
]


# how a sentence ended: bounded; given up for too many survivors; no room for them; the reference
# is not legal
PROVEN, GIVEN_UP, FULL, ILLEGAL = 0, 1, 2, 3

# directions, and a reference that is given; not literals, for each of which all would be compiled
FORTH, BACK, GIVEN = np.int64(1), np.int64(-1), np.bool_(False)

FEW = 8  # survivors of a token, up to which messages are computed in float64
PATIENCE = 3  # tokens before a sentence may be given up


class Excess(NamedTuple):
    """By how much other survivors may exceed the reference as predecessors, in float32.

    usual: those to which its transition is usual; other: less their emission, the others.
    """

    usual: np.float32
    other: np.float32


NO_EXCESS = Excess(np.float32(0), FORBIDDEN)  # from the reference alone


@uncounted()
def look_ahead(links, emissions, begin, way, n, size, labels, detours):
    """Fill in the detours of one sentence, from the right."""
    transitions, stride = links.transitions, len(links.end)
    at, exit_row = size * stride, np.int64(-1)
    detour = FORBIDDEN
    for i in range(n - 2, -1, -1):
        lead = np.int64(peek(labels, begin + way * i)) * stride
        s = np.int64(peek(labels, begin + way * (i + 1)))
        row = (begin + way * (i + 1)) * size
        most = fill16(FORBIDDEN)
        for block in range(0, size, BLOCK):
            score = emissions64(emissions, row, block, size)
            score = add(score, advance_of(links, at, exit_row, detour, block))
            usual = at_least(load64(transitions, lead + block), fill64(links.cutoff))
            most = maximum(fold_largest(keep_lanes(~usual, score)), most)
        top = np.float64(largest(most))
        link = np.float64(peek(transitions, lead + s))
        own = np.float64(peek(emissions, row + s))
        last = np.float64(peek(links.end, s)) if i == n - 2 else 0.0
        slip = UP32 * (abs(top) + abs(link) + abs(own) + abs(last)) + TINY
        detour = FORBIDDEN
        if top > -np.inf:
            detour = np.float32(top - link - own - last + slip)
        poke(detours, i, detour)
        at, exit_row = lead, lead


@uncounted()
def best_after(transitions, end, emissions, row, lead, last, size):
    """Return the best score and label of a token, after the label of a row of the transitions."""
    top, place = FORBIDDEN, np.int64(0)
    for block in range(0, size, BLOCK):
        value = add(load64(transitions, lead + block), emissions64(emissions, row, block, size))
        if last:
            value = add(value, load64(end, block))
        folded = fold_largest(value)
        if at_least(folded, fill16(top)):  # in few blocks
            most = largest(folded)
            if most > top:
                top = most
                place = block + first_lane(at_least(value, fill64(top)))
    return top, place


@jit(inline="always")
def best_entry(links, lattice, first, past, x, stride):
    """Return the best message into label x from some survivors, rounded up."""
    best = -np.inf
    for k in range(first, past):
        value = peek(lattice.values, k)
        link = np.float64(peek(links.transitions, peek(lattice.names, k) * stride + x))
        best = max(best, value + link + UP64 * (abs(value) + abs(link)))
    return best


@jit(inline="always")
def reached(links, lattice, first, past, lead, local, block, stride):
    """Return the scores of 64 labels, entered from some survivors, in float32."""
    score = add(load64(links.transitions, lead + block), local)  # the reference: its value is 0
    for k in range(first + 1, past):
        step = load64(links.transitions, peek(lattice.names, k) * stride + block)
        value = up32(peek(lattice.values, k))
        score = maximum(add(add(step, local), fill64(value)), score)
    return score


@jit(inline="always")
def may_survive(links, own, table, before, wide, vector, has_exits, detour, excess, threshold):
    """Return whether one of 64 labels may survive, by block maxima; `own` are the emissions'."""
    more = load16(links.gain_maxima, table * wide + vector)
    if has_exits:
        leave = add(load16(links.exit_maxima, table * wide + vector), fill16(detour))
        more = maximum(leave, more)
    step = load16(links.transition_maxima, before * wide + vector)
    score = add(add(step, own), fill16(excess.usual))
    if excess.other > FORBIDDEN:
        score = maximum(add(own, fill16(excess.other)), score)
    return at_least(add(score, more), fill16(threshold)) != 0


@jit(inline="always")
def others64(emissions, row, block, size, r):
    """Return the emissions of 64 labels, without that of label r."""
    local = emissions64(emissions, row, block, size)
    if block <= r < block + BLOCK:
        local = keep_lanes(~(np.int64(1) << (r - block)), local)
    return local


@uncounted(inline="always")
def strongest(emissions, row, ahead, size, folds):
    """Return the label of the best emission of a token, and write their block maxima."""
    top, place = FORBIDDEN, np.int64(0)
    for block in range(0, size, BLOCK):
        for line in range(block, block + BLOCK, LANES):  # as its address is known
            prefetch(emissions, row + ahead + line)
        value = emissions64(emissions, row, block, size)
        folded = fold_largest(value)
        store(folds, BLOCK + block // 4, folded)
        if at_least(folded, fill16(top)):  # in few blocks
            most = largest(folded)
            if most > top:
                top = most
                place = block + first_lane(at_least(value, fill64(top)))
    return place


@uncounted(inline="always")
def follow_reference(
    links, emissions, begin, way, n, size, labels, chosen, slack, lattice, i, used, message, error
):
    """Continue from token i for as long as the reference is the only survivor.

    Most tokens are handled here: a loop of its own needs few registers.

    Returns
    -------
    i, used
        The first token with another survivor, or `n`; and the end of the names.
    message, error
        The score of the reference so far, and a bound on its rounding error.
    """
    transitions, end = links.transitions, links.end
    stride = len(end)
    wide = maxima_width(stride)
    before = np.int64(peek(labels, begin + way * (i - 1))) if i else size
    while i < n:
        token, last = begin + way * i, i == n - 1
        row, lead = token * size, before * stride
        if chosen:
            r = strongest(emissions, row, 2 * way * size, size, lattice.scratch)
            poke(labels, token, np.int32(r))
            if not last:
                need_rows(links, r, size, stride)
        else:
            r = np.int64(peek(labels, token))
        table = size if last else r
        has_exits = len(links.exits) > 0 and not last
        exit_row = table * stride if has_exits else np.int64(-1)
        detour = peek(lattice.detours, i) if has_exits else FORBIDDEN
        link = np.float64(peek(transitions, lead + r))
        own = np.float64(peek(emissions, row + r))
        final = np.float64(peek(end, r)) if last else 0.0
        sizes = abs(link) + abs(own) + abs(final)
        step = link + own + final
        threshold = np.float32(step - slack - UP32 * (sizes + slack) - TINY)
        if not sizes < np.inf:
            break
        bits = np.int64(0)
        if size <= BLOCK:
            for vector in range(0, size, LANES):
                own_16 = emissions16(emissions, row, vector, size)
                score_16 = add(load16(transitions, lead + vector), own_16)
                more_16 = load16(links.gains, table * stride + vector)
                if has_exits:
                    leave = add(load16(links.exits, exit_row + vector), fill16(detour))
                    more_16 = maximum(leave, more_16)
                bits |= at_least(add(score_16, more_16), fill16(threshold)) << vector
            bits &= ~(np.int64(1) << r)
        else:
            for block in range(0, size, BLOCK):
                vector = block // 4
                mine = block <= r < block + BLOCK
                if chosen and not mine:
                    own_16 = load16(lattice.scratch, BLOCK + vector)
                else:
                    for line in range(block, block + BLOCK, LANES):
                        prefetch(emissions, row + 2 * way * size + line)
                    own_16 = fold_largest(others64(emissions, row, block, size, r))
                if may_survive(
                    links,
                    own_16,
                    table,
                    before,
                    wide,
                    vector,
                    has_exits,
                    detour,
                    NO_EXCESS,
                    threshold,
                ):
                    local = others64(emissions, row, block, size, r)
                    score = add(load64(transitions, lead + block), local)
                    more = advance_of(links, table * stride, exit_row, detour, block)
                    bits |= at_least(add(score, more), fill64(threshold))
        if bits:
            break
        message += step
        error += UP64 * (sizes + abs(message))
        poke(lattice.names, used, r)
        poke(lattice.values, used, 0.0)
        used += 1
        poke(lattice.marks, i + 2, used)
        before = r
        i += 1
    return i, used, message, error


@uncounted()
def forward(links, emissions, begin, way, n, size, labels, chosen, slack, share, lattice):
    """Find the survivors of one sentence and their messages.

    Where the reference is `chosen` here, `labels` are filled in.

    Returns
    -------
    status
        `PROVEN`, `GIVEN_UP`, `FULL` or `ILLEGAL`.
    bound
        An upper bound on all labellings. One with a pruned label lies below by more than `slack`.
    """
    names, values = lattice.names, lattice.values
    stride = len(links.end)
    wide = maxima_width(stride)
    poke(names, 0, size)
    poke(values, 0, 0.0)
    first, past = np.int64(0), np.int64(1)
    message, error = 0.0, 0.0
    excess, extent = NO_EXCESS, 0.0  # extent: the largest size of a value
    i = -1
    while i < n - 1:
        i += 1
        if past - first == 1:
            i, past, message, error = follow_reference(
                links,
                emissions,
                begin,
                way,
                n,
                size,
                labels,
                chosen,
                slack,
                lattice,
                i,
                past,
                message,
                error,
            )
            first, excess, extent = past - 1, NO_EXCESS, 0.0
            if i == n:
                break
        if past + size + n > len(names):
            return FULL, 0.0
        token, last = begin + way * i, i == n - 1
        row = token * size
        before = peek(names, first)
        lead = before * stride
        if chosen:
            _, r = best_after(links.transitions, links.end, emissions, row, lead, last, size)
            poke(labels, token, np.int32(r))
            if not last:
                need_rows(links, r, size, stride)
        else:
            r = np.int64(peek(labels, token))
        table = size if last else r
        at, has_exits = table * stride, len(links.exits) > 0 and not last
        detour = peek(lattice.detours, i) if has_exits else FORBIDDEN
        own = np.float64(peek(emissions, row + r))
        final = np.float64(peek(links.end, r)) if last else 0.0
        if past - first == 1:
            entry = np.float64(peek(links.transitions, lead + r))
        else:
            entry = best_entry(links, lattice, first, past, r, stride)
        step = entry + own + final
        slip = UP64 * (abs(entry) + abs(own) + abs(final))
        if not abs(step) < np.inf:
            return ILLEGAL, 0.0
        message += step
        error += slip + UP64 * abs(message)
        least = step - slack
        threshold = np.float32(least - UP32 * abs(least) - slip - TINY)
        start, used = past, past + 1
        poke(names, start, r)
        poke(values, start, 0.0)
        next_usual, next_other, extent_next = 0.0, -np.inf, 0.0
        for block in range(0, size, BLOCK):
            local = others64(emissions, row, block, size, r)
            if size > BLOCK and not may_survive(
                links,
                fold_largest(local),
                table,
                before,
                wide,
                block // 4,
                has_exits,
                detour,
                excess,
                threshold,
            ):
                continue
            score = reached(links, lattice, first, past, lead, local, block, stride)
            more = advance_of(links, at, at if has_exits else np.int64(-1), detour, block)
            bits = at_least(add(score, more), fill64(threshold))
            if bits:
                store(lattice.scratch, 0, score)
            while bits:
                lane = first_lane(bits)
                bits &= bits - 1
                x = block + lane
                final_x = np.float64(peek(links.end, x)) if last else 0.0
                if past - first <= FEW:
                    entry = best_entry(links, lattice, first, past, x, stride)
                    local_x = np.float64(peek(emissions, row + x))
                    value = entry + local_x + final_x - step
                    value += UP64 * (abs(entry) + abs(local_x) + abs(final_x) + abs(step))
                else:
                    entry = np.float64(peek(lattice.scratch, lane))
                    value = entry + final_x - step
                    value += UP32 * (abs(entry) + extent) + UP64 * (abs(final_x) + abs(step))
                poke(names, used, x)
                poke(values, used, value)
                used += 1
                extent_next = max(extent_next, abs(value))
                usual = 0.0 if last else np.float64(peek(links.gains, at + x))
                next_usual = max(next_usual, value + usual)
                if has_exits:
                    next_other = max(next_other, value + np.float64(peek(links.exits, at + x)))
        excess, extent = Excess(up32(next_usual), up32(next_other)), extent_next
        if used > (share * size + 4) * (i + 1) and i >= PATIENCE - 1:
            return GIVEN_UP, 0.0
        first, past = start, used
        poke(lattice.marks, i + 2, used)
    most = 0.0
    for k in range(first, past):
        most = max(most, peek(values, k))
    return PROVEN, message + error + most


@uncounted()
def bound(links, emissions, begin, way, n, size, labels, chosen, slack, share, lattice):
    """Prepare the rows of the tables and the detours, then call `forward`."""
    for i in range(0 if chosen else n):
        r = np.int64(peek(labels, begin + way * i))
        if not 0 <= r < size:
            return ILLEGAL, np.inf
        if i < n - 1:
            need_rows(links, r, size, len(links.end))
    if len(links.exits):
        look_ahead(links, emissions, begin, way, n, size, labels, lattice.detours)
    poke(lattice.marks, 1, 1)
    return forward(links, emissions, begin, way, n, size, labels, chosen, slack, share, lattice)


@uncounted()
def bound_from(links, emissions, offsets, size, labels, share, lattice, found, s):
    """Bound the sentences from number s on; return the first that does not fit the lattice."""
    while s < len(offsets) - 1:
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        if n:
            status, best = bound(
                links, emissions, begin + n - 1, BACK, n, size, labels, GIVEN, 0.0, share, lattice
            )
            if status == FULL:
                return s
            poke(found, s, best if status == PROVEN else np.inf)
        s += 1
    return s


@jit()
def survive(links, emissions, begin, n, size, labels, slack, share, lattice):
    """Return status and bound of one sentence, and the lattice of its survivors."""
    while True:
        status, best = bound(
            links, emissions, begin, FORTH, n, size, labels, GIVEN, slack, share, lattice
        )
        if status != FULL:
            return status, best, lattice
        lattice = with_more_room(lattice)


@jit()
def bounds(links, emissions, offsets, size, labels, share):
    """Bound the best labelling of each sentence, given one labelling of each.

    Returns
    -------
    **Shape (sentences,)**, float64: infinite where too many labels survive, or the labelling
    is not legal.
    """
    count = len(offsets) - 1
    found = np.zeros(count)
    lattice = lattice_for(longest_of(offsets), size)
    s = np.int64(0)
    while s < count:
        s = bound_from(links, emissions, offsets, size, labels, share, lattice, found, s)
        if s < count:
            lattice = with_more_room(lattice)
    return found
