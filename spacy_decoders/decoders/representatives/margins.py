"""Margins: how much more the best choice with another candidate in a set costs."""

import math
from operator import itemgetter

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ...certificate import largest_tolerance
from .branch_and_bound import SWEEPS, ExactSearch, explore, improved
from .costs import relative_tolerance, rounded_down
from .fixed_point import quantise
from .kernels.descent import beside
from .kernels.layout import LARGEST
from .solutions import least_of_others
from .subproblem import Subproblem

__all__ = ["margins_of"]

#: Margins larger than the current one by more than this factor get coarser quanta of their own.
WIDER = 2.0**6


def margins_of(solver: ExactSearch, *, exact: bool, work: int | None) -> tuple[Floats, Booleans]:
    """Return the margins of a solved problem, proven as far as time allows if `exact`.

    They come with which of them are proven exact; the others are lower bounds. The smallest are
    proven first, until the subproblems bounded for them, times the pair costs of the problem,
    exceed `work`.
    """
    sizes = solver.costs.arrays.sizes
    margins, proven = np.full(len(sizes), np.inf), sizes == 1
    lower = _lower_bounds(solver)
    several = np.flatnonzero(sizes > 1)
    margins[several] = lower[several] - solver.upper
    if not exact or solver.clock.exhausted(solver.nodes):
        return margins, proven
    chosen = solver.costs.terms(solver.choices)
    best, scale = math.fsum(chosen.tolist()), float(np.abs(chosen).sum())
    others = _best_others(solver, several.tolist())
    largest = max((cost for cost, _, _ in others), default=0.0)
    root = solver.root
    begin, size = solver.nodes, len(solver.costs.arrays.blocks)
    for cost, i, choices in sorted(others, key=itemgetter(0, 1)):
        if solver.clock.exhausted(solver.nodes):
            break
        if work is not None and (solver.nodes - begin) * size > work:
            break
        if root is None or root.numbers.shift + root.numbers.reach < cost:
            root = _finer(solver, cost, largest)
            if root is None:  # time is up
                break
        choices, bound = _best_beside(solver, root, i, choices, cost)
        terms = solver.costs.terms(choices)
        both = scale + float(np.abs(terms).sum())
        tolerance = relative_tolerance(both) + root.numbers.resolution
        tolerance = min(tolerance, largest_tolerance(both))
        cost, bound = math.fsum(terms.tolist()), max(bound, lower[i])
        is_other = choices[i] != solver.choices[i]
        proven[i] = is_other and abs(cost - bound) <= tolerance
        margins[i] = bound - solver.upper
        if proven[i]:
            margins[i] = max(0.0, cost - best)
    return margins, proven


def _lower_bounds(solver: ExactSearch) -> Floats:
    """**Shape:** (k,): a lower bound on the choices with another candidate in each set."""
    costs, several = solver.costs, solver.costs.arrays.sizes > 1
    by_itself = least_of_others(costs.arrays.unary, costs.arrays.offsets, solver.choices)[several]
    apart = costs.shift - costs.unary_minima[several] + by_itself
    found = rounded_down(apart, 2 * costs.magnitude + np.abs(by_itself), costs.arrays.size**2)
    if solver.root is not None:
        bounds, numbers = solver.root.bounds(), solver.root.numbers
        least = least_of_others(bounds, costs.arrays.offsets, solver.choices)[several]
        # quanta say nothing of costs beyond their range
        found = np.maximum(found, np.minimum(numbers.lower(least), numbers.largest))
    lower = np.full(costs.arrays.size, solver.bound)
    lower[several] = np.maximum(solver.bound, found)
    return lower


def _finer(solver: ExactSearch, cost: float, largest: float) -> Subproblem | None:
    """Return the whole problem with quanta for costs up to `cost`; None if time runs out."""
    reach = min(largest, cost + WIDER * (cost - solver.upper))
    numbers = quantise(solver.costs, max(cost, reach), solver.clock)
    if numbers is None:
        return None
    root = Subproblem.of(numbers)
    root.raise_bound(numbers.cutoff(cost), solver.clock, SWEEPS)
    return root


def _best_beside(
    solver: ExactSearch, root: Subproblem, i: int, choices: Integers, cost: float
) -> tuple[Integers, float]:
    """Return the best choices with another candidate in set i, and a lower bound on all such."""
    numbers, bounds = root.numbers, root.bounds()
    others = np.ones(len(bounds), dtype=bool)
    others[numbers.arrays.offsets[i] + solver.choices[i]] = False
    keep = others & (bounds <= numbers.cutoff(cost))
    least = int(bounds[others & ~keep].min(initial=LARGEST))
    if np.logical_or.reduceat(keep, numbers.arrays.offsets[:-1]).all():
        box = root.restrict(keep)
        found = explore(solver.costs, box, cost, solver.clock, solver.nodes, i, SWEEPS)
        solver.nodes = found.nodes
        choices = choices if found.choices is None else found.choices
        least = min(least, found.least)
    return choices, numbers.lower(least)


def _best_others(solver: ExactSearch, sets: list[int]) -> list[tuple[float, int, Integers]]:
    """For each set, return (cost, set, choices) of good choices with another candidate in it.

    They are found by local search.
    """
    costs, arrays = solver.costs, tuple(solver.costs.arrays)
    choices, values = improved(costs, solver.choices, -1)
    offsets = costs.arrays.offsets.tolist()
    found = []
    for i in sets:
        if solver.clock.seconds_left == 0.0:
            break
        own = values[offsets[i] : offsets[i + 1]].copy()
        own[solver.choices[i]] = np.inf
        better, cost = beside(arrays, values, choices, i, own.argmin())
        found.append((cost, i, better))
    return found
