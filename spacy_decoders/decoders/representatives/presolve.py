"""Leaving out the candidates that no choice of interest contains, with the proof."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .costs import CostTable
from .rounding import rounded_down

__all__ = ["Minima", "least_costs", "presolve"]

#: Rounds of leaving out, each by what the one before has left.
ROUNDS = 5


class Minima(NamedTuple):
    """The least costs of the candidates that are kept."""

    keep: NDArray[np.bool_]  # (n,)
    # (k,), and (k, k) for sets i < j
    own: NDArray[np.float64]
    pairs: NDArray[np.float64]


def least_costs(costs: CostTable) -> Minima:
    """Return the least costs of all candidates."""
    keep = np.ones(len(costs.unary), dtype=bool)
    return Minima(keep, costs.unary_minima, costs.block_minima)


def presolve(costs: CostTable, upper: float) -> Minima:
    """Leave out the candidates with which every choice costs more than `upper`.

    Such a choice costs at least what the candidate costs, alone and with the nearest of each
    other set, and the least of all else. One with an enormous cost of either sign then costs
    the others no digits.
    """
    minima = least_costs(costs)
    for _ in range(ROUNDS):
        keep = minima.keep & (_lower(costs, minima) <= upper)
        if keep.sum() == minima.keep.sum() or not _complete(costs, keep):
            break
        minima = _minima(costs, keep)
    return minima


def _complete(costs: CostTable, keep: NDArray[np.bool_]) -> bool:
    return bool(np.logical_or.reduceat(keep, costs.offsets[:-1]).all())


def _minima(costs: CostTable, keep: NDArray[np.bool_]) -> Minima:
    parts = [keep[slice(*span)] for span in pairwise(costs.offsets.tolist())]
    own = np.minimum.reduceat(np.where(keep, costs.unary, np.inf), costs.offsets[:-1])
    pairs = np.zeros((costs.size, costs.size))
    for i, first in enumerate(parts):
        for j in range(i + 1, costs.size):
            pairs[i, j] = costs.block(i, j)[first][:, parts[j]].min()
    return Minima(keep, own, pairs)


def _lower(costs: CostTable, minima: Minima) -> NDArray[np.float64]:
    """**Shape:** (n,): what the choices with each candidate cost at least."""
    spans = [slice(*span) for span in pairwise(costs.offsets.tolist())]
    keep = minima.keep
    more = costs.unary - np.repeat(minima.own, costs.sizes)
    sizes = np.abs(costs.unary)
    for i, first in enumerate(spans):
        for j in range(i + 1, costs.size):
            block, least = costs.block(i, j), minima.pairs[i, j]
            for of_set, nearest in (
                (first, block[:, keep[spans[j]]].min(axis=1)),
                (spans[j], block[keep[first]].min(axis=0)),
            ):
                more[of_set] += nearest - least
                sizes[of_set] += np.abs(nearest)
    total = float(minima.own.sum() + minima.pairs.sum())
    magnitude = float(np.abs(minima.own).sum() + np.abs(minima.pairs).sum())
    return rounded_down(total + more, 2 * (magnitude + sizes), costs.size**2 + costs.size)
