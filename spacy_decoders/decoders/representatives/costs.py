"""The costs of a problem, laid out for the compiled loops and free of the input's order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .problem import RepresentativesProblem

__all__ = ["PairCosts", "pair_costs"]


@dataclass(frozen=True, eq=False)
class PairCosts:
    """Unary and pair costs in float64; sets and candidates are in the order of the tie keys.

    Attributes
    ----------
    unary
        **Shape:** (n,): of all candidates, set after set.
    blocks, starts, offsets
        Pair costs, flat: those of sets i < j are the row-major block at ``starts[i, j]``.
    set_order
        **Shape:** (k,): which set of the problem each one is.
    member_order
        **Shape:** (n,): which candidate of that set each one is.
    integral
        Whether all costs are whole numbers.
    unit
        What a cost of 1 here is in the problem.
    """

    unary: NDArray[np.float64]
    blocks: NDArray[np.float64]
    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    set_order: NDArray[np.int64]
    member_order: NDArray[np.int64]
    integral: bool
    unit: float

    @property
    def size(self) -> int:
        """The number of sets."""
        return len(self.set_order)

    def block(self, i: int, j: int) -> NDArray[np.float64]:
        """**Shape:** (n_i, n_j): a view of the pair costs of sets i < j."""
        rows, columns = np.diff(self.offsets)[[i, j]]
        start = self.starts[i, j]
        return self.blocks[start : start + rows * columns].reshape(rows, columns)

    @cached_property
    def block_minima(self) -> NDArray[np.float64]:
        """**Shape:** (k, k): the least cost of each pair of sets i < j; 0 elsewhere."""
        minima = np.zeros((self.size, self.size))
        for i in range(self.size):
            for j in range(i + 1, self.size):
                minima[i, j] = self.block(i, j).min()
        return minima

    @cached_property
    def unary_minima(self) -> NDArray[np.float64]:
        """**Shape:** (k,): the least unary cost of each set."""
        return np.minimum.reduceat(self.unary, self.offsets[:-1])

    @cached_property
    def least(self) -> float:
        """A bound on the cost of every choice.

        Each candidate pays at least half of what the cheapest candidate of each other set
        would cost beside it: half its hitting distances.
        """
        paid = np.zeros(len(self.unary))
        parts = [slice(*span) for span in pairwise(self.offsets.tolist())]
        for i in range(self.size):
            for j in range(i + 1, self.size):
                block = self.block(i, j)
                paid[parts[i]] += block.min(axis=1)
                paid[parts[j]] += block.min(axis=0)
        least = float(np.minimum.reduceat(self.unary + 0.5 * paid, self.offsets[:-1]).sum())
        # half a distance more than a whole number of them is not attainable
        return float(np.ceil(least)) if self.integral else least

    def given(self, choices: NDArray[Any]) -> NDArray[np.int32]:
        """Return choices in the problem's own order of sets and candidates."""
        back = np.empty(self.size, dtype=np.int32)
        back[self.set_order] = self.member_order[self.offsets[:-1] + choices]
        return back


def pair_costs(problem: RepresentativesProblem, seed: int) -> PairCosts:
    """Lay out the costs of a problem of at least one set."""
    keys = problem.keys(seed)
    bounds = problem.offsets
    orders = [
        np.argsort(keys[bounds[i] : bounds[i + 1]], kind="stable") for i in range(problem.size)
    ]
    sorted_keys = [
        tuple(keys[bounds[i] : bounds[i + 1]][order].tolist()) for i, order in enumerate(orders)
    ]
    # sets of the same vertices are told apart by their local costs
    told_apart = [
        tuple(problem.local_costs[bounds[i] : bounds[i + 1]][order].tolist())
        for i, order in enumerate(orders)
    ]
    set_order = sorted(range(problem.size), key=lambda i: (sorted_keys[i], told_apart[i]))
    members = [problem.sets[i][orders[i]] for i in set_order]
    sizes = np.array([len(rows) for rows in members])
    k = len(sizes)
    starts = np.zeros((k, k), dtype=np.int64)
    upper = np.triu_indices(k, 1)
    areas = sizes[upper[0]] * sizes[upper[1]]
    starts[upper] = np.cumsum(areas) - areas
    blocks = np.empty(int(areas.sum()))
    integral = (
        problem.distances.dtype.kind == "i"
        and not problem.local_costs.any()
        and problem.pair_weight > 0
    )
    unit = problem.pair_weight if integral else 1.0
    factor = problem.pair_weight / unit
    at = 0
    for i in range(k):
        rows = problem.distances[members[i]]
        for j in range(i + 1, k):
            block = rows[:, members[j]]
            np.multiply(block.ravel(), factor, out=blocks[at : at + block.size])
            at += block.size
    unary = np.concatenate(
        [problem.local_costs[bounds[i] : bounds[i + 1]][orders[i]] for i in set_order]
    )
    return PairCosts(
        unary,
        blocks,
        starts,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array(set_order, dtype=np.int64),
        np.concatenate([orders[i] for i in set_order]).astype(np.int64),
        integral,
        unit,
    )
