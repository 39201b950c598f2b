"""Which grandparents could still raise the optimum, and what no tree can exceed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .decoder import rounding_slack
from .kernels import chu_liu_edmonds, eisner

__all__ = ["Bound", "gains", "lagrangian_bound", "priced", "subgradient", "tightened"]

Floats = NDArray[np.float64]


class Bound:
    """What no tree exceeds, in all and through each arc, and the tree that attains it.

    Attributes
    ----------
    value
        Of the best tree of the relaxation; ``-inf`` if there is none.
    through
        (n + 1, n + 1), of the best tree with each arc, or more.
    heads
        (n + 1,), the tree, -1 for the root.
    """

    def __init__(self, arcs: Floats, single_root: bool, projective: bool) -> None:
        scores = read_only(np.ascontiguousarray(arcs))
        n = len(arcs) - 1
        if projective:
            heads, score, value, scale = eisner.decode(scores, single_root)
            through = eisner.max_marginals(scores, single_root)
        else:
            heads, score, value, scale, through = chu_liu_edmonds.decode(scores, single_root, True)
        self.heads: NDArray[np.int64] = np.concatenate([[-1], heads]).astype(np.int64)
        self.value = -np.inf
        self.through: Floats = through
        if value > -np.inf:
            slack = rounding_slack(2 * n, score, scale)
            self.value = float(value) + slack
            self.through = through + slack


def tightened(prices: Floats, arc_costs: Floats, taken: Floats) -> Floats:
    """Raise the OneGP duals of arcs that are not taken as far as they stay feasible.

    An arc that is not taken and has a negative reduced cost would have one of zero if its
    grandparents were dearer; dearer, fewer of them are worth a score.

    References
    ----------
    Riedel, Smith and McCallum (2012), section 4.3.3.
    """
    return np.where(taken <= 0.0, prices + np.maximum(-arc_costs, 0.0), prices)


def gains(upper: Floats, prices: Floats, open_chains: NDArray[np.bool_] | None = None) -> Floats:
    """Return what the grandparents over each arc (g, p) could add beyond their prices.

    Parameters
    ----------
    upper
        (n + 1, n + 1, n + 1), scores of chains, or bounds on them; ``-inf`` for none.
    prices
        (n + 1, n + 1), the OneGP duals of the lower arcs.
    open_chains
        Which chains to look at; None for all.
    """
    above = np.maximum(upper - prices[None], 0.0)
    if open_chains is not None:
        above *= open_chains
    total: Floats = above.sum(axis=2)
    return total


def lagrangian_bound(
    arcs: Floats, upper: Floats, prices: Floats, single_root: bool, projective: bool
) -> Bound:
    """Bound all trees by any prices: the sum of OneGP rows moved into the objective.

    An arc (p, c) is paid its price, from which its grandparents are bought, so that g -> p -> c
    adds its score less the price of (p, c), or nothing, to the arc (g, p). What is left is
    a problem of single arcs, which one spanning tree solves. That holds for every price
    and for bounds in place of scores, so nothing depends on how exact a solver was.
    """
    allowed = arcs > -np.inf
    # an arc that is left out buys nothing
    bought = arcs + gains(upper, np.where(allowed, prices, np.inf))
    bought[1:] += np.where(allowed, prices, 0.0)[1:]
    return Bound(bought, single_root, projective)


def subgradient(upper: Floats, prices: Floats, heads: NDArray[np.int64]) -> Floats:
    """Return how the bound moves with the prices, at the tree that attains it.

    An arc of the tree pays its price; each grandparent that is bought repays the price of its
    lower arc, in the tree or not.
    """
    slope = np.zeros_like(prices)
    p = np.flatnonzero(heads >= 0)
    c = np.flatnonzero(heads > 0)
    slope[heads[c], c] = 1.0
    slope[p] -= upper[heads[p], p] > prices[p]
    return slope


def priced(
    upper: Floats,
    prices: Floats,
    arc_costs: Floats,
    open_chains: NDArray[np.bool_],
    tolerance: float,
) -> NDArray[np.bool_]:
    """Return which chains may have a positive reduced cost.

    The chains over one arc (g, p) are judged together. Where all their gains do not exceed
    what the arc itself falls short of, their GPArc rows can take up the gains, and none
    has a positive reduced cost.

    Parameters
    ----------
    upper, prices
        As above.
    arc_costs
        The reduced costs of arcs with these prices.
    open_chains
        The chains that have no column, of arcs that may be in a tree.
    tolerance
        Gains up to this are none.

    References
    ----------
    Riedel, Smith and McCallum (2012), equations 8-11.
    """
    short = np.maximum(-arc_costs, 0.0)
    enough = gains(upper, prices, open_chains) > short + tolerance
    found: NDArray[np.bool_] = (
        open_chains & enough[:, :, None] & (upper - prices[None] > tolerance)
    )
    return found
