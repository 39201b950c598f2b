"""The compiled loops of local search and of the exact decoder.

Candidates of all sets are laid end to end; `offsets` says where each set begins. The pair
costs of sets i < j are the row-major block of shape (n_i, n_j) that begins at
``starts[i, j]`` of the flat `blocks`.

The exact decoder's numbers are fixed-point integers: their minima vectorise, and every
bound is exact. `messages[j, x]` is how much of the pair costs between the set of candidate
x and set j has been moved into the unary cost of x. What is left of a block after that,
``block - messages``, is its *residual*; it is never negative after a sweep.
"""

from __future__ import annotations

import numpy as np

from ....jit import jit

__all__ = ["beside", "contract", "descend", "search", "sweep", "total"]


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
def contract(unary, blocks, starts, offsets, messages, keep, ceiling):
    """Keep some candidates of each set; sets with one left become part of the constant.

    Returns the constant, the positions kept, the sets that are still open, and the unary
    costs, blocks, starts and offsets of what is left. Costs above `ceiling` are lowered to
    it, to stay within the integers' range: they exceed any cutoff as it is.
    """
    k = len(offsets) - 1
    cast = blocks.dtype.type
    counts = np.zeros(k, np.int64)
    for i in range(k):
        for x in range(offsets[i], offsets[i + 1]):
            counts[i] += keep[x]
    open_sets = np.flatnonzero(counts > 1)
    n_open = len(open_sets)
    new_offsets = np.zeros(n_open + 1, np.int64)
    for at in range(n_open):
        new_offsets[at + 1] = new_offsets[at] + counts[open_sets[at]]
    positions = np.empty(new_offsets[n_open], np.int64)
    for at in range(n_open):
        to = new_offsets[at]
        for x in range(offsets[open_sets[at]], offsets[open_sets[at] + 1]):
            if keep[x]:
                positions[to] = x
                to += 1
    new_unary = np.empty(len(positions), blocks.dtype)
    new_starts = np.zeros((n_open, n_open), np.int64)
    total = 0
    for at in range(n_open):
        for to in range(at + 1, n_open):
            new_starts[at, to] = total
            total += counts[open_sets[at]] * counts[open_sets[to]]
    new_blocks = np.empty(total, blocks.dtype)

    sums = np.empty(len(positions), np.int64)
    for p in range(len(positions)):
        sums[p] = unary[positions[p]]
    constant = np.int64(0)
    for i in range(k):
        if counts[i] != 1:
            continue
        x = offsets[i]
        while not keep[x]:
            x += 1
        constant += unary[x]
        for j in range(i + 1, k):
            if counts[j] == 1:
                y = offsets[j]
                while not keep[y]:
                    y += 1
                constant += _residual(blocks, starts, offsets, messages, i, x, j, y)
        for at in range(n_open):
            j = open_sets[at]
            for p in range(new_offsets[at], new_offsets[at + 1]):
                sums[p] += _residual(blocks, starts, offsets, messages, i, x, j, positions[p])
    for p in range(len(positions)):
        new_unary[p] = cast(min(sums[p], ceiling))
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
    return constant, positions, open_sets, new_unary, new_blocks, new_starts, new_offsets


@jit()
def _residual(blocks, starts, offsets, messages, i, x, j, y):
    if i < j:
        width = offsets[j + 1] - offsets[j]
        cost = blocks[starts[i, j] + (x - offsets[i]) * width + y - offsets[j]]
    else:
        width = offsets[i + 1] - offsets[i]
        cost = blocks[starts[j, i] + (y - offsets[j]) * width + x - offsets[i]]
    return np.int64(cost) - messages[j, x] - messages[i, y]


@jit()
def search(unary, blocks, starts, offsets, cutoff, step, max_nodes, choices):
    """Look depth first for the cheapest choice that costs at most `cutoff`.

    All blocks must be non-negative, so that a bound is the sum of what is already chosen
    and, for each open set, its cheapest candidate. The set with the fewest viable
    candidates is decided first.

    Returns
    -------
    cost
        Of the best choice, which is then in `choices`; `cutoff + 1` if there is none.
    nodes
        Visited; if more than `max_nodes`, the search was given up.
    """
    k = len(offsets) - 1
    size = offsets[k]
    values = np.empty((k + 1, size), np.int64)  # costs given all that is chosen so far
    values[0] = unary
    spent = np.zeros(k + 1, np.int64)  # the cost of the chosen, with each other
    open_bound = np.zeros(k + 1, np.int64)  # sum over open sets of their least value
    chosen_set = np.full(k + 1, -1, np.int64)  # decided at each depth
    chosen = np.full(k + 1, -1, np.int64)  # candidate tried last at each depth
    least_of = np.zeros((k + 1, k), np.int64)
    is_open = np.ones(k, np.bool_)
    best = cutoff + 1
    nodes = 0
    for i in range(k):
        least_of[0, i] = unary[offsets[i] : offsets[i + 1]].min()
        open_bound[0] += least_of[0, i]
    depth = 0
    descending = True
    while depth >= 0:
        if descending:
            if depth == k:
                if spent[depth] <= cutoff:
                    best = spent[depth]
                    cutoff = best - step
                    for d in range(k):
                        choices[chosen_set[d]] = chosen[d] - offsets[chosen_set[d]]
                depth -= 1
                descending = False
                continue
            # the open set with the fewest viable candidates
            fewest = size + 1
            pick = -1
            room = cutoff - spent[depth] - open_bound[depth]
            for i in range(k):
                if is_open[i]:
                    viable = 0
                    top = room + least_of[depth, i]
                    for x in range(offsets[i], offsets[i + 1]):
                        viable += values[depth, x] <= top
                    if viable < fewest:
                        fewest = viable
                        pick = i
            chosen_set[depth] = pick
            chosen[depth] = -1
            is_open[pick] = False
        pick = chosen_set[depth]
        # the next candidate in order of (value, position)
        last = chosen[depth]
        following = -1
        for x in range(offsets[pick], offsets[pick + 1]):
            value = values[depth, x]
            if (
                last < 0
                or value > values[depth, last]
                or (value == values[depth, last] and x > last)
            ) and (following < 0 or value < values[depth, following]):
                following = x
        rest = open_bound[depth] - least_of[depth, pick]
        if following < 0 or spent[depth] + values[depth, following] + rest > cutoff:
            is_open[pick] = True
            depth -= 1
            descending = False
            continue
        chosen[depth] = following
        nodes += 1
        if nodes > max_nodes:
            break
        spent[depth + 1] = spent[depth] + values[depth, following]
        bound = np.int64(0)
        for j in range(k):
            if not is_open[j]:
                continue
            first, last_y = offsets[j], offsets[j + 1]
            least = np.int64(2**62)
            if j > pick:
                row = starts[pick, j] + (following - offsets[pick]) * (last_y - first)
                for y in range(first, last_y):
                    value = values[depth, y] + blocks[row + y - first]
                    values[depth + 1, y] = value
                    least = min(least, value)
            else:
                stride = offsets[pick + 1] - offsets[pick]
                column = starts[j, pick] + following - offsets[pick]
                for y in range(first, last_y):
                    value = values[depth, y] + blocks[column + (y - first) * stride]
                    values[depth + 1, y] = value
                    least = min(least, value)
            least_of[depth + 1, j] = least
            bound += least
        open_bound[depth + 1] = bound
        if spent[depth + 1] + bound <= cutoff:
            depth += 1
            descending = True
        else:
            descending = False
    return best, nodes
