"""The compiled loops of local search and of the exact decoder.

Candidates of all sets are laid end to end; `offsets` says where each set begins. The pair
costs of sets i < j are the row-major block of shape (n_i, n_j) that begins at
``starts[i, j]`` of the flat `blocks`.

The exact decoder's numbers are fixed-point integers: their minima vectorise, and no sum is
rounded. `messages[j, x]` is how much of the pair costs between the set of candidate
x and set j has been moved into the unary cost of x. What is left of a block after that,
``block - messages``, is its *residual*; it is never negative after a sweep.
"""

from __future__ import annotations

import numpy as np

from ....jit import jit

__all__ = ["beside", "contract", "descend", "sweep", "total"]


@jit()
def _add_pairs(values, blocks, starts, offsets, i, x, sign):
    """Add to each candidate of the other sets what it pays with candidate x of set i."""
    for j in range(len(offsets) - 1):
        first, size = offsets[j], offsets[j + 1] - offsets[j]
        if j > i:
            row = starts[i, j] + x * size
            for y in range(size):
                values[first + y] += sign * blocks[row + y]
        elif j < i:
            stride = offsets[i + 1] - offsets[i]
            column = starts[j, i] + x
            for y in range(size):
                values[first + y] += sign * blocks[column + y * stride]


@jit()
def total(unary, blocks, starts, offsets, choices):
    """Return the cost of choices."""
    cost = 0.0
    for i in range(len(choices)):
        cost += unary[offsets[i] + choices[i]]
        for j in range(i + 1, len(choices)):
            stride = offsets[j + 1] - offsets[j]
            cost += blocks[starts[i, j] + choices[i] * stride + choices[j]]
    return cost


@jit()
def beside(unary, blocks, starts, offsets, first, member):
    """Return the candidate of each set that is cheapest beside one given candidate."""
    values = unary.copy()
    _add_pairs(values, blocks, starts, offsets, first, member, 1.0)
    choices = np.empty(len(offsets) - 1, np.int64)
    for j in range(len(choices)):
        choices[j] = np.argmin(values[offsets[j] : offsets[j + 1]])
    choices[first] = member
    return choices


@jit()
def descend(unary, blocks, starts, offsets, choices, frozen):
    """Improve choices, in place, one set at a time, until no single change helps.

    `frozen` is a set that keeps its choice, or -1. Returns the conditional costs.
    """
    k = len(offsets) - 1
    values = unary.copy()
    for i in range(k):
        _add_pairs(values, blocks, starts, offsets, i, choices[i], 1.0)
    unchanged = 0
    i = 0
    # rounding must not make it run in circles
    for _ in range(1000 * (k + 1)):
        if unchanged == k:
            break
        first = offsets[i]
        best = choices[i]
        if i != frozen:
            for x in range(offsets[i + 1] - first):
                if values[first + x] < values[first + best]:
                    best = x
        slack = 1e-12 * (abs(values[first + choices[i]]) + abs(values[first + best]))
        if values[first + best] < values[first + choices[i]] - slack:
            _add_pairs(values, blocks, starts, offsets, i, choices[i], -1.0)
            _add_pairs(values, blocks, starts, offsets, i, best, 1.0)
            choices[i] = best
            unchanged = 1
        else:
            unchanged += 1
        i = i + 1 if i + 1 < k else 0
    return values


@jit()
def _row_minima(block, start, rows, columns, given, out):
    """out[x] = min over y of block[x, y] + given[y]."""
    cast = block.dtype.type
    for x in range(rows):
        row = block[start + x * columns : start + (x + 1) * columns]
        least = cast(row[0] + given[0])
        for y in range(1, columns):
            value = cast(row[y] + given[y])
            least = value if value < least else least
        out[x] = least


@jit()
def _column_minima(block, start, rows, columns, given, out):
    """out[y] = min over x of block[x, y] + given[x]."""
    cast = block.dtype.type
    for y in range(columns):
        out[y] = cast(block[start + y] + given[0])
    for x in range(1, rows):
        row = block[start + x * columns : start + (x + 1) * columns]
        add = given[x]
        for y in range(columns):
            value = cast(row[y] + add)
            out[y] = value if value < out[y] else out[y]


