"""Dense Viterbi over pairs of labels, over flat arrays.

A pair is two labels in a row, the running scores a table with a row for the first and a column
for the last: `size + 1` rows of `stride` columns, a multiple of 16. Row `size` is that of the
first token, before which there is no label. The links are those of `SecondOrderModel.links`.
"""

import numpy as np

from ....jit import jit
from .vectors import (
    LANES,
    add,
    any_lane,
    either,
    fill,
    largest,
    load,
    load_part,
    maximum,
    minimum_of_finite,
    nowhere,
    smallest,
    store,
    subtract,
    unsound,
)

__all__ = ["decode"]

UNIT32 = 2.0**-24
FORBIDDEN = np.float32(-np.inf)


def _sweeper(blocks):
    @jit()
    def sweep(scores, score, step, links, link, count, out, at):
        """Write the best of score + link for 16 times `blocks` labels.

        Of `count` scores, each `step` after the one before; of as many rows of links. All
        running maxima stay in registers, so that a score is fetched once for all.
        """
        stride = step
        one = fill(FORBIDDEN)
        two, three, four = one, one, one
        for k in range(count):
            before = fill(scores[score + k * step])
            row = link + k * stride
            one = maximum(add(before, load(links, row)), one)
            if blocks > 1:
                two = maximum(add(before, load(links, row + LANES)), two)
            if blocks > 2:
                three = maximum(add(before, load(links, row + 2 * LANES)), three)
            if blocks > 3:
                four = maximum(add(before, load(links, row + 3 * LANES)), four)
        store(out, at, one)
        if blocks > 1:
            store(out, at + LANES, two)
        if blocks > 2:
            store(out, at + 2 * LANES, three)
        if blocks > 3:
            store(out, at + 3 * LANES, four)

    return sweep


sweep_one, sweep_two, sweep_three, sweep_four = (_sweeper(blocks) for blocks in (1, 2, 3, 4))


@jit()
def enter(history, before, here, links, first, y, size, stride):
    """Write what all labels are worth after label y and any label from `first` on before it."""
    count = size - first if first < size else 1
    score = before + first * stride + y
    row = (y * (size + 1) + first) * stride
    at = here + y * stride
    z = 0
    while z + 4 * LANES <= stride:
        sweep_four(history, score, stride, links, row + z, count, history, at + z)
        z += 4 * LANES
    if z + 3 * LANES == stride:
        sweep_three(history, score, stride, links, row + z, count, history, at + z)
    elif z + 2 * LANES == stride:
        sweep_two(history, score, stride, links, row + z, count, history, at + z)
    elif z + LANES == stride:
        sweep_one(history, score, stride, links, row + z, count, history, at + z)


@jit()
def decode(links, end, magnitude, spread, emissions, offsets, size, chosen, labels, slacks):
    """Decode some sentences of a batch.

    Parameters
    ----------
    magnitude, spread
        The largest finite link, and the most that one pair's running score can lag behind
        another's and still win (inf where something is forbidden).
    chosen
        The numbers of the sentences to decode.
    labels, slacks
        Filled in: **shape (total,)**, int32, and **shape (sentences,)**, what rounding may
        have cost.

    Returns
    -------
    sound
        Whether all emissions met are neither NaN nor ``+inf``.
    sentence, token
        Where the first dead end is; -1 without one.
    """
    stride = len(end)
    table = (size + 1) * stride
    longest = 0
    for s in chosen:
        longest = max(longest, offsets[s + 1] - offsets[s])
    history = np.empty(longest * table, np.float32)
    local = np.empty(stride, np.float32)
    bad = nowhere()
    for s in chosen:
        n = offsets[s + 1] - offsets[s]
        total, lag, step = 0.0, 0.0, 0.0
        for i in range(n):
            for block in range(0, stride, LANES):
                row = (offsets[s] + i) * size + block
                if block + LANES <= size:
                    worth = load(emissions, row)
                else:
                    worth = load_part(emissions, row, size - block)
                bad = either(bad, unsound(worth))
                if i == n - 1:
                    worth = add(worth, load(end, block))
                store(local, block, worth)
            here = i * table
            begin, stop = here, here + size * stride
            if i == 0:
                begin = stop
                stop += stride
                for block in range(0, stride, LANES):
                    store(history, begin + block, load(links, size * table + block))
            else:
                first = size if i == 1 else 0
                for y in range(size):
                    enter(history, here - table, here, links, first, y, size, stride)
            peak, floor = fill(FORBIDDEN), fill(np.float32(np.inf))
            for row in range(begin, stop, stride):
                for block in range(0, stride, LANES):
                    worth = add(load(history, row + block), load(local, block))
                    store(history, row + block, worth)
                    peak = maximum(worth, peak)
                    floor = minimum_of_finite(worth, floor)
            top = largest(peak)
            if not (FORBIDDEN < top < np.inf):
                return not any_lane(bad), s, i
            for at in range(begin, stop, LANES):
                store(history, at, subtract(load(history, at), fill(top)))
            # every running score that counts lies between top - lag and top
            before = lag
            lag = min(np.float64(top) - np.float64(smallest(floor)), spread)
            step = 2.0 * lag + before + abs(np.float64(top)) + 2.0 * magnitude
            total += step
        if n:
            # the last step once more, for the end score
            slacks[s] = 2.0 * UNIT32 * (total + step) * (1.0 + 1e-5)
            trace(history, links, labels, offsets[s], n, size, stride)
    return not any_lane(bad), -1, -1


@jit()
def trace(history, links, labels, begin, n, size, stride):
    """Follow the best labelling back from the last token."""
    table = (size + 1) * stride
    here = (n - 1) * table
    x, y = size, np.int64(0)
    for first in range(size if n == 1 else 0, size + 1 if n == 1 else size):
        for last in range(size):
            if history[here + first * stride + last] == np.float32(0):
                x, y = first, np.int64(last)
    labels[begin + n - 1] = y
    for i in range(n - 2, -1, -1):
        here -= table
        best, before = FORBIDDEN, size
        if i > 0:
            for first in range(size):
                worth = history[here + first * stride + x]
                worth += links[(x * (size + 1) + first) * stride + y]
                if worth > best:
                    best, before = worth, first
        labels[begin + i] = x
        x, y = before, x
