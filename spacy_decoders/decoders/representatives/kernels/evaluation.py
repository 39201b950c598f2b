"""What potentials prove of the choices of a box, looked up in the costs themselves.

Nothing is taken from the loops that found the potentials: every bound is summed anew.
"""

from __future__ import annotations

import numpy as np

from ....jit import jit

__all__ = ["evaluate", "reduced", "search"]


@jit()
def evaluate(unary, blocks, starts, offsets, kept, ends, potentials):
    """Return what the choices of a box with each of its candidates cost at least.

    ``potentials[j, x]`` of the pair costs between set j and the set of candidate x are paid
    by x alone; what then is left of a pair of sets costs at least its least entry. A set with
    one candidate leaves nothing over: the others pay all of their pairs with it.

    Parameters
    ----------
    kept, ends
        The positions of the candidates in the box; set i has those from ``ends[i]`` to
        ``ends[i + 1]``.
    potentials
        **Shape:** (k, n). Any are valid.
    """
    k = len(offsets) - 1
    paid = np.empty(len(kept), np.int64)
    bounds = np.empty(len(kept), np.int64)
    _pay(unary, kept, ends, potentials, paid)
    total = np.int64(0)
    for i in range(k):
        alone = ends[i + 1] - ends[i] == 1
        for j in range(i + 1, k):
            width = offsets[j + 1] - offsets[j]
            both = alone or ends[j + 1] - ends[j] == 1
            whole = ends[j + 1] - ends[j] == width
            taken = potentials[i, offsets[j] : offsets[j + 1]]
            least = np.int64(2**62)
            for p in range(ends[i], ends[i + 1]):
                row = starts[i, j] + (kept[p] - offsets[i]) * width
                costs = blocks[row : row + width]
                given = potentials[j, kept[p]]
                of_row = np.int64(2**62)
                if both:
                    for q in range(ends[j], ends[j + 1]):
                        y = kept[q] - offsets[j]
                        paid[q if alone else p] += costs[y] - taken[y] - given
                elif whole:
                    for y in range(width):
                        left = np.int64(costs[y]) - taken[y]
                        of_row = left if left < of_row else of_row
                else:
                    for q in range(ends[j], ends[j + 1]):
                        y = kept[q] - offsets[j]
                        left = np.int64(costs[y]) - taken[y]
                        of_row = left if left < of_row else of_row
                least = min(least, of_row - given)
            if not both:
                total += least
    minima = np.empty(k, np.int64)
    for i in range(k):
        minima[i] = paid[ends[i] : ends[i + 1]].min()
        total += minima[i]
    for i in range(k):
        for p in range(ends[i], ends[i + 1]):
            bounds[p] = total - minima[i] + paid[p]
    return bounds


@jit()
def _pay(unary, kept, ends, potentials, paid):
    """Say in `paid` what each candidate pays alone; there is nothing to pay within its set."""
    for i in range(len(ends) - 1):
        for p in range(ends[i], ends[i + 1]):
            x = kept[p]
            paid[p] = unary[x] - potentials[i, x]
            for j in range(len(ends) - 1):
                paid[p] += potentials[j, x]


@jit()
def reduced(unary, blocks, starts, offsets, kept, ends, potentials):
    """Return what the candidates of a box pay alone, and what pairs of them then still cost.

    Returns `paid`, `pairs`, laid out as the problem's blocks are with their starts, and a rest:
    what was taken off every block to give it a least cost of 0. What is too large for the
    blocks' integers is lowered, which is valid in a bound.
    """
    cast = blocks.dtype.type
    ceiling = np.int64(2**30 if blocks.itemsize == 4 else 2**60)
    k, size = len(offsets) - 1, len(kept)
    paid = np.empty(size, np.int64)
    begins = np.zeros((k, k), np.int64)
    total = largest = 0
    for i in range(k):
        for j in range(i + 1, k):
            begins[i, j] = total
            area = (ends[i + 1] - ends[i]) * (ends[j + 1] - ends[j])
            total += area
            largest = max(largest, area)
    pairs = np.empty(total, blocks.dtype)
    block = np.empty(largest, np.int64)
    rest = np.int64(0)
    _pay(unary, kept, ends, potentials, paid)
    for i in range(k):
        for j in range(i + 1, k):
            width = offsets[j + 1] - offsets[j]
            rows, columns = ends[i + 1] - ends[i], ends[j + 1] - ends[j]
            least = np.int64(2**62)
            for p in range(rows):
                x = kept[ends[i] + p]
                row = starts[i, j] + (x - offsets[i]) * width - offsets[j]
                given = potentials[j, x]
                for q in range(columns):
                    y = kept[ends[j] + q]
                    left = blocks[row + y] - given - potentials[i, y]
                    block[p * columns + q] = left
                    least = left if left < least else least
            rest += least
            for p in range(rows * columns):
                pairs[begins[i, j] + p] = cast(min(block[p] - least, ceiling))
    return paid, pairs, begins, rest


