"""How ties are broken: by a random order of the vertices that the seed draws.

The order of candidates in the input must decide nothing: retrieval puts the likely ones
first, and a decoder that quietly keeps that order looks better than it is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import checked_whole

__all__ = ["cheapest", "first_least", "vertex_keys"]


def vertex_keys(vertices: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """Return a random rank of each vertex that depends on its id and the seed alone.

    Examples
    --------
    >>> bool((vertex_keys(np.array([7, 3]), 0) == vertex_keys(np.array([3, 7]), 0)[::-1]).all())
    True
    """
    checked_whole("seed", seed, low=0)
    with np.errstate(over="ignore"):
        start = _mixed(np.array([seed], dtype=np.int64).view(np.uint64))
        return _mixed(vertices.astype(np.int64).view(np.uint64) ^ start)


def first_least(costs: NDArray[Any], keys: NDArray[np.uint64]) -> int:
    """Return the index of the least cost, of equal ones that with the least key."""
    tied = np.flatnonzero(costs == costs.min())
    return int(tied[np.argmin(keys[tied])])


def cheapest(
    offsets: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    costs: NDArray[np.float64],
    keys: NDArray[np.uint64],
) -> NDArray[np.int64]:
    """**Shape:** (k,): the allowed candidate of least cost in each set."""
    costs = np.where(allowed, costs, np.inf)
    choices = [
        first_least(costs[first:last], keys[first:last])
        for first, last in pairwise(offsets.tolist())
    ]
    return np.array(choices, dtype=np.int64)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
