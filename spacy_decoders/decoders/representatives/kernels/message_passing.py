"""Message passing on the dual linear program, and the part of a problem that is left.

All numbers are fixed-point integers: their minima vectorise, and no sum is rounded. The costs
are a :class:`CostArrays`, given as a plain tuple, which numba unpacks faster.
``messages[j, x]`` is how much of the pair costs between the set of candidate x and set j has
been moved into the unary cost of x. What is left of a block after that, ``block - messages``,
is its *residual*; it is never negative after a sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit
from .layout import CEILING

__all__ = ["Remainder", "contract", "sweep"]


class Remainder(NamedTuple):
    """Which candidates are left of a problem, and how they will be laid out."""

    chosen: NDArray[np.int64]  # (k,): the only candidate left of each set, -1 where there are more
    open_sets: NDArray[np.int64]  # (open,): the sets with more
    positions: NDArray[np.int64]  # (m,): the candidates left of these
    # (open + 1,), (open, open): their layout, as of :class:`CostArrays`
    offsets: NDArray[np.int64]
    starts: NDArray[np.int64]


@jit()
def _row_minima(block, start, rows, columns, given, out):
    """out[x] = min over y of block[x, y] + given[y]."""
    for x in range(rows):
        row = block[start + x * columns : start + (x + 1) * columns]
        least = row[0] + given[0]
        for y in range(1, columns):
            value = row[y] + given[y]
            least = value if value < least else least
        out[x] = least


@jit()
def _column_minima(block, start, rows, columns, given, out):
    """out[y] = min over x of block[x, y] + given[x]."""
    for y in range(columns):
        out[y] = block[start + y] + given[0]
    for x in range(1, rows):
        row = block[start + x * columns : start + (x + 1) * columns]
        add = given[x]
        for y in range(columns):
            value = row[y] + add
            out[y] = value if value < out[y] else out[y]


@jit()
def sweep(costs, messages, limit, backwards, begin, end):
    """Move costs from pairs into the unary costs, in place; return the dual bound.

    One pass of message passing over the pairs of sets with numbers from `begin` to `end`,
    each updated as in MPLP++: the pair takes the unary costs of both ends, each gets back
    half of the min-marginals, then all that is left over. Every residual has a least entry
    of 0 after that, or of what it was, so the sum of the least unary costs bounds the cost
    of every choice from below.

    Returns also whether all pairs had their turn: none has in which a number would pass
    `limit`. **Shape:** messages (k, n).
    """
    unary, blocks, starts, offsets = costs
    k = len(offsets) - 1
    widest = 1
    for i in range(k):
        widest = max(widest, offsets[i + 1] - offsets[i])
    own = np.empty(widest, np.int64)
    other = np.empty(widest, np.int64)
    least = np.empty(widest, np.int64)
    first_out = np.empty(widest, np.int64)
    second_out = np.empty(widest, np.int64)
    number = 0
    within = True
    for step in range(k * k):
        at = k * k - 1 - step if backwards else step
        i, j = at // k, at % k
        if i >= j:
            continue
        number += 1
        if number <= begin:
            continue
        if number > end or not within:
            break
        a, b, start = offsets[i], offsets[j], starts[i, j]
        rows, columns = offsets[i + 1] - a, offsets[j + 1] - b
        for x in range(rows):
            own[x] = unary[a + x] - messages[j, a + x]
        for y in range(columns):
            other[y] = unary[b + y] - messages[i, b + y]
        if backwards:
            _column_minima(blocks, start, rows, columns, own, least)
            for y in range(columns):
                second_out[y] = ((other[y] + least[y]) >> 1) - other[y]
            _negate(second_out, columns)
            _row_minima(blocks, start, rows, columns, second_out, first_out)
            _negate(first_out, rows)
            _column_minima(blocks, start, rows, columns, first_out, second_out)
            _negate(first_out, rows)
        else:
            _row_minima(blocks, start, rows, columns, other, least)
            for x in range(rows):
                first_out[x] = ((own[x] + least[x]) >> 1) - own[x]
            _negate(first_out, rows)
            _column_minima(blocks, start, rows, columns, first_out, second_out)
            _negate(second_out, columns)
            _row_minima(blocks, start, rows, columns, second_out, first_out)
            _negate(second_out, columns)
        for x in range(rows):
            if abs(first_out[x]) > limit or abs(own[x] + first_out[x]) > limit:
                within = False
        for y in range(columns):
            if abs(second_out[y]) > limit or abs(other[y] + second_out[y]) > limit:
                within = False
        if not within:
            break
        for x in range(rows):
            messages[j, a + x] = first_out[x]
            unary[a + x] = own[x] + first_out[x]
        for y in range(columns):
            messages[i, b + y] = second_out[y]
            unary[b + y] = other[y] + second_out[y]
    bound = 0
    for i in range(k):
        bound += unary[offsets[i] : offsets[i + 1]].min()
    return within, bound


@jit()
def _negate(values, size):
    """Change the sign in place: what one end has taken, the other no longer finds."""
    for x in range(size):
        values[x] = -values[x]


@jit()
def contract(costs, messages, left):
    """Keep some candidates of each set; sets with one left become part of the constant.

    Parameters
    ----------
    costs, messages
        As of :func:`sweep`.
    left
        A :class:`Remainder`.

    Returns the constant, and the unary costs and blocks of what is left.
    """
    unary, blocks, starts, offsets = costs
    chosen, open_sets, positions = left.chosen, left.open_sets, left.positions
    new_offsets, new_starts = left.offsets, left.starts
    k = len(offsets) - 1
    n_open = len(open_sets)
    sums = np.empty(len(positions), np.int64)
    for p in range(len(positions)):
        sums[p] = unary[positions[p]]
    constant = np.int64(0)
    for i in range(k):
        x = chosen[i]
        if x < 0:
            continue
        constant += unary[x]
        for j in range(i + 1, k):
            if chosen[j] >= 0:
                constant += _residual(blocks, starts, offsets, messages, i, x, j, chosen[j])
        for at in range(n_open):
            j = open_sets[at]
            for p in range(new_offsets[at], new_offsets[at + 1]):
                sums[p] += _residual(blocks, starts, offsets, messages, i, x, j, positions[p])
    new_unary = np.empty(len(positions), np.int64)
    for p in range(len(positions)):
        new_unary[p] = min(sums[p], CEILING)
    sizes = new_offsets[1:] - new_offsets[:-1]
    new_blocks = np.empty((sizes.sum() ** 2 - (sizes**2).sum()) // 2, np.int64)
    for at in range(n_open):
        i = open_sets[at]
        for to in range(at + 1, n_open):
            j = open_sets[to]
            q = new_starts[at, to]
            for p in range(new_offsets[at], new_offsets[at + 1]):
                x = positions[p]
                row = starts[i, j] + (x - offsets[i]) * (offsets[j + 1] - offsets[j])
                for r in range(new_offsets[to], new_offsets[to + 1]):
                    y = positions[r]
                    rest = blocks[row + y - offsets[j]] - messages[j, x] - messages[i, y]
                    new_blocks[q] = min(rest, CEILING)
                    q += 1
    return constant, new_unary, new_blocks


@jit()
def _residual(blocks, starts, offsets, messages, i, x, j, y):
    """Return what is left of the cost of candidate x of set i beside y of set j."""
    if i < j:
        width = offsets[j + 1] - offsets[j]
        cost = blocks[starts[i, j] + (x - offsets[i]) * width + y - offsets[j]]
    else:
        width = offsets[i + 1] - offsets[i]
        cost = blocks[starts[j, i] + (y - offsets[j]) * width + x - offsets[i]]
    return np.int64(cost) - messages[j, x] - messages[i, y]
