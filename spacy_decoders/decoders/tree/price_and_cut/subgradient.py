"""Subgradient steps on the Lagrangian bound, which need no program, and pruning of arcs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....budget import Clock
from .incumbent import Incumbent
from .kernels import chains as kernels
from .pricing import Floats, GrandparentModel, Mask, TreeBound, lagrangian_bound

__all__ = ["Descent", "descend"]

#: The most steps; Polyak's rule with some momentum, the rate reduced when steps fail.
STEPS, RATE, MOMENTUM, PATIENCE, DECAY = 3000, 1.0, 0.5, 6, 0.7
#: Longer steps overflow.
LONGEST = 1e100
#: Below this rate the steps make no progress.
SLOWEST = 0.02
#: Chains scored at a step: most others are soon priced out, or their arcs pruned.
SCORED = 10
#: After chains were scored, so many more steps may fail before the descent ends.
GRACE = 4


class Descent(NamedTuple):
    """The result of a descent: the lowest bound, its prices, and the arcs that were not pruned."""

    bound: float
    prices: Floats
    allowed: Mask


def descend(
    model: GrandparentModel,
    incumbent: Incumbent,
    allowed: Mask,
    prices: Floats,
    first: TreeBound,
    clock: Clock,
) -> Descent:
    """Lower the bound until it meets the incumbent, or steps make no more progress.

    Of the chains that are bought at a step, those with the largest gains are scored. Trees that
    attain a bound are offered to the incumbent.

    Parameters
    ----------
    allowed, prices, first
        The start of the descent, and the bound there.

    Notes
    -----
    A dynamic program over trees (or the spanning tree algorithm) also provides duals, which give
    the score that a grandparent needs to be bought: columns are priced as in a linear program, and
    most of them are never scored.

    References
    ----------
    Polyak (1969), Minimization of unsmooth functionals; Riedel, Smith and McCallum (2012),
    section 4.5.
    """
    table, bound, best, best_prices = model.table, first, first.value, prices
    wanted = np.empty((3, allowed.size), dtype=np.int64)
    momentum = np.zeros_like(prices)
    rate, stalled = RATE, 0
    allowed = incumbent.prune(allowed, bound.through)
    for _ in range(STEPS):
        if best <= incumbent.score + incumbent.tolerance or rate < SLOWEST or clock.exhausted():
            break
        given = (table.upper, table.known, prices, allowed, bound.heads, wanted)
        slope, count = kernels.subgradient(*given)
        if count:
            g, p, c = wanted[:, :count]
            most = np.argsort(prices[p, c] - table.upper[g, p, c], kind="stable")[:SCORED]
            table.score(g[most], p[most], c[most])
            slope, _ = kernels.subgradient(*given)
            stalled = -GRACE
        momentum = np.where(allowed, slope + MOMENTUM * momentum, 0.0)
        size = float((momentum**2).sum())
        if size == 0.0:
            break
        step = rate * (bound.value - incumbent.score) / size
        if not step < LONGEST:
            break
        prices = prices - step * momentum
        bound = lagrangian_bound(model, allowed, prices)
        incumbent.offer(bound.heads)
        allowed = incumbent.prune(allowed, bound.through)
        if bound.value < best:
            best, best_prices, stalled = bound.value, prices, 0
        else:
            stalled += 1
            if stalled == PATIENCE:
                rate, stalled = DECAY * rate, 0
    return Descent(best, best_prices, allowed)
