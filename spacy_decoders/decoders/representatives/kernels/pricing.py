"""The costs of all choices, where there are few."""

import numpy as np

from ....jit import jit

__all__ = ["best_of", "price_all"]


@jit()
def price_all(distances, offsets, rows, unary, weight):
    """Price every choice of one candidate from each set; those of the last set change fastest.

    Returns the costs of the choices and the sums of the absolute values of their terms, float64
    (choices,), and the least cost of those with each candidate, float64 (n,).

    **Shapes:** distances (v, v), int32 or float64; offsets int64 (k + 1,), where the candidates
    of each set begin; rows int32 (n,), the row of each, and unary float64 (n,), its cost alone.
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


@jit()
def best_of(costs, beside, offsets):
    """Return the first of the cheapest choices, and what another candidate of each set costs more.

    **Shapes:** int64 (k,), candidates of the sets; float64 (k,), ``inf`` where there is no other.
    The arguments are those of `price_all`, and what that returns.
    """
    k = len(offsets) - 1
    chosen = np.empty(k, np.int64)
    margins = np.full(k, np.inf)
    best = costs.argmin()
    rest = best
    for i in range(k - 1, -1, -1):
        size = offsets[i + 1] - offsets[i]
        chosen[i] = offsets[i] + rest % size
        rest //= size
        for x in range(offsets[i], offsets[i + 1]):
            if x != chosen[i]:
                margins[i] = min(margins[i], beside[x])
        margins[i] -= costs[best]
    return chosen, margins
