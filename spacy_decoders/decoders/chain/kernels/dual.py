"""An upper bound on the best labelling, given any labelling: for the search, and for the proof.

The given labelling, however it was found, is the *reference*. Its label at token i is r, and
``a(x)`` is the score of the best prefix that ends with label x at token i. The best continuation
of x exceeds that of r by at most ``A(x)``; so if ``a(x) + A(x) < a(r)``, no best labelling has x
there, and only the other labels, the *survivors*, need messages. The largest message of the last
token is the bound. It is a dual solution of the linear program of the chain, in which a pruned
label has the potential ``a(r) - A(x)``.

A(x) is the larger of two bounds, from the tables of :mod:`.tables`: ``gains[r, x]`` for the
labels that usually follow r; and for the others ``exits[r, x] + detour``, where a pass from the
right sets the detour to ``max over other y of (E[y] + A(y)) - (T[r, s] + E[s])``, with the
emissions E and A of the next token and the reference's label s there.

Labels are pruned in float32, 64 at a time. Tables and messages are rounded up by eight units in
the last place, the threshold down by as much, and the terms are added in the order transition,
emission, message, A: then rounding can't prune a label wrongly. The scores of the survivors are
computed in float64, and rounded up by more than their error.

The search reads sentences from the left (`way` is 1, `begin` the first token), the proof from the
right (-1, the last token) with the tables of the reversed model: an error in one's tables is not
in the other's. Token i below is counted in that direction.
"""

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
    load64,
    maximum,
    peek,
    poke,
    store,
)
from .layout import BLOCK, FORBIDDEN, TINY, UP32, UP64, emissions64, longest_of
from .tables import advance_of, lattice_for, need_rows, up32

__all__ = [
    "BACK",
    "FORTH",
    "GIVEN_UP",
    "ILLEGAL",
    "PROVEN",
    "best_after",
    "bound",
    "bounds",
]


# the outcome for a sentence: bounded; given up, as too many labels survive; illegal reference
PROVEN, GIVEN_UP, ILLEGAL = 0, 1, 2

# directions; typed, since numba would compile the kernels for each literal
FORTH, BACK = np.int64(1), np.int64(-1)

FEW = 8  # the most survivors of a token for which messages are computed in float64
PATIENCE = 3  # the number of tokens after which a sentence may be given up
NEVER = 2.0  # a share of labels: even if hundreds survive, a proof takes a fifth of dense messages


@uncounted()
def look_ahead(links, emissions, begin, way, n, size, labels, detours):
    """Compute the detours of one sentence, from the right."""
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
    """Return the best score and label of a token, given the row of the previous label."""
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
    """Return the best message into label x from the survivors, rounded up."""
    best = -np.inf
    for k in range(first, past):
        value = peek(lattice.values, k)
        link = np.float64(peek(links.transitions, peek(lattice.names, k) * stride + x))
        best = max(best, value + link + UP64 * (abs(value) + abs(link)))
    return best


@jit(inline="always")
def reached(links, lattice, first, past, lead, local, block, stride):
    """Return the prefix scores of 64 labels, reached from the survivors, in float32."""
    score = add(load64(links.transitions, lead + block), local)  # the reference has value 0
    for k in range(first + 1, past):
        step = load64(links.transitions, peek(lattice.names, k) * stride + block)
        value = up32(peek(lattice.values, k))
        score = maximum(add(add(step, local), fill64(value)), score)
    return score


@uncounted()
def forward(links, emissions, begin, way, n, size, labels, slack, share, lattice):
    """Find the survivors of one sentence and their messages.

    Returns `PROVEN`, `GIVEN_UP` or `ILLEGAL`, and an upper bound on all labellings. Labellings
    with a pruned label score less than the reference by more than `slack`.
    """
    names, values = lattice.names, lattice.values
    stride = len(links.end)
    poke(names, 0, size)
    poke(values, 0, 0.0)
    first, past = np.int64(0), np.int64(1)
    message, error = 0.0, 0.0
    extent = 0.0  # the largest magnitude of a value
    for i in range(n):
        token, last = begin + way * i, i == n - 1
        row = token * size
        before = peek(names, first)
        lead = before * stride
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
        extent_next = 0.0
        for block in range(0, size, BLOCK):
            local = emissions64(emissions, row, block, size)
            if block <= r < block + BLOCK:
                local = keep_lanes(~(np.int64(1) << (r - block)), local)
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
        extent = extent_next
        if used > (share * size + 4) * (i + 1) and i >= PATIENCE - 1:
            return GIVEN_UP, 0.0
        first, past = start, used
        poke(lattice.marks, i + 2, used)
    most = 0.0
    for k in range(first, past):
        most = max(most, peek(values, k))
    return PROVEN, message + error + most


@uncounted()
def bound(links, emissions, begin, way, n, size, labels, slack, share, lattice):
    """Prepare the rows of the tables and the detours, then run `forward`."""
    for i in range(n):
        r = np.int64(peek(labels, begin + way * i))
        if not 0 <= r < size:
            return ILLEGAL, np.inf
        if i < n - 1:
            need_rows(links, r, size, len(links.end))
    if len(links.exits):
        look_ahead(links, emissions, begin, way, n, size, labels, lattice.detours)
    poke(lattice.marks, 1, 1)
    return forward(links, emissions, begin, way, n, size, labels, slack, share, lattice)


@uncounted()
def bound_all(links, emissions, offsets, size, labels, lattice, found):
    """Bound all sentences."""
    for s in range(len(offsets) - 1):
        begin, n = peek(offsets, s), peek(offsets, s + 1) - peek(offsets, s)
        if n:
            status, best = bound(
                links, emissions, begin + n - 1, BACK, n, size, labels, 0.0, NEVER, lattice
            )
            poke(found, s, best if status == PROVEN else np.inf)


@jit()
def bounds(links, emissions, offsets, size, labels):
    """Return upper bounds on the labellings of each sentence, given one labelling of each.

    **Shape (sentences,)**, float64: infinite if the given labelling is not legal.
    """
    found = np.zeros(len(offsets) - 1)
    lattice = lattice_for(longest_of(offsets), size)
    bound_all(links, emissions, offsets, size, labels, lattice, found)
    return found
