"""Branch and bound: splitting a problem until the bound of every part meets the best choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from ...certificate import largest_tolerance
from .costs import LEAST, CostTable, relative_tolerance
from .fixed_point import FixedPoint, quantise
from .kernels.descent import descend
from .kernels.enumeration import Found, search
from .kernels.evaluation import ReducedCosts
from .kernels.layout import LARGEST
from .local_search import total_cost
from .solutions import least_of_others
from .subproblem import Subproblem

__all__ = ["SWEEPS", "ExactSearch", "Exploration", "explore", "improved"]

#: Sweeps of message passing over the whole problem, and over a part of it.
ROOT_SWEEPS, SWEEPS = 1000, 40
#: The part of the gap that five sweeps must close; a smaller one for boxes too large to split.
STALLED, LARGE_STALLED = 0.05, 0.005
#: Pairs of candidates that make a problem large.
LARGE = 5_000_000
#: A quantum meant for a range this much wider than the gap wastes digits.
WASTE = 2.0**12
#: Depth-first steps before a box is split and bounded anew; fewer where each has so many
#: candidates to look at that this takes long, and none beyond so many candidates.
STEPS, LOOKS, MOST = 20_000, 20_000_000, 2_000


class OpenNode(NamedTuple):
    """A box to be searched: what it is cut from, what to keep of that, and its bound in quanta."""

    box: Subproblem
    keep: NDArray[np.bool_] | None
    bound: int


class ExactSearch:
    """The search of `ExactRepresentatives`, over costs laid out in canonical order."""

    def __init__(self, costs: CostTable, choices: NDArray[np.int64], clock: Clock) -> None:
        self.costs = costs
        self.clock = clock
        self.choices = choices  # the best so far
        self.upper = total_cost(costs, choices)  # what they cost
        self.bound = costs.least  # what every choice costs at least
        self.resolution = 0.0  # by how much the quanta may lower the bound
        self.nodes = 0  # subproblems bounded
        # the whole problem with the potentials found for it
        self.root: Subproblem | None = None

    @property
    def tolerance(self) -> float:
        """How far `bound` may lie below `upper` where both are proven to be the same."""
        scale = float(np.abs(self.costs.terms(self.choices)).sum())
        return min(relative_tolerance(scale) + self.resolution, largest_tolerance(scale))

    def solve(self) -> None:
        """Close the gap between `upper` and `bound`, as far as time allows."""
        range_before = np.inf
        while self.upper - self.bound > self.tolerance and not self.clock.exhausted(self.nodes):
            gap = self.upper - self.bound
            reach = max(self.upper, min(self._alternative(), self.upper + WASTE * gap))
            if not reach - self.costs.shift < range_before / 2:
                break
            # another round only with finer quanta: a far better choice was found
            range_before = reach - self.costs.shift
            numbers = quantise(self.costs, reach, self.clock)
            if numbers is None:
                break
            root = Subproblem.of(numbers)
            found = explore(self.costs, root, self.upper, self.clock, self.nodes)
            if found.nodes > self.nodes:
                self.root, self.nodes = root, found.nodes
            if found.choices is not None:
                self.upper, self.choices = found.upper, found.choices
            if numbers.lower(found.least) > self.bound:
                self.bound = numbers.lower(found.least)
                self.resolution = numbers.resolution

    def _alternative(self) -> float:
        """Return the highest cost that the best single change in one set leads to.

        Without the changes that are out of all proportion: they would cost the others their
        digits.
        """
        costs, choices = self.costs, self.choices
        _, values = improved(costs, choices, -1)
        changes = least_of_others(values, costs.offsets, choices)
        changes = (changes - values[costs.offsets[:-1] + choices])[costs.sizes > 1]
        least = changes[changes > 0].min() if (changes > 0).any() else 0.0
        near = changes[changes <= WASTE**2 * least]
        return self.upper + (float(near.max()) if len(near) else 0.0)


def improved(
    costs: CostTable, choices: NDArray[np.int64], frozen: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return choices after local search, all but of the set `frozen`, and what changes cost."""
    better = choices.copy()
    values = descend(tuple(costs.arrays), better, frozen)
    return better, values


