"""A bound on the cost of every choice, in fixed-point integers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .costs import PairCosts
from .kernels.exact import contract, search, sweep

__all__ = ["Relaxation", "quantise"]

#: Bits of the largest cost; the rest of the integer is room for what messages add.
NARROW, WIDE = 24, 46
#: Pair costs that are swept between two looks at the clock: some hundredths of a second.
SLICE = 4_000_000
#: Sweeps over which a bound must gain some part of what is missing, or has stalled.
PATIENCE = 5


@dataclass(eq=False)
class Relaxation:
    """A problem, or what is left of one, whose costs have been moved into unary costs.

    Attributes
    ----------
    scale
        Quanta that make one unit of cost.
    step
        No two different costs differ by fewer quanta.
    slack
        Quanta by which rounding may have changed the cost of a choice.
    shift, reach
        What the choices cost beyond the quanta; from shift + reach on, costs are not
        told apart.
    constant
        Quanta of what is decided.
    decided
        **Shape:** (k,): the position of the choice of each set, -1 while it is open.
    positions
        **Shape:** (n,): of the candidates left.
    bound
        Quanta that every choice left costs at least.
    """

    scale: float
    step: int
    slack: int
    shift: float
    reach: float
    constant: int
    decided: NDArray[np.int64]
    open_sets: NDArray[np.int64]
    positions: NDArray[np.int64]
    unary: NDArray[Any]
    blocks: NDArray[Any]
    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    messages: NDArray[Any]
    bound: int
    sweeps: int = 0

    def cutoff(self, cost: float) -> int:
        """Return the most quanta that a choice may have that is truly cheaper than `cost`."""
        quanta = min(cost - self.shift, self.reach) * self.scale
        if self.slack:
            return int(np.floor(quanta)) - 1 - self.slack
        return round(quanta) - self.step

    def lower(self, bound: int) -> float:
        """Return the cost that choices of at least `bound` quanta have at least."""
        if self.slack:
            return self.shift + (bound - self.slack) / self.scale
        return self.shift + -(-bound // self.step)

    @property
    def candidate_bounds(self) -> NDArray[np.int64]:
        """**Shape:** (n,): what the choices with each candidate cost at least, in quanta."""
        least = np.minimum.reduceat(self.unary, self.offsets[:-1]).astype(np.int64)
        others = self.constant + least.sum() - np.repeat(least, np.diff(self.offsets))
        bounds: NDArray[np.int64] = others + self.unary
        return bounds

    def ascend(self, cutoff: int, clock: Clock, sweeps: int, stalled: float = 0.05) -> None:
        """Raise the bound, until it passes `cutoff`, stalls, or time is up.

        It has stalled if five sweeps gain less than the part `stalled` of what is missing.
        """
        limit = 2 ** (NARROW + 4 if self.unary.dtype == np.int32 else WIDE + 12)
        earlier = [self.bound]
        for _ in range(sweeps):
            if self.bound > cutoff or clock.seconds_left == 0.0:
                return
            if not self._sweep(limit, clock):
                # the messages so far stay valid, but time or the integers' range is spent
                return
            earlier.append(self.bound)
            if len(earlier) > PATIENCE:
                missing = cutoff + 1 - self.bound
                if self.bound - earlier[-1 - PATIENCE] < stalled * missing:
                    return

    def _sweep(self, limit: int, clock: Clock) -> bool:
        """Pass messages between all pairs of sets; return whether all had their turn."""
        self.sweeps += 1
        k = len(self.open_sets)
        pairs = max(1, SLICE * k * (k - 1) // (2 * max(1, len(self.blocks))))
        for begin in range(0, max(1, k * (k - 1) // 2), pairs):
            if begin and clock.seconds_left == 0.0:
                return False
            within, bound = sweep(
                self.unary,
                self.blocks,
                self.starts,
                self.offsets,
                self.messages,
                limit,
                self.sweeps % 2 == 0,
                begin,
                begin + pairs,
            )
            self.bound = max(self.bound, self.constant + int(bound))
            if not within:
                return False
        return True

    def restrict(self, keep: NDArray[np.bool_], bound: int | None = None) -> Relaxation:
        """Keep some candidates, at least one of each set; decide the sets with one left."""
        ceiling = 2 ** (30 if self.unary.dtype == np.int32 else 60)
        constant, kept, still_open, unary, blocks, starts, offsets = contract(
            self.unary, self.blocks, self.starts, self.offsets, self.messages, keep, ceiling
        )
        decided = self.decided.copy()
        counts = np.add.reduceat(keep, self.offsets[:-1], dtype=np.int64)
        for i in np.flatnonzero(counts == 1):
            first = int(np.argmax(keep[self.offsets[i] : self.offsets[i + 1]]))
            decided[self.open_sets[i]] = self.positions[self.offsets[i] + first]
        return replace(
            self,
            constant=self.constant + int(constant),
            decided=decided,
            open_sets=self.open_sets[still_open],
            positions=self.positions[kept],
            unary=unary,
            blocks=blocks,
            starts=starts,
            offsets=offsets,
            messages=np.zeros((len(still_open), len(unary)), dtype=unary.dtype),
            bound=self.bound if bound is None else bound,
            sweeps=0,
        )

    def rounded(self) -> NDArray[np.int64]:
        """**Shape:** (k,): the positions of the candidates of least unary cost."""
        return self._completed(
            [
                int(np.argmin(self.unary[first:last]))
                for first, last in zip(self.offsets[:-1], self.offsets[1:], strict=True)
            ]
        )

    def search(self, cutoff: int, nodes: int) -> tuple[NDArray[np.int64] | None, bool]:
        """Look depth first for the cheapest choice up to `cutoff`; say if all was seen."""
        if self.sweeps:
            # the messages must be taken out of the blocks
            return self.restrict(np.ones(len(self.unary), dtype=bool)).search(cutoff, nodes)
        choices = np.full(len(self.open_sets), -1, dtype=np.int64)
        room = cutoff - self.constant
        cost, visited = search(
            self.unary, self.blocks, self.starts, self.offsets, room, self.step, nodes, choices
        )
        found = self._completed(choices) if cost <= room else None
        return found, visited <= nodes

    def _completed(self, choices: Any) -> NDArray[np.int64]:
        positions = self.decided.copy()
        for at, choice in enumerate(choices):
            positions[self.open_sets[at]] = self.positions[self.offsets[at] + choice]
        return positions


def quantise(costs: PairCosts, upper: float) -> Relaxation:
    """Turn costs into integers: exact where all are whole, else about 2**-46 of the range.

    Each term is shifted to a least cost of 0, and clipped at what alone takes a choice to
    `upper`: no term is worth more digits, and one enormous cost spoils no other.
    """
    shift = float(costs.unary_minima.sum() + costs.block_minima.sum())
    k = costs.size
    terms = k * (k + 1) // 2
    reach = max(upper - shift, 0.0)
    dtype: Any
    if costs.integral:
        step = int(2**NARROW // (terms * max(reach, 1.0)))
        dtype = np.int32 if step >= 2**8 else np.int64
        if dtype is np.int64:
            step = max(1, int(2**WIDE // (terms * max(reach, 1.0))))
        scale, slack = float(step), 0
    else:
        dtype, step, slack = np.int64, 1, terms
        scale = 2.0**WIDE / (terms * reach) if reach > 0 else 1.0
        if not np.isfinite(scale):
            scale = 1.0
    unary = costs.unary - np.repeat(costs.unary_minima, np.diff(costs.offsets))
    blocks = np.empty(len(costs.blocks), dtype=dtype)
    for i in range(k):
        for j in range(i + 1, k):
            block = costs.block(i, j)
            start = costs.starts[i, j]
            blocks[start : start + block.size] = np.rint(
                np.minimum(block - costs.block_minima[i, j], reach) * scale
            ).ravel()
    root = Relaxation(
        scale=scale,
        step=step,
        slack=slack,
        shift=shift,
        reach=reach,
        constant=0,
        decided=np.full(k, -1, dtype=np.int64),
        open_sets=np.arange(k),
        positions=np.arange(len(unary)),
        unary=np.rint(np.minimum(unary, reach) * scale).astype(dtype),
        blocks=blocks,
        starts=costs.starts,
        offsets=costs.offsets,
        messages=np.zeros((k, len(unary)), dtype=dtype),
        bound=0,
    )
    if np.diff(costs.offsets).min() > 1:
        return root
    return root.restrict(np.ones(len(unary), dtype=bool))
