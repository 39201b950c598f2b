"""Message passing on what is left of a problem: it proposes the potentials of its bound."""

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

#: Pair costs that are swept between two looks at the clock: some hundredths of a second.
SLICE = 4_000_000
#: Seconds to look a pair cost up for the bounds of a box, and again for a smaller one, on a slow
#: machine.
LOOK = 1e-8
#: Sweeps over which a bound must gain some part of what is missing, or has stalled.
PATIENCE = 5


@dataclass(eq=False)
class Subproblem:
    """A box of choices, some candidates of each set, whose costs move into unary costs."""

    #: The costs of all candidates.
    numbers: FixedPoint
    #: **Shape:** (n,): the candidates in the box.
    keep: NDArray[np.bool_]
    #: **Shape:** (k, n): of the pair costs with each set, what each candidate pays alone: what the
    #: boxes around this one have found and, after each raise of the bound, what was found since.
    potentials: NDArray[np.int64]
    #: The positions of these candidates.
    positions: NDArray[np.int64]
    #: Their costs after what was carried here, and quanta that every choice costs beside.
    costs: CostArrays
    constant: int
    #: **Shape:** (k, positions): the potentials found since, and those carried here.
    messages: NDArray[Any]
    carried: NDArray[np.int64]
    #: Quanta that every choice left costs at least, as the sweeps say: it tells when to
    #: stop, and proves nothing.
    estimate: int = 0
    _bounds: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, numbers: FixedPoint) -> Subproblem:
        """Begin with all choices."""
        n = len(numbers.arrays.unary)
        nothing = np.zeros((numbers.size, n), dtype=np.int64)
        return cls(
            numbers=numbers,
            keep=np.ones(n, dtype=bool),
            potentials=nothing,
            positions=np.arange(n),
            # the sweeps change unary costs in place
            costs=numbers.arrays._replace(unary=numbers.arrays.unary.copy()),
            constant=0,
            messages=nothing.copy(),
            carried=nothing,
        )

    @property
    def is_decided(self) -> bool:
        """Whether one candidate of each set is left."""
        return len(self.positions) == self.numbers.size

    @property
    def looking(self) -> float:
        """Seconds that the bounds of the box may take."""
        return LOOK * len(self.costs.blocks)

    def bounds(self) -> NDArray[np.int64]:
        """**Shape:** (n,): the quanta that the choices with each candidate cost at least.

        Looked up in the costs, apart from the sweeps.
        """
        if self._bounds is None:
            self._bounds = self.numbers.bounds(self.keep, self.potentials)
        return self._bounds

    def raise_bound(self, cutoff: int, clock: Clock, sweeps: int, stalled: float = 0.05) -> None:
        """Raise the bound, until it passes `cutoff`, stalls, or time is up.

        It has stalled if five sweeps gain less than the part `stalled` of what is missing.
        """
        limit = 2 ** (BITS + 12)
        earlier, looking = [self.estimate], self.looking
        for _ in range(sweeps):
            if self.estimate > cutoff or clock.seconds_left <= looking:
                break
            if not self._sweep(limit, clock):
                # the messages so far stay valid, but time or the integers' range is spent
                break
            earlier.append(self.estimate)
            if len(earlier) > PATIENCE:
                missing = cutoff + 1 - self.estimate
                if self.estimate - earlier[-1 - PATIENCE] < stalled * missing:
                    break
        self.potentials, self._bounds = self.carried.copy(), None
        self.potentials[:, self.positions] += self.messages
        # none where sums of them could leave the integers' range
        most = 2**61 // (4 * (self.numbers.size + 1) ** 2)
        if self.potentials.max() > most or self.potentials.min() < -most:
            self.potentials[:] = 0

    def _sweep(self, limit: int, clock: Clock) -> bool:
        """Pass messages between all pairs of sets; return whether all had their turn."""
        k = self.numbers.size
        pairs = max(1, SLICE * k * (k - 1) // (2 * max(1, len(self.costs.blocks))))
        for begin in range(0, max(1, k * (k - 1) // 2), pairs):
            if begin and clock.seconds_left <= self.looking:
                return False
            within, estimate = sweep(tuple(self.costs), self.messages, limit, begin, begin + pairs)
            self.estimate = max(self.estimate, self.constant + int(estimate))
            if not within:
                return False
        return True

    def restrict(self, keep: NDArray[np.bool_]) -> Subproblem:
        """Return the box of some candidates of this one, at least one of each set.

        Its costs are looked up anew, as what the potentials leave of them.
        """
        box = Box.of(keep, self.numbers.offsets)
        left = reduced(self.numbers.arrays, box, self.potentials)
        return Subproblem(
            numbers=self.numbers,
            keep=keep,
            potentials=self.potentials,
            positions=box.kept,
            costs=CostArrays(left.paid, left.pairs, left.starts, box.ends),
            constant=int(left.constant),
            messages=np.zeros((self.numbers.size, len(box.kept)), dtype=np.int64),
            carried=self.potentials,
            estimate=self.estimate,
        )

    def rounded(self) -> NDArray[np.int64]:
        """**Shape:** (k,): the candidate of least unary cost in each set."""
        cheapest = [
            self.positions[first + np.argmin(self.costs.unary[first:last])]
            for first, last in pairwise(self.costs.offsets.tolist())
        ]
        return np.array(cheapest) - self.numbers.offsets[:-1]
