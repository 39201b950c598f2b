"""The costs of a problem, laid out for the kernels, and the rounding errors of their sums.

Nothing here depends on the order of sets and candidates in the input.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .kernels.layout import CostArrays, pair_starts
from .problem import RepresentativesProblem

__all__ = [
    "OVERTIME",
    "CostTable",
    "canonical_order",
    "cost_table",
    "relative_tolerance",
    "rounded_down",
]

#: Pair costs that are laid out before the clock is checked.
UNTIMED_COSTS = 1_000_000
#: Seconds for each candidate and set, on a slow machine, of the passes over all of them with which
#: a search begins.
PASS = 5e-8
#: Seconds by which the budget may be exceeded.
OVERTIME = 0.01

#: The largest relative error of one operation, and its largest absolute error near 0.
UNIT, SMALLEST = float(np.finfo(np.float64).eps) / 2, 5e-324

Number = TypeVar("Number", float, NDArray[np.float64])


@dataclass(frozen=True, eq=False)
class CostTable:
    """Unary and pair costs in float64; sets and candidates are in the canonical order."""

    arrays: CostArrays
    set_order: NDArray[np.int64]  # (k,): the number of each set in the problem
    member_order: NDArray[np.int64]  # (n,): the index of each candidate in that set
    block_minima: NDArray[np.float64]  # (k, k): the least cost of each pair of sets i < j, else 0
    integral: bool  # whether all costs are whole numbers
    unit: Fraction  # the cost in the problem of a cost of 1 here, exactly

    @cached_property
    def unary_minima(self) -> NDArray[np.float64]:
        """**Shape:** (k,): the least unary cost of each set."""
        return np.minimum.reduceat(self.arrays.unary, self.arrays.offsets[:-1])

    @cached_property
    def shift(self) -> float:
        """The sum of the least unary and pair costs: a lower bound but for rounding."""
        return float(self.unary_minima.sum() + self.block_minima.sum())

    @cached_property
    def magnitude(self) -> float:
        """The sum of the absolute values of the costs that make up `shift`."""
        return float(np.abs(self.unary_minima).sum() + np.abs(self.block_minima).sum())

    @cached_property
    def least(self) -> float:
        """A lower bound on the cost of every choice."""
        if self.integral:
            return self.shift
        return rounded_down(self.shift, self.magnitude, self.arrays.size**2)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int64], ...]:
        """For each pair of sets i < j: i, j, where its block begins, and the block's width."""
        first, second = np.triu_indices(self.arrays.size, 1)
        return first, second, self.arrays.starts[first, second], self.arrays.sizes[second]

    def terms(self, choices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the unary and pair costs of a choice."""
        first, second, starts, widths = self._pairs
        places = starts + choices[first] * widths + choices[second]
        return np.concatenate(
            [self.arrays.unary[self.arrays.offsets[:-1] + choices], self.arrays.blocks[places]]
        )

    def priced(self, bound: float) -> float:
        """Return a lower bound in the units of the problem, rounded down."""
        exact = Fraction(bound) * self.unit
        nearest = float(exact)
        return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)

    def given(self, choices: NDArray[Any]) -> NDArray[np.int32]:
        """Return choices in the problem's order of sets and candidates."""
        back = np.empty(len(choices), dtype=np.int32)
        back[self.set_order] = self.member_order[self.arrays.offsets[:-1] + choices]
        return back


def cost_table(problem: RepresentativesProblem, seed: int, clock: Clock) -> CostTable | None:
    """Lay out the costs of a problem of at least one set; None if there is too little time."""
    set_order, order, offsets = canonical_order(problem, seed)
    sizes = np.diff(offsets)
    members, unary = problem.members[order], problem.local_costs[order]
    k, n = len(sizes), len(members)
    passes = PASS * k * n  # seconds that the search then needs
    if passes > clock.seconds_left + OVERTIME:
        return None
    blocks = np.empty(int(n**2 - (sizes**2).sum()) // 2)
    whole = problem.distances.dtype.kind == "i"
    integral = whole and not unary.any() and problem.pair_weight > 0
    unit = Fraction(problem.weight) / (k - 1) if integral else Fraction(1)
    factor = 1.0 if integral else problem.pair_weight
    block_minima, at = np.zeros((k, k)), 0
    for j in range(1, k):
        if at > UNTIMED_COSTS and passes >= clock.seconds_left:
            return None
        rows = problem.distances[members[offsets[j] : offsets[j + 1]]]
        rows = rows.take(members[: offsets[j]], axis=1)
        nearest = np.minimum.reduceat(rows.min(axis=0), offsets[:j])
        np.multiply(nearest, factor, out=block_minima[:j, j])
        np.multiply(rows.T, factor, out=blocks[at : at + rows.size].reshape(rows.T.shape))
        at += rows.size
    return CostTable(
        CostArrays(unary, blocks, pair_starts(offsets), offsets),
        set_order,
        order - np.repeat(problem.offsets[set_order], sizes),
        block_minima,
        integral,
        unit,
    )


def canonical_order(
    problem: RepresentativesProblem, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Order the sets, and the allowed candidates of each, independently of the input's order.

    Candidates are sorted by their keys, equal vertices by local cost, and sets as the lists of
    these. Returns the numbers of the sets, the positions of their candidates in the problem, both
    in the new order, and where each set then begins.
    """
    # lists, since most problems have a dozen candidates
    rows = [*zip(problem.keys(seed).tolist(), problem.local_costs.tolist(), strict=True)]
    is_allowed, ends = problem.allowed.tolist().__getitem__, pairwise(problem.offsets.tolist())
    parts = [sorted(filter(is_allowed, range(*own)), key=rows.__getitem__) for own in ends]
    lists = [[*zip(*map(rows.__getitem__, part), strict=True)] for part in parts]
    numbers = sorted(range(problem.size), key=lists.__getitem__)
    order = [place for number in numbers for place in parts[number]]
    offsets = [0, *accumulate(len(parts[number]) for number in numbers)]
    return np.array(numbers), np.array(order), np.array(offsets)


def relative_tolerance(scale: float) -> float:
    """Return the tolerance for a choice whose absolute costs add up to `scale`.

    The constant, far below any real cost, covers sums of denormal numbers.
    """
    return 1e-9 * scale + 1e-250


def rounded_down(sums: Number, magnitudes: Number, terms: int) -> Number:
    """Return lower bounds on exact sums, from the sums as computed.

    Each sum has at most `terms` terms, each off by a few rounding errors, whose absolute values
    add up to its magnitude.

    Examples
    --------
    >>> rounded_down(0.1 + 0.2, 0.1 + 0.2, 2) < 0.3
    True
    """
    # twice the usual bound, since the magnitudes and the subtraction are rounded too
    operations = 2 * (terms + 4)
    return sums - operations * UNIT * magnitudes - operations * SMALLEST
