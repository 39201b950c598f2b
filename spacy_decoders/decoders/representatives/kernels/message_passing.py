"""Message passing on the dual linear program.

All numbers are fixed-point integers: their minima vectorise, and no sum is rounded. The costs
are a :class:`CostArrays`, passed as a plain tuple, which numba unpacks faster.
``messages[j, x]`` is the part of the pair costs between the set of candidate x and set j that
has been moved into the unary cost of x. The rest of a block, ``block - messages``, is its
*residual*; it is never negative after a sweep.
"""

import numpy as np

from ....jit import jit

__all__ = ["sweep"]


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
def sweep(costs, messages, limit, begin, end):
    """Move pair costs into the unary costs, in place; return whether it completed, and the bound.

    One pass of message passing over the pairs of sets number `begin` to `end`, each updated as
    in MPLP++: the block takes the unary costs of both sets, the first gets back half of its
    min-marginals, the second all that is left, and the first again all that is then left. No
    residual becomes negative, so the sum of the least unary costs bounds the cost of every choice
    from below.

    The pass stops before a pair in which a number would exceed `limit`. **Shape:** messages
    (k, n).
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
    for at in range(k * k):
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
        if (rows == 1 or columns == 1) and not blocks[start : start + rows * columns].any():
            continue  # `reduced` has moved it into the unary costs
        for x in range(rows):
            own[x] = unary[a + x] - messages[j, a + x]
        for y in range(columns):
            other[y] = unary[b + y] - messages[i, b + y]
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
    """Change the sign, in place: a message to one set is a cost subtracted for the other."""
    for x in range(size):
        values[x] = -values[x]
