"""The costs of all choices, where there are few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import jit

__all__ = ["Priced", "price_all"]


class Priced(NamedTuple):
    """What choices cost; the candidates of the last set change fastest."""

    costs: NDArray[np.float64]  # (choices,)
    magnitudes: NDArray[np.float64]  # (choices,): the sums of the terms' absolute values
    beside: NDArray[np.float64]  # (n,): the least cost of the choices with each candidate


@jit()
def price_all(distances, offsets, rows, unary, weight):
    """Price every choice of one candidate from each set.

    Parameters
    ----------
    distances
        **Shape:** (v, v), int32 or float64.
    offsets
        **Shape:** (k + 1,), int64: where the candidates of each set begin.
    rows, unary
        **Shapes:** (n,), int32 and float64: the row of each candidate, and what it costs alone.
    weight
        Of the distances.

    Returns :class:`Priced`.
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
    return Priced(costs, magnitudes, beside)
