"""Pricing: the Lagrangian bound at given prices, and the grandparents with positive reduced costs.

Each arc (p, c) has a price, the dual of its OneGP row. The price is added to the arc's score and
subtracted from the scores of its grandparents: the chain g -> p -> c adds its score less the price
of (p, c), or 0 if that is negative, to the arc (g, p). The result is a first-order problem, which
one spanning tree solves: the Lagrangian relaxation of the OneGP rows. Its bound is valid for all
prices, and for upper bounds in place of scores, so it does not depend on a solver's accuracy.
"""

import numpy as np
from numpy.typing import NDArray

from ....arrays import Booleans, Floats, Integers
from ..fallbacks import TreeBound, best_by_arcs
from ..problem import TreeProblem
from ..proof import UNIT

__all__ = [
    "ScoreTable",
    "chains_of",
    "lagrangian_bound",
    "priced",
    "slope_at",
    "tightened",
]

Tokens = NDArray[np.intp]


class ScoreTable:
    """The grandparent scores of one sentence that were requested, and bounds on the others.

    ``upper[g, p, c]`` is the score of a chain if it is `known`, else the smaller of the maxima
    over g and over c; ``-inf`` if there is no such chain.
    """

    def __init__(self, problem: TreeProblem) -> None:
        size = problem.n + 1
        self.arcs = problem.arcs
        self.projective, self.single_root = problem.projective, problem.single_root
        values = np.zeros((size,) * 3) if problem.grandparents is None else problem.grandparents
        possible = chains_of(problem.allowed)
        self._values: Floats = np.where(possible, values, -np.inf)
        by_arc, by_chain = self._values.max(axis=0), self._values.max(axis=2)
        self.upper: Floats = np.minimum(by_arc[None], by_chain[:, :, None])
        self.upper[~possible] = -np.inf
        self.known: Booleans = ~possible
        self.scored = 0

    def score(self, g: Tokens, p: Tokens, c: Tokens) -> Floats:
        """Return the scores of distinct chains."""
        self.scored += int((~self.known[g, p, c]).sum())
        self.upper[g, p, c] = self._values[g, p, c]
        self.known[g, p, c] = True
        return self.upper[g, p, c]

    def chains_of_tree(self, heads: Integers) -> Floats:
        """Return the scores of a tree's chains; `heads` begins with -1 for the root."""
        c = np.flatnonzero(heads > 0)
        return self.score(heads[heads[c]], heads[c], c)


def chains_of(allowed: Booleans) -> Booleans:
    """Return which chains g -> p -> c consist of allowed arcs."""
    chains = allowed[:, :, None] & allowed[None, :, :]
    chains[:, 0, :] = False
    tokens = np.arange(len(allowed))
    chains[tokens, :, tokens] = False  # g -> p -> g is a cycle
    return chains


def lagrangian_bound(table: ScoreTable, allowed: Booleans, prices: Floats) -> TreeBound:
    """Bound the trees of the allowed arcs at any prices."""
    arcs, size = table.arcs, len(table.arcs)
    lower = np.flatnonzero(allowed[1:]) + size  # arcs (p, c), those from the root aside
    upper = table.upper.reshape(size, -1).take(lower, axis=1)
    gains = np.maximum(upper - prices.ravel()[lower], 0.0)
    bought = np.where(allowed, arcs, -np.inf)
    if lower.size:
        parents = lower // size
        first = np.flatnonzero(np.diff(parents, prepend=0))
        bought[:, parents[first]] += np.add.reduceat(gains, first, axis=1)
    bought[1:] += prices[1:]
    bound = best_by_arcs(bought, table.projective, table.single_root)
    # each arc's score is a sum of up to n + 2 terms, some of which cancel
    sums = np.where(allowed, 2.0 * np.abs(arcs) + 3.0 * np.abs(prices), 0.0)
    terms = sums.max(axis=0) + np.where(allowed, np.abs(bought), 0.0).max(axis=0)
    slack = UNIT * (size + 2) * float(terms.sum())
    return TreeBound(bound.value + slack, bound.through + slack, bound.heads)


def slope_at(
    table: ScoreTable, prices: Floats, allowed: Booleans, heads: Integers
) -> tuple[Floats, NDArray[np.intp]]:
    """Return a subgradient of the bound at its tree, and the bought chains of unknown score.

    An arc of the tree adds its price; each chain that is bought subtracts the price of its lower
    arc, whether or not that is in the tree. The chains are (3, k).
    """
    p = np.arange(1, len(heads))
    bought = allowed[1:] & (table.upper[heads[1:], p] > prices[1:])
    slope = np.zeros_like(prices)
    slope[1:] -= bought
    inner = p[heads[1:] > 0]
    slope[heads[inner], inner] += 1.0
    parents, c = np.nonzero(bought & ~table.known[heads[1:], p])
    return slope, np.stack([heads[1:][parents], parents + 1, c])


def tightened(prices: Floats, arc_costs: Floats, taken: Floats) -> Floats:
    """Raise the OneGP duals of arcs that are not taken as far as they stay feasible.

    The negative reduced cost of such an arc becomes zero at a higher price of its grandparents,
    at which fewer of them have to be scored (section 4.3.3 of Riedel et al. 2012).
    """
    return np.where(taken <= 0.0, prices + np.maximum(-arc_costs, 0.0), prices)


def priced(
    table: ScoreTable,
    prices: Floats,
    arc_costs: Floats,
    allowed: Booleans,
    column: Integers,
    tolerance: float,
) -> tuple[Tokens, Tokens, Tokens]:
    """Return the chains g, p, c without a column that may have a positive reduced cost.

    The chains over one arc (g, p) are priced together. If the sum of their gains does not exceed
    the arc's negated reduced cost, the duals of their GPArc rows can absorb the gains, and none
    has a positive reduced cost (equations 8-11 of Riedel et al. 2012). Gains up to a tolerance
    count as zero.

    **Shape**: prices, and the arcs' reduced costs at these, (n + 1, n + 1); `column`
    (n + 1, n + 1, n + 1), negative for none.
    """
    without = chains_of(allowed) & (column < 0)
    gains = np.where(without, np.maximum(table.upper - prices, 0.0), 0.0)
    worth = gains.sum(axis=2) > np.maximum(-arc_costs, 0.0) + tolerance
    g, p, c = np.nonzero(worth[:, :, None] & (gains > tolerance))
    return g, p, c
