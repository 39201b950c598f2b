"""Splitting a problem until the bound of every part meets the best choice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .costs import PairCosts
from .kernels.exact import descend
from .local_search import total_cost
from .relaxation import Relaxation, quantise

__all__ = ["BranchAndBound"]

#: Depth-first steps before a subproblem is split and bounded anew; fewer where each has so
#: many candidates to look at that this takes long.
STEPS, LOOKS = 20_000, 20_000_000
#: Sweeps of message passing over the whole problem, and over a part of it.
ROOT_SWEEPS, SWEEPS = 1000, 40
#: What part of the missing five sweeps must gain; less for what is too large to split.
STALLED, LARGE_STALLED = 0.05, 0.005
#: Pairs of candidates that make a problem large.
LARGE = 5_000_000
#: Alternatives of a set from which its margin's local search starts.
ALTERNATIVES = 8
#: A quantum meant for a range this much wider than the gap wastes digits.
WASTE = 2.0**12

#: What float64 may lose, relatively, in the sum of a few thousand costs.
ROUNDING = 1e-12

#: A relaxation, which of its candidates to keep (None: all), and a bound.
Part = tuple[Relaxation, NDArray[np.bool_] | None, int]


class BranchAndBound:
    """The search of `ExactRepresentatives`, over costs laid out in canonical order.

    Attributes
    ----------
    choices
        The best so far.
    upper, bound
        What it costs, and what every choice costs at least.
    rounding
        By how much float64 and the quanta may deceive about the difference of the two.
    nodes
        Subproblems bounded.
    """

    def __init__(self, costs: PairCosts, choices: NDArray[np.int64], clock: Clock) -> None:
        self.costs = costs
        self.clock = clock
        self.choices = choices
        self.upper = total_cost(costs, choices)
        self.bound = costs.least
        self.rounding = ROUNDING * max(1.0, abs(self.upper))
        self.nodes = 0
        self._root: Relaxation | None = None

    def solve(self) -> None:
        """Close the gap between `upper` and `bound`, as far as time allows."""
        while self.bound + self.rounding < self.upper and not self.clock.exhausted(self.nodes):
            gap = self.upper - self.bound
            reach = min(self._alternative(), self.upper + WASTE * gap)
            self._root = root = quantise(self.costs, max(self.upper, reach))
            self.upper, choices, bound = self._explore(root, self.upper, -1, ROOT_SWEEPS)
            self.choices = self.choices if choices is None else choices
            if bound > self.bound:
                self.bound = min(bound, self.upper)
                if root.slack:
                    self.rounding = max(self.rounding, 3.0 * (root.slack + 1) / root.scale)
            if not root.slack or self.upper - root.shift >= gap / WASTE:
                break
            # a far better choice was found: finer quanta now tell more

    def margins(self, exact: bool) -> NDArray[np.float64]:
        """**Shape:** (k,): what choosing otherwise costs more, in each set.

        Proven where `exact` and time allows; else the least that it may be.
        """
        margins = np.full(self.costs.size, np.inf)
        proven = self.bound + self.rounding >= self.upper
        exact = exact and proven and not self.clock.exhausted(self.nodes)
        root, reach = self._root, self._alternative()
        if exact and (root is None or root.shift + root.reach < reach):
            root = quantise(self.costs, reach)
            root.ascend(root.cutoff(reach), self.clock, SWEEPS)
        for i, (first, last) in enumerate(self._spans()):
            if last - first == 1:
                continue
            by_itself = np.delete(self.costs.unary[first:last], self.choices[i]).min()
            lower = max(self.bound, self._shift + by_itself - self.costs.unary_minima[i])
            if root is None:
                margins[i] = lower - self.upper
                continue
            at = int(np.searchsorted(root.open_sets, i))
            others = root.positions[root.offsets[at] : root.offsets[at + 1]] != (
                first + self.choices[i]
            )
            bounds = root.candidate_bounds[root.offsets[at] : root.offsets[at + 1]]
            bound = max(root.bound, int(bounds[others].min()))
            lower = max(lower, root.lower(bound))
            if exact and not self.clock.exhausted(self.nodes):
                upper = self._best_without(i)
                if lower < upper:
                    keep = np.ones(len(root.positions), dtype=bool)
                    keep[root.offsets[at] : root.offsets[at + 1]] = others
                    part = root.restrict(keep, bound)
                    upper, _, proof = self._explore(part, upper, i, SWEEPS)
                    lower = max(lower, proof)
                lower = min(lower, upper)
            margins[i] = lower - self.upper
        return margins

    @property
    def _shift(self) -> float:
        """What every choice costs at least, by the least of each cost alone."""
        return float(self.costs.unary_minima.sum() + self.costs.block_minima.sum())

    def _explore(
        self, root: Relaxation, upper: float, frozen: int, sweeps: int
    ) -> tuple[float, NDArray[np.int64] | None, float]:
        """Return the least cost below `upper`, the choices if there are, and a bound."""
        best: NDArray[np.int64] | None = None
        stack: list[Part] = [(root, None, root.bound)]
        while stack:
            cutoff = root.cutoff(upper)
            part, keep, bound = stack.pop()
            if bound > cutoff:
                continue
            if self.clock.exhausted(self.nodes):
                least = min([bound, *(left for _, _, left in stack)])
                return upper, best, min(upper, root.lower(least))
            self.nodes += 1
            if keep is not None:
                part = part.restrict(keep, bound)
            part, found = self._narrowed(part, upper, frozen, sweeps)
            sweeps = SWEEPS
            for choices in found:
                cost = total_cost(self.costs, choices)
                if cost < upper:
                    upper, best = cost, choices
            cutoff = root.cutoff(upper)
            if part.bound > cutoff or not len(part.open_sets):
                continue
            if self.clock.seconds_left == 0.0:
                stack.append((part, None, part.bound))
                continue
            positions, complete = part.search(cutoff, min(STEPS, LOOKS // len(part.unary)))
            if positions is not None:
                choices = positions - self.costs.offsets[:-1]
                upper, best = total_cost(self.costs, choices), choices
            if not complete:
                stack.extend(_split(part))
        return upper, best, min(upper, root.lower(root.cutoff(upper) + root.step))

    def _narrowed(
        self, part: Relaxation, upper: float, frozen: int, sweeps: int
    ) -> tuple[Relaxation, list[NDArray[np.int64]]]:
        """Raise the bound and drop candidates in turns; also return choices met on the way."""
        found: list[NDArray[np.int64]] = []
        while len(part.open_sets):
            stalled = LARGE_STALLED if len(part.blocks) > LARGE else STALLED
            part.ascend(part.cutoff(upper), self.clock, sweeps, stalled)
            if part.bound > part.cutoff(upper):
                break
            choices = part.rounded() - self.costs.offsets[:-1]
            self._descend(choices, frozen)
            found.append(choices)
            upper = min(upper, total_cost(self.costs, choices))
            if part.bound > part.cutoff(upper) or self.clock.seconds_left == 0.0:
                break
            keep = part.candidate_bounds <= part.cutoff(upper)
            if keep.all():
                break
            share = keep.mean()
            part = part.restrict(keep)
            if share > 0.8:
                break
        if not len(part.open_sets):
            found.append(part.decided - self.costs.offsets[:-1])
        return part, found

    def _descend(self, choices: NDArray[np.int64], frozen: int) -> NDArray[np.float64]:
        costs = self.costs
        values: NDArray[np.float64] = descend(
            costs.unary, costs.blocks, costs.starts, costs.offsets, choices, frozen
        )
        return values

    def _alternative(self) -> float:
        """Return the highest cost that the best single change in one set leads to.

        Without the changes that are out of all proportion: they are told by the unary
        costs alone, and would cost the others their digits.
        """
        values = self._descend(self.choices.copy(), -1)
        changes = [
            np.delete(values[first:last], chosen).min() - values[first + chosen]
            for chosen, (first, last) in zip(self.choices, self._spans(), strict=True)
            if last - first > 1
        ]
        least = min((c for c in changes if c > 0), default=0.0)
        return self.upper + max((c for c in changes if c <= WASTE**2 * least), default=0.0)

    def _best_without(self, i: int) -> float:
        """Return the least cost found by local search with another candidate in set i."""
        values = self._descend(self.choices.copy(), -1)
        first, last = self._spans()[i]
        order = np.argsort(values[first:last], kind="stable")
        least = np.inf
        for x in order[order != self.choices[i]][:ALTERNATIVES]:
            choices = self.choices.copy()
            choices[i] = x
            self._descend(choices, i)
            least = min(least, total_cost(self.costs, choices))
            if least <= self.upper:
                break
        return least

    def _spans(self) -> list[tuple[int, int]]:
        offsets = self.costs.offsets.tolist()
        return list(pairwise(offsets))


def _split(part: Relaxation) -> list[Part]:
    """Decide the set with the fewest candidates each way; the most promising comes last."""
    at = int(np.argmin(np.diff(part.offsets)))
    first, last = part.offsets[at], part.offsets[at + 1]
    bounds = part.candidate_bounds[first:last]
    children: list[Part] = []
    for x in np.argsort(-bounds, kind="stable"):
        keep = np.ones(len(part.positions), dtype=bool)
        keep[first:last] = False
        keep[first + x] = True
        children.append((part, keep, max(part.bound, int(bounds[x]))))
    return children
