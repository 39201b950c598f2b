"""Message passing on what is left of a problem: it proposes the potentials of its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .fixed_point import BITS, FixedPoint
from .kernels.layout import CostArrays, pair_starts
from .kernels.message_passing import Remainder, contract, sweep

__all__ = ["Subproblem"]

#: Pair costs that are swept between two looks at the clock: some hundredths of a second.
SLICE = 4_000_000
#: Sweeps over which a bound must gain some part of what is missing, or has stalled.
PATIENCE = 5


@dataclass(eq=False)
class Subproblem:
    """A box of choices, some candidates of each set, whose costs move into unary costs."""

    #: The costs of all candidates.
    numbers: FixedPoint
    #: **Shape:** (n,): the candidates in the box.
    keep: NDArray[np.bool_]
    #: **Shape:** (k, n): the potentials that the boxes around this one have found.
    carried: NDArray[np.int64]
    #: Quanta of what is decided.
    constant: int
    #: The sets with several candidates left, and the positions of these.
    open_sets: NDArray[np.int64]
    positions: NDArray[np.int64]
    #: Their costs after what is carried.
    costs: CostArrays
    #: **Shape:** (open sets, positions): the potentials found since.
    messages: NDArray[Any]
    #: Quanta that every choice left costs at least, as the sweeps say: it tells when to
    #: stop, and proves nothing.
    estimate: int = 0
    sweeps: int = 0
    _after: tuple[int, NDArray[np.int64], NDArray[np.int64] | None] | None = None

    @classmethod
    def of(cls, numbers: FixedPoint) -> Subproblem:
        """Begin with all choices."""
        n = len(numbers.arrays.unary)
        root = cls(
            numbers=numbers,
            keep=np.ones(n, dtype=bool),
            carried=np.zeros((numbers.size, n), dtype=np.int64),
            constant=0,
            open_sets=np.arange(numbers.size),
            positions=np.arange(n),
            costs=numbers.arrays,
            messages=np.zeros((numbers.size, n), dtype=np.int64),
        )
        if np.diff(numbers.offsets).min() > 1:
            # the sweeps change unary costs in place
            root.costs = root.costs._replace(unary=root.costs.unary.copy())
            return root
        return root.restrict(root.keep)

    @property
    def potentials(self) -> NDArray[np.int64]:
        """**Shape:** (k, n): of the pair costs with each set, what each candidate pays alone.

        None where sums of them could leave the integers' range.
        """
        return self._known()[0]

    def bounds(self) -> NDArray[np.int64]:
        """**Shape:** (n,): the quanta that the choices with each candidate cost at least.

        Looked up in the costs, apart from the sweeps.
        """
        potentials, bounds = self._known()
        if bounds is None:
            bounds = self.numbers.bounds(self.keep, potentials)
            self._after = self.sweeps, potentials, bounds
        return bounds

    def _known(self) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return the potentials after the last sweep, and their bounds if they were asked for."""
        if self._after is None or self._after[0] != self.sweeps:
            potentials = self.carried.copy()
            potentials[self.open_sets[:, None], self.positions] += self.messages
            most = 2**61 // (4 * (self.numbers.size + 1) ** 2)
            if potentials.max() > most or potentials.min() < -most:
                potentials[:] = 0
            self._after = self.sweeps, potentials, None
        return self._after[1:]

    def raise_bound(self, cutoff: int, clock: Clock, sweeps: int, stalled: float = 0.05) -> None:
        """Raise the bound, until it passes `cutoff`, stalls, or time is up.

        It has stalled if five sweeps gain less than the part `stalled` of what is missing.
        """
        limit = 2 ** (BITS + 12)
        earlier = [self.estimate]
        for _ in range(sweeps):
            if self.estimate > cutoff or clock.seconds_left == 0.0:
                return
            if not self._sweep(limit, clock):
                # the messages so far stay valid, but time or the integers' range is spent
                return
            earlier.append(self.estimate)
            if len(earlier) > PATIENCE:
                missing = cutoff + 1 - self.estimate
                if self.estimate - earlier[-1 - PATIENCE] < stalled * missing:
                    return

    def _sweep(self, limit: int, clock: Clock) -> bool:
        """Pass messages between all pairs of sets; return whether all had their turn."""
        self.sweeps += 1
        k = len(self.open_sets)
        pairs = max(1, SLICE * k * (k - 1) // (2 * max(1, len(self.costs.blocks))))
        for begin in range(0, max(1, k * (k - 1) // 2), pairs):
            if begin and clock.seconds_left == 0.0:
                return False
            within, estimate = sweep(
                tuple(self.costs), self.messages, limit, self.sweeps % 2 == 0, begin, begin + pairs
            )
            self.estimate = max(self.estimate, self.constant + int(estimate))
            if not within:
                return False
        return True

    def restrict(self, keep: NDArray[np.bool_]) -> Subproblem:
        """Return the box of some candidates of this one, at least one of each set."""
        inside = keep[self.positions]
        counts = np.add.reduceat(inside, self.costs.offsets[:-1], dtype=np.int64)
        places = np.flatnonzero(inside)
        chosen = np.where(counts == 1, places[np.cumsum(counts) - counts], -1)
        still_open = np.flatnonzero(counts > 1)
        places = places[np.repeat(counts > 1, counts)]
        sizes = counts[still_open]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        left = Remainder(chosen, still_open, places, offsets, pair_starts(sizes))
        constant, unary, blocks = contract(tuple(self.costs), self.messages, left)
        return Subproblem(
            numbers=self.numbers,
            keep=keep,
            carried=self.potentials,
            constant=self.constant + int(constant),
            open_sets=self.open_sets[still_open],
            positions=self.positions[places],
            costs=CostArrays(unary, blocks, left.starts, left.offsets),
            messages=np.zeros((len(still_open), len(unary)), dtype=np.int64),
            estimate=self.estimate,
        )

    def rounded(self) -> NDArray[np.int64]:
        """**Shape:** (k,): the candidate of least unary cost in each set."""
        kept = np.flatnonzero(self.keep)
        choices = kept[np.searchsorted(kept, self.numbers.offsets[:-1])]
        for at, i in enumerate(self.open_sets):
            first, last = self.costs.offsets[at], self.costs.offsets[at + 1]
            choices[i] = self.positions[first + np.argmin(self.costs.unary[first:last])]
        choices_by_set: NDArray[np.int64] = choices - self.numbers.offsets[:-1]
        return choices_by_set
