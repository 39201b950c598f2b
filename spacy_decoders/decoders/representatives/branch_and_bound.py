"""Branch and bound: a problem is split until the bound of every part meets the incumbent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ...budget import Clock
from ...certificate import largest_tolerance
from .costs import OVERTIME, CostTable, relative_tolerance
from .fixed_point import FixedPoint, quantise
from .kernels.descent import descend, total
from .kernels.enumeration import Found, search
from .kernels.layout import LARGEST
from .solutions import least_of_others
from .subproblem import Subproblem

__all__ = ["SWEEPS", "ExactSearch", "Exploration", "explore", "improved"]

#: The most sweeps of message passing over the whole problem, and over a part of it.
ROOT_SWEEPS, SWEEPS = 1000, 40
#: A range of costs this many times as wide as the gap makes the quanta too coarse.
TOO_WIDE = 2.0**12
#: Nodes of a depth-first search before its box is split and bounded anew, candidates that they may
#: examine together, and candidates beyond which a box is split at once.
NODES, EXAMINED, MOST_CANDIDATES = 20_000, 20_000_000, 2_000


class OpenNode(NamedTuple):
    """A box to be searched: the box around it, the candidates to keep, and its bound in quanta."""

    box: Subproblem
    keep: Booleans | None
    bound: int


class ExactSearch:
    """The search of `ExactRepresentatives`, over costs in canonical order."""

    def __init__(self, costs: CostTable, choices: Integers, clock: Clock) -> None:
        self.costs = costs
        self.clock = clock
        self.choices = choices  # the incumbent
        self.upper = float(total(tuple(costs.arrays), choices))  # its cost
        self.bound = costs.least  # the lower bound on every choice
        self.resolution = 0.0  # by how much quantisation may lower the bound
        self.nodes = 0  # subproblems bounded
        # the whole problem, with the potentials found for it
        self.root: Subproblem | None = None

    @property
    def tolerance(self) -> float:
        """How far `bound` may lie below `upper` if the incumbent is optimal."""
        scale = float(np.abs(self.costs.terms(self.choices)).sum())
        return min(relative_tolerance(scale) + self.resolution, largest_tolerance(scale))

    def solve(self) -> None:
        """Close the gap between `upper` and `bound`, as far as the budget allows."""
        range_before = np.inf
        while self.upper - self.bound > self.tolerance and not self.clock.exhausted(self.nodes):
            gap = self.upper - self.bound
            reach = max(self.upper, min(self._alternative(), self.upper + TOO_WIDE * gap))
            if not reach - self.costs.shift < range_before / 2:
                break
            # repeated only if a much better incumbent allows finer quanta
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
        """Return the highest cost, over the sets, of the best change of that set alone.

        Clipped costs all look as cheap as the incumbent, which would cover up a faulty search.
        Changes that cost far more than the cheapest are ignored: a range that includes them would
        leave too few digits for the others.
        """
        costs, choices = self.costs, self.choices
        _, values = improved(costs, choices, -1)
        changes = least_of_others(values, costs.arrays.offsets, choices)
        changes = (changes - values[costs.arrays.offsets[:-1] + choices])[costs.arrays.sizes > 1]
        least = changes[changes > 0].min() if (changes > 0).any() else 0.0
        near = changes[changes <= TOO_WIDE**2 * least]
        return self.upper + (float(near.max()) if len(near) else 0.0)


def improved(costs: CostTable, choices: Integers, frozen: int) -> tuple[Integers, Floats]:
    """Return choices after local search in all sets but `frozen`, and the costs beside them.

    These, **shape** (n,), are of each candidate given the choices of the other sets.
    """
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

    Every pruned box and candidate has a bound of its own that was computed from the costs, not
    taken from the message passing; the least of these is the bound of the search.
    """
    search = Exploration(costs, root.numbers, upper, clock, frozen, nodes)
    stack = [OpenNode(root, None, 0)]
    while stack:
        part = stack.pop()
        if part.bound > search.cutoff:
            search.prune(part.bound)
        elif (
            clock.exhausted(search.nodes) or part.box.bounding_time > clock.seconds_left + OVERTIME
        ):
            for left in (part, *stack):
                search.prune(left.bound)
            break
        else:
            search.nodes += 1
            stack.extend(search.parts(part, sweeps))
            sweeps = SWEEPS
    return search


