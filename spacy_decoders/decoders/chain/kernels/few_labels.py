"""Forward dominance over fewer than 64 labels, whose rows are one block.

As in `unconstrained`, without its loops over blocks. The pivots are the labels with the largest
emissions. Where a single label survives a token, it is the pivot, which is known beforehand: so
the processor can start the next token without waiting.
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
    fold_magnitudes,
    largest,
    load64,
    load64_part,
    peek,
    poke,
    store,
)
from .dominance import DENSE, DONE, FULL, UNDECIDED, given_up, promote, reached64
from .layout import FORBIDDEN, all_valid, are_small
from .tables import need_rows

__all__ = ["advance_few"]


@jit(inline="always")
def choose_pivots(transitions, end, emissions, begin, n, size, pivots):
    """Write the label with the largest emission of each token, with start and end scores.

    Returns whether all emissions are valid.
    """
    sums = fill16(np.float32(0))
    for i in range(n):
        local = load64_part(emissions, (begin + i) * size, size)
        sums = add(sums, fold_magnitudes(local))
        if i == 0:
            local = add(local, load64(transitions, size * len(end)))
        if i == n - 1:
            local = add(local, load64(end, 0))
        bits = at_least(local, fill64(largest(fold_largest(local))))
        # no bit is set where all are NaN
        poke(pivots, i, first_lane(bits | (np.int64(1) << (size - 1))))
    return are_small(sums) or all_valid(emissions, begin * size, (begin + n) * size)


@uncounted()
def advance_few(model, emissions, begin, n, size, work, names, scores):
    """Find the survivors of one sentence, as `unconstrained.advance` does.

    Returns `UNDECIDED` where `unconstrained.advance` has to be used.
    """
    links = model.links
    transitions, end, gains = links.transitions, links.end, links.gains
    marks, running, pivots = work.marks, work.running, work.pivots
    stride = len(end)
    if not choose_pivots(transitions, end, emissions, begin, n, size, pivots):
        return UNDECIDED
    poke(names, 0, size)
    poke(scores, 0, np.float32(0))
    first, past = np.int64(0), np.int64(1)
    lead = size
    for i in range(n):
        if past + size > len(names):
            return FULL
        row = (begin + i) * size
        last = i == n - 1
        g = peek(pivots, i)
        local = load64_part(emissions, row, size)
        if past - first == 1:
            top = peek(transitions, lead * stride + g)
            value = add(load64(transitions, lead * stride), local)
        else:
            top = FORBIDDEN
            for k in range(first, past):
                top = max(top, peek(scores, k) + peek(transitions, peek(names, k) * stride + g))
            value = add(reached64(transitions, names, scores, first, past, 0, stride), local)
        top += peek(emissions, row + g)
        at = (size + 1) * stride
        if last:
            value = add(value, load64(end, 0))
            top += peek(end, g)
        else:
            at = need_rows(links, g, size, stride)
        if not (FORBIDDEN < top < np.inf):
            return UNDECIDED
        bits = at_least(add(value, load64(gains, at)), fill64(top))
        bits &= ~(np.int64(1) << g)
        start, used = past, past + 1
        lead = g
        poke(names, start, g)
        poke(scores, start, np.float32(0))
        if bits:
            store(running, 0, value)
            second, best = np.float32(0), start
            while bits:
                x = first_lane(bits)
                bits &= bits - 1
                score = peek(running, x) - top
                poke(names, used, x)
                poke(scores, used, score)
                if score > second:
                    second, best = score, used
                used += 1
            if best > start:
                lead = peek(names, best)
                if not last:
                    at = need_rows(links, lead, size, stride)
                used, _ = promote(names, scores, start, used, best, gains, at)
            if given_up(used, i, n, size):
                return DENSE
        first, past = start, used
        poke(marks, i + 2, used)
    return DONE