@jit()
def search(paid, pairs, begins, rest, ends, cutoff, step, max_nodes):
    """Look depth first at all choices that may cost at most `cutoff`.

    A partial choice costs at least what is chosen costs, and for each open set the cheapest
    candidate beside it. The set with the fewest viable candidates is decided first.

    Returns
    -------
    least
        What every choice costs at least: the least cost at which a branch was left.
    best, choices
        The cost and the candidates of the cheapest choice, if it costs at most `cutoff`;
        otherwise the cost is ``2**62``.
    nodes
        Visited; if more than `max_nodes`, the search was given up and nothing is proven.
    """
    k, size = len(ends) - 1, len(paid)
    values = np.empty((k + 1, size), np.int64)  # costs beside all that is chosen so far
    values[0] = paid
    minima = np.zeros((k + 1, k), np.int64)
    spent = np.zeros(k + 1, np.int64)  # the cost of the chosen, with each other
    open_bound = np.zeros(k + 1, np.int64)  # sum over open sets of their least value
    chosen_set = np.full(k + 1, -1, np.int64)  # decided at each depth
    chosen = np.full(k + 1, -1, np.int64)  # candidate tried last at each depth
    is_open = np.ones(k, np.bool_)
    choices = np.full(k, -1, np.int64)
    best = least = np.int64(2**62)
    nodes = 0
    spent[0] = rest
    for i in range(k):
        minima[0, i] = paid[ends[i] : ends[i + 1]].min()
        open_bound[0] += minima[0, i]
    if rest + open_bound[0] > cutoff:
        return rest + open_bound[0], best, choices, nodes
    depth = 0
    entered = True
    while depth >= 0:
        if entered and depth == k:
            # no dearer than the cutoff, which sinks below it
            best = spent[depth]
            least = min(least, best)
            cutoff = best - step
            for d in range(k):
                choices[chosen_set[d]] = chosen[d]
            depth -= 1
            entered = False
            continue
        if entered:
            fewest = size + 1
            pick = -1
            room = cutoff - spent[depth] - open_bound[depth]
            for i in range(k):
                if is_open[i]:
                    viable = 0
                    for x in range(ends[i], ends[i + 1]):
                        viable += values[depth, x] <= room + minima[depth, i]
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
        for x in range(ends[pick], ends[pick + 1]):
            value = values[depth, x]
            if (
                last < 0
                or value > values[depth, last]
                or (value == values[depth, last] and x > last)
            ) and (following < 0 or value < values[depth, following]):
                following = x
        others = open_bound[depth] - minima[depth, pick]
        bound = np.int64(2**62)
        if following >= 0:
            bound = spent[depth] + values[depth, following] + others
        if bound > cutoff:
            least = min(least, bound)
            is_open[pick] = True
            depth -= 1
            entered = False
            continue
        chosen[depth] = following
        nodes += 1
        if nodes > max_nodes:
            break
        spent[depth + 1] = spent[depth] + values[depth, following]
        open_bound[depth + 1] = 0
        for j in range(k):
            if is_open[j]:
                of_set = np.int64(2**62)
                first, after = ends[j], ends[j + 1]
                if j > pick:
                    row = begins[pick, j] + (following - ends[pick]) * (after - first) - first
                    for y in range(first, after):
                        value = values[depth, y] + pairs[row + y]
                        values[depth + 1, y] = value
                        of_set = value if value < of_set else of_set
                else:
                    width = ends[pick + 1] - ends[pick]
                    column = begins[j, pick] + following - ends[pick]
                    for y in range(first, after):
                        value = values[depth, y] + pairs[column + (y - first) * width]
                        values[depth + 1, y] = value
                        of_set = value if value < of_set else of_set
                minima[depth + 1, j] = of_set
                open_bound[depth + 1] += of_set
        bound = spent[depth + 1] + open_bound[depth + 1]
        entered = bound <= cutoff
        if entered:
            depth += 1
        else:
            least = min(least, bound)
    return least, best, choices, nodes
