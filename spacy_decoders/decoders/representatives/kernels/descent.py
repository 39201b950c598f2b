"""Coordinate descent: one set at a time chooses its cheapest candidate, given the others.

The costs are a :class:`CostArrays` in float64, passed as a plain tuple, which numba unpacks
faster.
"""

import numpy as np

from ....jit import jit

__all__ = ["beside", "best_descent", "descend", "total"]

#: No set is frozen. Numba would compile the kernel once more for the type of a literal -1.
_NONE = np.int64(-1)


@jit()
def _add_pairs(values, blocks, starts, offsets, i, x, sign):
    """Add `sign` times the pair costs with candidate x of set i to those of the other sets."""
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
def total(costs, choices):
    """Return the cost of choices, **shape** int64 (k,)."""
    unary, blocks, starts, offsets = costs
    cost = 0.0
    for i in range(len(choices)):
        cost += unary[offsets[i] + choices[i]]
        for j in range(i + 1, len(choices)):
            stride = offsets[j + 1] - offsets[j]
            cost += blocks[starts[i, j] + choices[i] * stride + choices[j]]
    return cost


@jit()
def descend(costs, choices, frozen):
    """Improve choices, in place, one set at a time, until no single change helps.

    `frozen` is a set that keeps its choice, or -1. Returns the cost of each candidate given the
    choices of the other sets. **Shapes:** choices int64 (k,); returns float64 (n,).
    """
    unary, blocks, starts, offsets = costs
    values = unary.copy()
    for i in range(len(choices)):
        _add_pairs(values, blocks, starts, offsets, i, choices[i], 1.0)
    _settle(costs, values, choices, frozen)
    return values


@jit()
def beside(costs, values, choices, i, x):
    """Return choices improved around candidate x of set i, which stays, and their cost.

    `values` are those that `descend` returned with `choices`; neither is changed.
    """
    values, choices = values.copy(), choices.copy()
    _choose(costs, values, choices, i, x)
    _settle(costs, values, choices, i)
    return choices, total(costs, choices)


@jit()
def _choose(costs, values, choices, i, x):
    """Choose candidate x of set i, and update the costs of the others' candidates."""
    _, blocks, starts, offsets = costs
    _add_pairs(values, blocks, starts, offsets, i, choices[i], -1.0)
    _add_pairs(values, blocks, starts, offsets, i, x, 1.0)
    choices[i] = x


@jit()
def _settle(costs, values, choices, frozen):
    """Improve choices, in place, as `descend` does, from the costs of all candidates."""
    offsets = costs[3]
    k = len(choices)
    unchanged = 0
    i = np.int64(0)
    # limited, since rounding errors could make it cycle
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
            _choose(costs, values, choices, i, best)
            unchanged = 1
        else:
            unchanged += 1
        i = i + 1 if i + 1 < k else 0


@jit()
def best_descent(costs, begins):
    """Descend from several candidates, each completed by the cheapest ones beside it.

    Returns the best choices, int64 (k,), and their cost. **Shape:** begins int64 (s, 2), each a
    set and its candidate.
    """
    unary, blocks, starts, offsets = costs
    best = np.zeros(len(offsets) - 1, np.int64)
    least = np.inf
    for s in range(len(begins)):
        first, member = begins[s, 0], begins[s, 1]
        values = unary.copy()
        _add_pairs(values, blocks, starts, offsets, first, member, 1.0)
        choices = np.zeros(len(offsets) - 1, np.int64)
        for j in range(len(choices)):
            for y in range(offsets[j + 1] - offsets[j]):
                if values[offsets[j] + y] < values[offsets[j] + choices[j]]:
                    choices[j] = y
        choices[first] = member
        descend(costs, choices, _NONE)
        cost = total(costs, choices)
        if cost < least:
            best, least = choices, cost
    return best, least