def explore(
    costs: CostTable,
    root: Subproblem,
    upper: float,
    clock: Clock,
    nodes: int = 0,
    frozen: int = -1,
    sweeps: int = ROOT_SWEEPS,
) -> Exploration:
    """Search a box for choices cheaper than `upper`.

    Every box that is left out, and every candidate, has a bound of its own that was looked up
    in the costs; the least of all these is what is returned, and the sweeps' word is not
    taken for any.
    """
    search = Exploration(costs, root.numbers, upper, clock, frozen, nodes)
    stack = [OpenNode(root, None, 0)]
    while stack:
        part = stack.pop()
        if part.bound > search.cutoff:
            search.leave(part.bound)
        elif clock.exhausted(search.nodes) or part.box.looking > clock.seconds_left + LEAST:
            for left in (part, *stack):
                search.leave(left.bound)
            break
        else:
            search.nodes += 1
            stack.extend(search.parts(part, sweeps))
            sweeps = SWEEPS
    return search


@dataclass(eq=False)
class Exploration:
    """A search of a box: the best so far, and the least bound of what it left out."""

    costs: CostTable
    numbers: FixedPoint
    upper: float  # the least cost met
    clock: Clock
    frozen: int
    nodes: int  # subproblems bounded
    choices: NDArray[np.int64] | None = None  # what costs `upper`; None if nothing below was met
    least: int = LARGEST  # quanta that every choice in the box costs at least
    cutoff: int = field(init=False)  # the most quanta of what is cheaper than `upper`

    def __post_init__(self) -> None:
        self.cutoff = self.numbers.cutoff(self.upper)

    def leave(self, bound: int) -> None:
        self.least = min(self.least, bound)

    def offer(self, choices: NDArray[np.int64]) -> None:
        cost = total_cost(self.costs, choices)
        if cost < self.upper:
            self.upper, self.choices = cost, choices
            self.cutoff = self.numbers.cutoff(cost)

    def parts(self, part: OpenNode, sweeps: int) -> list[OpenNode]:
        """Narrow a box, then see all of it, or return what it splits into."""
        box, bound = part.box if part.keep is None else part.box.restrict(part.keep), part.bound
        stalled = LARGE_STALLED if len(box.costs.blocks) > LARGE else STALLED
        if not box.is_decided:
            box.raise_bound(self.cutoff, self.clock, sweeps, stalled)
        bounds = np.maximum(box.bounds(), bound)
        bound = int(bounds.min())
        if bound <= self.cutoff:
            self.offer(improved(self.costs, box.rounded(), self.frozen)[0])
        if bound > self.cutoff or box.is_decided:
            self.leave(bound)
            return []
        keep = bounds <= self.cutoff
        self.leave(int(bounds[box.keep & ~keep].min(initial=LARGEST)))
        box = box.restrict(keep)
        if self.clock.seconds_left == 0.0:
            return [OpenNode(box, None, bound)]
        seen = _enumerated(box, self.cutoff)
        if seen is None:
            return _split(box, bounds)
        self.leave(max(int(seen.least), bound))
        if seen.best <= self.cutoff:
            self.offer(seen.choices)
        return []


def _split(box: Subproblem, bounds: NDArray[np.int64]) -> list[OpenNode]:
    """Decide the set with the fewest candidates each way; the most promising comes last."""
    sizes = np.diff(box.costs.offsets)
    i = int(np.argmin(np.where(sizes > 1, sizes, LARGEST)))
    candidates = box.positions[box.costs.offsets[i] : box.costs.offsets[i + 1]]
    others = box.keep.copy()
    others[box.numbers.offsets[i] : box.numbers.offsets[i + 1]] = False
    children: list[OpenNode] = []
    for x in candidates[np.argsort(-bounds[candidates], kind="stable")]:
        keep = others.copy()
        keep[x] = True
        children.append(OpenNode(box, keep, int(bounds[x])))
    return children


def _enumerated(box: Subproblem, cutoff: int) -> Found | None:
    """Look at all choices of a new box that may cost `cutoff` quanta at most; None if too many.

    The potentials, of which any are valid, make the bounds of partial choices good.
    """
    candidates, (unary, pairs, starts, ends) = box.positions, box.costs
    if len(candidates) > MOST:
        return None
    steps = min(STEPS, LOOKS // len(candidates))
    costs = ReducedCosts(unary, pairs, starts, box.constant, ends)
    found: Found = search(costs, cutoff, box.numbers.step, steps)
    if found.nodes > steps:
        return None
    return found._replace(choices=candidates[found.choices] - box.numbers.offsets[:-1])
