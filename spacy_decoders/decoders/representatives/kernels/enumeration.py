"""Enumeration of choices: pricing all of them, and searching a box depth first."""

from typing import NamedTuple

import numpy as np

from ....arrays import Integers
from ....jit import jit
from .layout import LARGEST

__all__ = ["Found", "price_all", "search"]


class Found(NamedTuple):
    """The result of a search."""

    least: int  # the lower bound on every choice: the least bound of a pruned branch, or `best`
    # the cost and the candidates, (k,), of the cheapest choice of at most `cutoff`; otherwise the
    # cost is :data:`LARGEST`
    best: int
    choices: Integers
    nodes: int  # visited; if more than allowed, the search was abandoned and nothing is proven


@jit()
def _fewest_viable(values, minima, room, is_open, ends):
    """Return the open set with the fewest candidates at most `room` above its minimum."""
    fewest = len(values) + 1
    pick = -1
    for i in range(len(is_open)):
        if is_open[i]:
            viable = 0
            for x in range(ends[i], ends[i + 1]):
                viable += values[x] <= room + minima[i]
            if viable < fewest:
                fewest = viable
                pick = i
    return pick


@jit()
def _following(values, last, first, after):
    """Return the candidate after `last` in the order of (value, position), or -1.

    With `last` = -1 it is the first one.
    """
    following = -1
    for x in range(first, after):
        value = values[x]
        if (last < 0 or value > values[last] or (value == values[last] and x > last)) and (
            following < 0 or value < values[following]
        ):
            following = x
    return following


@jit()
def _add_beside(values, out, pairs, row, stride, first, after):
    """Write to `out` the candidates' costs beside one more choice; return the least of them."""
    least = np.int64(LARGEST)
    for y in range(first, after):
        value = values[y] + pairs[row + (y - first) * stride]
        out[y] = value
        least = value if value < least else least
    return least


@jit()
def search(costs, constant, cutoff, step, max_nodes):
    """Search depth first for choices that cost at most `cutoff`; return :class:`Found`.

    The bound of a partial choice is its cost plus, for each open set, the cost of the cheapest
    candidate beside it. The set with the fewest viable candidates is decided first. `costs` are
    reduced :class:`CostArrays`, to which every choice adds `constant`; two different sums differ
    by at least `step`. After `max_nodes` nodes the search is abandoned.
    """
    paid, pairs, starts, ends = costs
    k, size = len(ends) - 1, len(paid)
    values = np.empty((k + 1, size), np.int64)  # by depth, costs given the choices so far
    values[0] = paid
    minima = np.zeros((k + 1, k), np.int64)
    spent = np.zeros(k + 1, np.int64)  # the cost of the choices so far
    open_bound = np.zeros(k + 1, np.int64)  # the sum over the open sets of their least value
    chosen_set = np.full(k + 1, -1, np.int64)  # the set decided at each depth
    chosen = np.full(k + 1, -1, np.int64)  # the candidate tried last at each depth
    is_open = np.ones(k, np.bool_)
    choices = np.full(k, -1, np.int64)
    best = least = np.int64(LARGEST)
    nodes = 0
    spent[0] = constant
    for i in range(k):
        minima[0, i] = paid[ends[i] : ends[i + 1]].min()
        open_bound[0] += minima[0, i]
    if spent[0] + open_bound[0] > cutoff:
        return Found(spent[0] + open_bound[0], best, choices, nodes)
    depth = 0
    entered = True
    while depth >= 0:
        if entered and depth == k:
            # it costs at most the cutoff, which then falls below it
            best = spent[depth]
            least = min(least, best)
            cutoff = best - step
            for d in range(k):
                choices[chosen_set[d]] = chosen[d]
            depth -= 1
            entered = False
            continue
        if entered:
            room = cutoff - spent[depth] - open_bound[depth]
            pick = _fewest_viable(values[depth], minima[depth], room, is_open, ends)
            chosen_set[depth] = pick
            chosen[depth] = -1
            is_open[pick] = False
        pick = chosen_set[depth]
        following = _following(values[depth], chosen[depth], ends[pick], ends[pick + 1])
        bound = np.int64(LARGEST)
        if following >= 0:
            others = open_bound[depth] - minima[depth, pick]
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
                first, after = ends[j], ends[j + 1]
                row = starts[j, pick] + following - ends[pick]
                stride = ends[pick + 1] - ends[pick]
                if j > pick:
                    row = starts[pick, j] + (following - ends[pick]) * (after - first)
                    stride = 1
                minima[depth + 1, j] = _add_beside(
                    values[depth], values[depth + 1], pairs, row, stride, first, after
                )
                open_bound[depth + 1] += minima[depth + 1, j]
        bound = spent[depth + 1] + open_bound[depth + 1]
        entered = bound <= cutoff
        if entered:
            depth += 1
        else:
            least = min(least, bound)
    return Found(least, best, choices, nodes)


@jit()
def price_all(distances, offsets, rows, unary, weight):
    """Price every choice of one candidate from each set; the last set's changes fastest.

    Returns the costs of the choices and the sums of the absolute values of their terms, float64
    (choices,), and the least cost of a choice with each candidate, float64 (n,).

    **Shapes:** distances (v, v), int32 or float64; offsets int64 (k + 1,), where the candidates
    of each set begin; rows int32 (n,), the row of each, and unary float64 (n,), its local cost.
    """
    k = len(offsets) - 1
    choices = 1
    for i in range(k):
        choices *= offsets[i + 1] - offsets[i]
    costs = np.empty(choices)
    magnitudes = np.empty(choices)
    beside = np.full(len(rows), np.inf)
    chosen = offsets[:-1].copy()
    for choice in range(choices):
        cost = magnitude = 0.0
        for i in range(k):
            cost += unary[chosen[i]]
            magnitude += abs(unary[chosen[i]])
        for i in range(k):
            for j in range(i + 1, k):
                pair = weight * distances[rows[chosen[i]], rows[chosen[j]]]
                cost += pair
                magnitude += abs(pair)
        costs[choice] = cost
        magnitudes[choice] = magnitude
        for i in range(k):
            beside[chosen[i]] = min(beside[chosen[i]], cost)
        i = k - 1
        while i >= 0:
            chosen[i] += 1
            if chosen[i] < offsets[i + 1]:
                break
            chosen[i] = offsets[i]
            i -= 1
    return costs, magnitudes, beside
