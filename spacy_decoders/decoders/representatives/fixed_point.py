"""The costs of a problem as integers, and the costs that sums of them stand for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Booleans, Integers
from ...budget import Clock
from .costs import CostTable, rounded_down
from .kernels.evaluation import reduced
from .kernels.layout import LARGEST, Box, CostArrays

__all__ = ["BITS", "FixedPoint", "quantise"]

#: Bits of the largest cost; the other bits of the integer leave room for messages.
BITS = 46
#: The most quanta in a unit of cost.
FINEST = 1e290


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Costs in quanta: not negative, exact where all costs are integers, clipped at `reach`."""

    scale: float  # quanta in one unit of cost
    step: int  # the least difference between two different costs of choices, in quanta
    slack: int  # the most quanta by which rounding changes the cost of a choice
    shift: float  # the cost of a choice of 0 quanta
    reach: float  # costs from shift + reach on are not distinguished
    minima: float  # the sum of the absolute costs that make up `shift`
    arrays: CostArrays  # the costs, of int64, laid out as in `CostTable`

    @cached_property
    def resolution(self) -> float:
        """How far the bound of a completed search may lie below the cost of the optimum."""
        return 3.0 * (self.slack + 1) / self.scale if self.slack else 0.0

    @cached_property
    def largest(self) -> float:
        """The cost from which on costs are not distinguished, rounded down."""
        if not self.slack:
            return self.shift + self.reach
        return rounded_down(self.shift + self.reach, self.minima + self.reach, self.arrays.size**2)

    def cutoff(self, cost: float) -> int:
        """Return the most quanta that a choice can have whose exact cost is less than `cost`."""
        # a cost below the shift is a rounding error
        quanta = max(0.0, min(cost - self.shift, self.reach)) * self.scale
        if self.slack:
            return int(np.floor(quanta)) - 1 - self.slack
        return round(quanta) - self.step

    def lower(self, bound: int | Integers) -> Any:
        """Return a lower bound on the cost of choices of at least `bound` quanta, one or many.

        It holds for choices that cost no more than shift + reach.
        """
        if not self.slack:
            return self.shift + -(-bound // self.step)
        above: Any = (bound - self.slack) / self.scale
        return rounded_down(self.shift + above, self.minima + abs(above), self.arrays.size**2)

    def bounds(self, keep: Booleans, potentials: Integers) -> Integers:
        """**Shape:** (n,): a lower bound, in quanta, on the choices of a box with each candidate.

        Computed from the costs and valid for any potentials; `LARGEST` for candidates that are
        not in the box.
        """
        box = Box.of(keep, self.arrays.offsets)
        left, constant = reduced(self.arrays, box, potentials)
        minima = np.minimum.reduceat(left.unary, box.ends[:-1])
        above = left.unary - minima.repeat(left.sizes)
        bounds = np.full(len(keep), LARGEST)
        bounds[box.kept] = constant + minima.sum() + above
        return bounds


def quantise(costs: CostTable, upper: float, clock: Clock) -> FixedPoint | None:
    """Turn costs into integers, exactly if all are whole, else with quanta of 2**-46 of the range.

    Returns None if time runs out first.

    The unary costs of each set, and each block of pair costs, are shifted to a minimum of 0 and
    clipped where a single term takes a choice to `upper`, so that one enormous cost does not make
    the quanta too coarse for the others.
    """
    own, pairs = costs.unary_minima, costs.block_minima
    shift, k, sizes = costs.shift, costs.arrays.size, costs.arrays.sizes
    terms = k * (k + 1) // 2
    reach = max(upper - shift, 0.0)
    if costs.integral:
        step = max(1, int(2**BITS // (terms * max(reach, 1.0))))
        scale, slack = float(step), 0
    else:
        step, slack = 1, terms
        scale = min(FINEST, 2.0**BITS / max(terms * reach, 1e-300))
    unary = np.clip(costs.arrays.unary - np.repeat(own, sizes), 0.0, reach)
    given = costs.arrays.blocks
    blocks = np.empty(len(given), dtype=np.int64)
    last = 0
    for j in range(1, k):
        if clock.seconds_left == 0.0:
            return None
        # the blocks of a set with all earlier ones are contiguous
        areas = sizes[:j] * sizes[j]
        first, last = last, last + int(areas.sum())
        row = given[first:last] - np.repeat(pairs[:j, j], areas)
        np.minimum(row, reach, out=row)
        row *= scale
        if slack:
            np.rint(row, out=row)
        blocks[first:last] = row
    return FixedPoint(
        scale=scale,
        step=step,
        slack=slack,
        shift=shift,
        reach=reach,
        minima=costs.magnitude,
        arrays=costs.arrays._replace(unary=np.rint(unary * scale).astype(np.int64), blocks=blocks),
    )
