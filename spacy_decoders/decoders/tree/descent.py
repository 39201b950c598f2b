"""Better prices without a program: subgradient steps on the bound, which also drop arcs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from .grandparent_scores import ScoreTable
from .incumbent import Incumbent
from .kernels import price_and_cut as kernels
from .pricing import Bound, Relaxation

__all__ = ["Descent", "descend"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Steps at most; Polyak's rule with some momentum, the rate falling when steps don't help.
STEPS, RATE, MOMENTUM, PATIENCE, DECAY = 3000, 1.0, 0.5, 6, 0.7
#: Beyond this, steps end in numbers without meaning.
LONGEST = 1e100
#: With a rate below this the steps lead nowhere.
SLOWEST = 0.02
#: So many chains are scored at a step: most others are soon too dear, or their arcs dropped.
SCORED = 10
#: And so much longer than that may the steps take to show what it did.
GRACE = 4


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    bound
        The lowest that was met.
    prices
        Those of that bound.
    allowed
        The arcs that a better tree may have, and those of the best tree.
    """

    bound: float
    prices: Floats
    allowed: Mask


def descend(
    relaxation: Relaxation,
    table: ScoreTable,
    incumbent: Incumbent,
    allowed: Mask,
    prices: Floats,
    first: Bound,
    clock: Clock,
) -> Descent:
    """Lower the bound until it meets the best tree, or steps don't help any more.

    Parameters
    ----------
    relaxation
        The bound as a function of the prices.
    table
        Chains that are bought decide a step: those that gain most get scored.
    incumbent
        The best tree, bettered on the way.
    allowed, prices, first
        Where the descent begins, and the bound there.
    clock
        When to stop.

    Notes
    -----
    A dynamic program over trees (or the spanning tree algorithm) has duals of its own, which
    say what a grandparent must be worth to be bought: columns are priced as in a linear
    program, and most of them are never scored.

    References
    ----------
    Polyak (1969), Minimization of unsmooth functionals; Riedel, Smith and McCallum (2012),
    section 4.5.
    """
    bound, best, best_prices = first, first.value, prices
    wanted = np.empty((3, allowed.size), dtype=np.int64)
    momentum = np.zeros_like(prices)
    rate, stalled = RATE, 0
    allowed = incumbent.may_be_in_a_better(allowed, bound.through)
    for _ in range(STEPS):
        if best <= incumbent.score + incumbent.tolerance or rate < SLOWEST or clock.exhausted():
            break
        given = (table.upper, table.known, prices, allowed, bound.heads, wanted)
        slope, count = kernels.slope(*given)
        if count:
            g, p, c = wanted[:, :count]
            most = np.argsort(prices[p, c] - table.upper[g, p, c], kind="stable")[:SCORED]
            table.score(g[most], p[most], c[most])
            slope, _ = kernels.slope(*given)
            stalled = -GRACE
        momentum = np.where(allowed, slope + MOMENTUM * momentum, 0.0)
        size = float((momentum**2).sum())
        if size == 0.0:
            break
        step = rate * (bound.value - incumbent.score) / size
        if not step < LONGEST:
            break
        prices = prices - step * momentum
        bound = relaxation.bound(allowed, prices)
        incumbent.offer(bound.heads)
        allowed = incumbent.may_be_in_a_better(allowed, bound.through)
        if bound.value < best:
            best, best_prices, stalled = bound.value, prices, 0
        else:
            stalled += 1
            if stalled == PATIENCE:
                rate, stalled = DECAY * rate, 0
    return Descent(best, best_prices, allowed)