@jit()
def sweep(unary, blocks, starts, offsets, messages, limit, backwards, begin, end):
    """Move costs from pairs into the unary costs; return the dual bound.

    One pass of message passing over the pairs of sets with numbers from `begin` to `end`,
    each updated as in MPLP++: the pair takes the unary costs of both ends, each gets back
    half of the min-marginals, then all that is left over. Every residual has a least entry
    of 0 after that, or of what it was, so the sum of the least unary costs bounds the cost
    of every choice from below.

    Returns also whether all pairs had their turn: none has in which a number would pass
    `limit`.
    """
    k = len(offsets) - 1
    cast = blocks.dtype.type
    widest = 1
    for i in range(k):
        widest = max(widest, offsets[i + 1] - offsets[i])
    own = np.empty(widest, blocks.dtype)
    other = np.empty(widest, blocks.dtype)
    least = np.empty(widest, blocks.dtype)
    first_out = np.empty(widest, blocks.dtype)
    second_out = np.empty(widest, blocks.dtype)
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
                second_out[y] = cast(((other[y] + least[y]) >> 1) - other[y])
            _offer(second_out, columns)
            _row_minima(blocks, start, rows, columns, second_out, first_out)
            _offer(first_out, rows)
            _column_minima(blocks, start, rows, columns, first_out, second_out)
            _offer(first_out, rows)
        else:
            _row_minima(blocks, start, rows, columns, other, least)
            for x in range(rows):
                first_out[x] = cast(((own[x] + least[x]) >> 1) - own[x])
            _offer(first_out, rows)
            _column_minima(blocks, start, rows, columns, first_out, second_out)
            _offer(second_out, columns)
            _row_minima(blocks, start, rows, columns, second_out, first_out)
            _offer(second_out, columns)
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
        bound += np.int64(unary[offsets[i] : offsets[i + 1]].min())
    return within, bound


@jit()
def _offer(values, size):
    """Change the sign in place: what one side has taken, the other no longer finds."""
    for x in range(size):
        values[x] = -values[x]


@jit()
def contract(
    unary,
    blocks,
    starts,
    offsets,
    messages,
    chosen,
    open_sets,
    positions,
    new_offsets,
    new_starts,
    ceiling,
):
    """Keep some candidates of each set; sets with one left become part of the constant.

    Parameters
    ----------
    chosen
        The only candidate left of each set, -1 where there are more.
    open_sets, positions, new_offsets, new_starts
        The sets with more, what is left of them, and how that will be laid out.
    ceiling
        Costs above are lowered to it, to stay within the integers' range: they exceed any
        cutoff as it is.

    Returns the constant, and the unary costs and blocks of what is left.
    """
    k = len(offsets) - 1
    cast = blocks.dtype.type
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
    new_unary = np.empty(len(positions), blocks.dtype)
    for p in range(len(positions)):
        new_unary[p] = cast(min(sums[p], ceiling))
    sizes = new_offsets[1:] - new_offsets[:-1]
    new_blocks = np.empty((sizes.sum() ** 2 - (sizes**2).sum()) // 2, blocks.dtype)
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
                    left = blocks[row + y - offsets[j]] - messages[j, x] - messages[i, y]
                    new_blocks[q] = cast(min(left, ceiling))
                    q += 1
    return constant, new_unary, new_blocks


@jit()
def _residual(blocks, starts, offsets, messages, i, x, j, y):
    if i < j:
        width = offsets[j + 1] - offsets[j]
        cost = blocks[starts[i, j] + (x - offsets[i]) * width + y - offsets[j]]
    else:
        width = offsets[i + 1] - offsets[i]
        cost = blocks[starts[j, i] + (y - offsets[j]) * width + x - offsets[i]]
    return np.int64(cost) - messages[j, x] - messages[i, y]
