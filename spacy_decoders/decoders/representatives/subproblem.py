"""Message passing on a part of a problem: it proposes the potentials of its bound."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .fixed_point import BITS, FixedPoint
from .kernels.evaluation import reduced
from .kernels.layout import Box, CostArrays
from .kernels.message_passing import sweep

__all__ = ["Subproblem"]

#: Pair costs that are swept between two checks of the clock: some hundredths of a second.
COSTS_PER_CHECK = 4_000_000
#: Seconds for each pair cost of a box to bound it, and to restrict it, on a slow machine.
BOUNDING = 1e-8
#: The bound has stalled if so many sweeps close less than this share of the gap.
PATIENCE, STALLED = 5, 0.05


@dataclass(eq=False)
class Subproblem:
    """A box of choices, some candidates of each set, whose pair costs move into unary costs."""

    #: The costs of all candidates.
    numbers: FixedPoint
    #: **Shape:** (n,): the candidates in the box.
    keep: NDArray[np.bool_]
    #: **Shape:** (k, n): the part of the pair costs with each set that each candidate pays alone.
    potentials: NDArray[np.int64]
    #: The positions of the candidates in the box.
    positions: NDArray[np.int64]
    #: Their costs as reduced by `inherited`, and the quanta that every choice pays besides.
    costs: CostArrays
    constant: int
    #: **Shape:** (k, positions): the potentials found by this box's own sweeps.
    messages: NDArray[Any]
    #: **Shape:** (k, n): the potentials of the box that this one was cut from.
    inherited: NDArray[np.int64]
    #: The lower bound in quanta that the sweeps report: it decides when to stop, and proves
    #: nothing.
    estimate: int = 0
    _bounds: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, numbers: FixedPoint) -> Subproblem:
        """Return the box of all choices."""
        n = len(numbers.arrays.unary)
        nothing = np.zeros((numbers.arrays.size, n), dtype=np.int64)
        return cls(
            numbers=numbers,
            keep=np.ones(n, dtype=bool),
            potentials=nothing,
            positions=np.arange(n),
            # the sweeps change unary costs in place
            costs=numbers.arrays._replace(unary=numbers.arrays.unary.copy()),
            constant=0,
            messages=nothing.copy(),
            inherited=nothing,
        )

    @property
    def is_decided(self) -> bool:
        """Whether one candidate of each set is left."""
        return len(self.positions) == self.numbers.arrays.size

    @property
    def bounding_time(self) -> float:
        """Seconds that computing the bounds of the box may take."""
        return BOUNDING * len(self.costs.blocks)

    def bounds(self) -> NDArray[np.int64]:
        """**Shape:** (n,): a lower bound, in quanta, on the choices with each candidate.

        Computed from the costs and the potentials, independently of the sweeps.
        """
        if self._bounds is None:
            self._bounds = self.numbers.bounds(self.keep, self.potentials)
        return self._bounds

    def raise_bound(self, cutoff: int, clock: Clock, sweeps: int) -> None:
        """Raise the bound by messages until it exceeds `cutoff`, stalls, or time runs out."""
        limit = 2 ** (BITS + 12)
        earlier, bounding_time = [self.estimate], self.bounding_time
        for _ in range(sweeps):
            if self.estimate > cutoff or clock.seconds_left <= bounding_time:
                break
            if not self._sweep(limit, clock):
                # out of time, or of the integers' range; the messages so far are valid
                break
            earlier.append(self.estimate)
            if len(earlier) > PATIENCE:
                missing = cutoff + 1 - self.estimate
                if self.estimate - earlier[-1 - PATIENCE] < STALLED * missing:
                    break
        self.potentials, self._bounds = self.inherited.copy(), None
        self.potentials[:, self.positions] += self.messages
        # without potentials if their sums could overflow
        most = 2**61 // (4 * (self.numbers.arrays.size + 1) ** 2)
        if self.potentials.max() > most or self.potentials.min() < -most:
            self.potentials[:] = 0

    def _sweep(self, limit: int, clock: Clock) -> bool:
        """Pass messages between all pairs of sets; return whether the sweep was completed."""
        k = self.numbers.arrays.size
        pairs = max(1, COSTS_PER_CHECK * k * (k - 1) // (2 * max(1, len(self.costs.blocks))))
        for begin in range(0, max(1, k * (k - 1) // 2), pairs):
            if begin and clock.seconds_left <= self.bounding_time:
                return False
            within, estimate = sweep(tuple(self.costs), self.messages, limit, begin, begin + pairs)
            self.estimate = max(self.estimate, self.constant + int(estimate))
            if not within:
                return False
        return True

    def restrict(self, keep: NDArray[np.bool_]) -> Subproblem:
        """Return the box of some of this one's candidates, at least one of each set.

        Its costs are computed anew, reduced by the potentials.
        """
        box = Box.of(keep, self.numbers.arrays.offsets)
        left, constant = reduced(self.numbers.arrays, box, self.potentials)
        return Subproblem(
            numbers=self.numbers,
            keep=keep,
            potentials=self.potentials,
            positions=box.kept,
            costs=left,
            constant=int(constant),
            messages=np.zeros((self.numbers.arrays.size, len(box.kept)), dtype=np.int64),
            inherited=self.potentials,
            estimate=self.estimate,
        )

    def rounded(self) -> NDArray[np.int64]:
        """**Shape:** (k,): the choice of the candidate of least reduced unary cost in each set."""
        cheapest = [
            self.positions[first + np.argmin(self.costs.unary[first:last])]
            for first, last in pairwise(self.costs.offsets.tolist())
        ]
        return np.array(cheapest) - self.numbers.arrays.offsets[:-1]
