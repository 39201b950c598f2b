"""Which grandparents could still raise the optimum, and what no tree can exceed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .decoder import UNIT, rounding_slack
from .grandparent_scores import ScoreTable
from .kernels import chu_liu_edmonds, eisner
from .kernels import price_and_cut as kernels

__all__ = ["Bound", "Relaxation", "priced", "tightened"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


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


class Relaxation:
    """The bound on all trees as a function of the prices.

    An arc (p, c) is paid its price, from which its grandparents are bought, so that g -> p -> c
    adds its score less the price of (p, c), or nothing, to the arc (g, p). What is left is
    a problem of single arcs, which one spanning tree solves: the sum of OneGP rows has moved
    into the objective. That holds for every price and for bounds in place of scores, so
    nothing depends on how exact a solver was.

    Parameters
    ----------
    arcs
        Scores of single arcs.
    table
        Scores of chains, or bounds on them.
    single_root, projective
        Which trees count.
    """

    def __init__(
        self, arcs: Floats, table: ScoreTable, single_root: bool, projective: bool
    ) -> None:
        self._arcs = arcs
        self._table = table
        self._single_root = single_root
        self._projective = projective

    def bound(self, allowed: Mask, prices: Floats) -> Bound:
        """Bound the trees of the allowed arcs."""
        bought = kernels.buy(self._arcs, self._table.upper, prices, allowed)
        bound = Bound(bought, self._single_root, self._projective)
        # each arc's score is a sum of up to n + 2 terms, of which some cancel each other
        sums = np.where(allowed, 2.0 * np.abs(self._arcs) + 3.0 * np.abs(prices), 0.0)
        terms = sums.max(axis=0) + np.where(allowed, np.abs(bought), 0.0).max(axis=0)
        slack = UNIT * (len(prices) + 2) * float(terms.sum())
        bound.value += slack
        bound.through += slack
        return bound


def priced(
    table: ScoreTable,
    prices: Floats,
    arc_costs: Floats,
    allowed: Mask,
    column: NDArray[np.int64],
    tolerance: float,
    *,
    unknown_only: bool,
) -> NDArray[np.int64]:
    """Return the chains, (3, k), that may have a positive reduced cost.

    The chains over one arc (g, p) are judged together. Where all their gains do not exceed
    what the arc itself falls short of, their GPArc rows can take up the gains, and none
    has a positive reduced cost.

    Parameters
    ----------
    table
        Scores of chains, or bounds on them.
    prices
        (n + 1, n + 1), the OneGP duals of the lower arcs.
    arc_costs
        The reduced costs of arcs with these prices.
    allowed
        The arcs that may be in a tree.
    column
        (n + 1, n + 1, n + 1), negative where a chain has no column yet.
    tolerance
        Gains up to this are none.
    unknown_only
        Whether to return only those whose scores are not known.

    References
    ----------
    Riedel, Smith and McCallum (2012), equations 8-11.
    """
    short = np.maximum(-arc_costs, 0.0)
    found: NDArray[np.int64] = kernels.priced(
        table.upper, table.known, prices, short, allowed, column, tolerance, unknown_only
    )
    return found
