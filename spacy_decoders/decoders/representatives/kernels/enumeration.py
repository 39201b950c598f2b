"""Depth-first enumeration of a box: the costs after its potentials, and the search.

The search touches nothing that message passing has computed but the potentials, of which any
are valid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit
from .evaluation import add_potentials
from .layout import CEILING, LARGEST

__all__ = ["Found", "ReducedCosts", "reduced", "search"]


class ReducedCosts(NamedTuple):
    """The costs of a box after what the potentials move."""

    paid: NDArray[np.int64]  # (m,), int64: what each candidate pays alone
    # what pairs of them then still cost, not negative, as of :class:`CostArrays`
    pairs: NDArray[Any]
    starts: NDArray[np.int64]
    constant: int  # what was taken off every block to give it a least cost of 0
    ends: NDArray[np.int64]  # as of the box


class Found(NamedTuple):
    """What a search has found."""

    least: int  # what every choice costs at least: the least cost at which a branch was left
    # the cost and the candidates, (k,), of the cheapest choice, if it costs at most the cutoff;
    # otherwise the cost is :data:`LARGEST`
    best: int
    choices: NDArray[np.int64]
    nodes: int  # visited; if more than allowed, the search was given up and nothing is proven


@jit()
def reduced(costs, box, potentials):
    """Return the :class:`ReducedCosts` of a box.

    What is too large is lowered, which is valid in a bound.
    """
    blocks, starts, offsets = costs.blocks, costs.starts, costs.offsets
    kept, ends = box.kept, box.ends
    k, size = len(offsets) - 1, len(kept)
    paid = np.empty(size, np.int64)
    new_starts = np.zeros((k, k), np.int64)
    total = largest = 0
    for i in range(k):
        for j in range(i + 1, k):
            new_starts[i, j] = total
            area = (ends[i + 1] - ends[i]) * (ends[j + 1] - ends[j])
            total += area
            largest = max(largest, area)
    pairs = np.empty(total, np.int64)
    block = np.empty(largest, np.int64)
    constant = np.int64(0)
    add_potentials(costs.unary, box, potentials, paid)
    for i in range(k):
        for j in range(i + 1, k):
            width = offsets[j + 1] - offsets[j]
            rows, columns = ends[i + 1] - ends[i], ends[j + 1] - ends[j]
            least = np.int64(LARGEST)
            for p in range(rows):
                x = kept[ends[i] + p]
                row = starts[i, j] + (x - offsets[i]) * width - offsets[j]
                given = potentials[j, x]
                for q in range(columns):
                    y = kept[ends[j] + q]
                    left = blocks[row + y] - given - potentials[i, y]
                    block[p * columns + q] = left
                    least = left if left < least else least
            constant += least
            for p in range(rows * columns):
                pairs[new_starts[i, j] + p] = min(block[p] - least, CEILING)
    return ReducedCosts(paid, pairs, new_starts, constant, ends)


@jit()
def _fewest_viable(values, minima, room, is_open, ends):
    """Return the open set with the fewest candidates that `room` above its minimum allows."""
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

    `last` is -1 before the first one.
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
    """Write to `out` what candidates cost beside one more; return the least of them."""
    least = np.int64(LARGEST)
    for y in range(first, after):
        value = values[y] + pairs[row + (y - first) * stride]
        out[y] = value
        least = value if value < least else least
    return least


@jit()
def search(costs, cutoff, step, max_nodes):
    """Look depth first at all choices that may cost at most `cutoff`.

    A partial choice costs at least what is chosen costs, and for each open set the cheapest
    candidate beside it. The set with the fewest viable candidates is decided first.

    Parameters
    ----------
    costs
        :class:`ReducedCosts`.
    cutoff, step
        The most that a choice of interest costs, and by how much a better one is cheaper.
    max_nodes
        Nodes after which to give up.

    Returns :class:`Found`.
    """
    paid, pairs, starts, ends = costs.paid, costs.pairs, costs.starts, costs.ends
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
    best = least = np.int64(LARGEST)
    nodes = 0
    spent[0] = costs.constant
    for i in range(k):
        minima[0, i] = paid[ends[i] : ends[i + 1]].min()
        open_bound[0] += minima[0, i]
    if spent[0] + open_bound[0] > cutoff:
        return Found(spent[0] + open_bound[0], best, choices, nodes)
    depth = 0
    entered = True
    while depth >= 0:
        if entered and depth == k:
            # no dearer than the cutoff, which is lowered below it
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