@dataclass(eq=False)
class Exploration:
    """A search of a box: its incumbent, and the least bound of what it has pruned."""

    costs: CostTable
    numbers: FixedPoint
    upper: float  # the cost of the incumbent
    clock: Clock
    frozen: int  # the set that local search must not change, or -1
    nodes: int  # subproblems bounded
    choices: Integers | None = None  # the incumbent; None while no better one is found
    least: int = LARGEST  # the lower bound on the choices searched so far, in quanta
    cutoff: int = field(init=False)  # the most quanta that a choice cheaper than `upper` can have

    def __post_init__(self) -> None:
        self.cutoff = self.numbers.cutoff(self.upper)

    def prune(self, bound: int) -> None:
        """Note the bound of choices that are not searched any further."""
        self.least = min(self.least, bound)

    def offer(self, choices: Integers) -> None:
        """Take choices as the incumbent if they are cheaper."""
        cost = float(total(tuple(self.costs.arrays), choices))
        if cost < self.upper:
            self.upper, self.choices = cost, choices
            self.cutoff = self.numbers.cutoff(cost)

    def parts(self, part: OpenNode, sweeps: int) -> list[OpenNode]:
        """Bound a box, prune its candidates, and enumerate it or return what it splits into."""
        box, bound = part.box if part.keep is None else part.box.restrict(part.keep), part.bound
        if not box.is_decided:
            box.raise_bound(self.cutoff, self.clock, sweeps)
        bounds = np.maximum(box.bounds(), bound)
        bound = int(bounds.min())
        if bound <= self.cutoff:
            self.offer(improved(self.costs, box.rounded(), self.frozen)[0])
        if bound > self.cutoff or box.is_decided:
            self.prune(bound)
            return []
        keep = bounds <= self.cutoff
        self.prune(int(bounds[box.keep & ~keep].min(initial=LARGEST)))
        box = box.restrict(keep)
        if self.clock.seconds_left == 0.0:
            return [OpenNode(box, None, bound)]
        found = _enumerated(box, self.cutoff)
        if found is None:
            return _split(box, bounds)
        self.prune(max(int(found.least), bound))
        if found.best <= self.cutoff:
            self.offer(found.choices)
        return []


def _split(box: Subproblem, bounds: Integers) -> list[OpenNode]:
    """Branch on the candidates of the set with the fewest; the one of least bound comes last."""
    sizes = np.diff(box.costs.offsets)
    i = int(np.argmin(np.where(sizes > 1, sizes, LARGEST)))
    candidates = box.positions[box.costs.offsets[i] : box.costs.offsets[i + 1]]
    others = box.keep.copy()
    others[box.numbers.arrays.offsets[i] : box.numbers.arrays.offsets[i + 1]] = False
    children: list[OpenNode] = []
    for x in candidates[np.argsort(-bounds[candidates], kind="stable")]:
        keep = others.copy()
        keep[x] = True
        children.append(OpenNode(box, keep, int(bounds[x])))
    return children


def _enumerated(box: Subproblem, cutoff: int) -> Found | None:
    """Search a box depth first for choices of at most `cutoff` quanta; None if it is too large.

    The reduced costs make the bounds of partial choices tight.
    """
    candidates = box.positions
    if len(candidates) > MOST_CANDIDATES:
        return None
    most_nodes = min(NODES, EXAMINED // len(candidates))
    found: Found = search(box.costs, box.constant, cutoff, box.numbers.step, most_nodes)
    if found.nodes > most_nodes:
        return None
    return found._replace(choices=candidates[found.choices] - box.numbers.arrays.offsets[:-1])
