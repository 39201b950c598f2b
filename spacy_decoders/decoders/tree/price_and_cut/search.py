"""Branch, price and cut: solve, price columns, cut rows, prune arcs; branch on fractions."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....budget import UNLIMITED, Clock
from ....errors import InfeasibleError
from ...programs import Solver, SolverError
from ..decoder import UNIT
from ..feasibility import tree_exists
from ..grandparent_scores import chains_of
from .incumbent import Incumbent
from .master import MasterPoint, MasterProgram, Polytope, Tokens
from .pricing import (
    Floats,
    GrandparentModel,
    Mask,
    best_tree,
    lagrangian_bound,
    priced,
    tightened,
)
from .separation import crossing_arcs, exceeded_arcs, implied_chains
from .subgradient import descend

__all__ = ["BranchAndPrice", "Options", "PriceAndCutResult"]

#: The relative rounding error of a program's bound: much less than the tolerance.
ROUNDING = 5e-11

#: Seconds to add a column and its rows to the program.
SECONDS_A_COLUMN = 2e-5


class Options(NamedTuple):
    """The options of a search; see :class:`PriceAndCut`.

    Attributes
    ----------
    solver, polytope
        The solver of the linear programs, and their rows.
    delayed
        Whether columns and rows are delayed, or all stated at once.
    pruning
        Whether prices are improved first, and arcs that no better tree has are pruned.
    branching
        Whether to branch after solving the relaxation.
    """

    solver: Solver
    polytope: Polytope
    delayed: bool
    pruning: bool
    branching: bool


@dataclass(frozen=True, eq=False)
class PriceAndCutResult:
    """The result of price-and-cut, and statistics of the search.

    Attributes
    ----------
    heads
        The best tree, -1 for the root; None if there is none. **Shape:** ``(n + 1,)``
    score, bound
        Of the tree, and of all trees.
    relaxed
        The optimum of the linear program, or a bound on it where the search ended before.
    integral
        Whether no branching was needed.
    scored, added
        How many grandparents were scored, and how many entered the program.
    rounds
        How many linear programs were solved.
    nodes
        How many nodes were processed, the root included.
    chains
        The scores of the tree's grandparents.
    """

    heads: NDArray[np.int64] | None
    score: float
    bound: float
    relaxed: float
    integral: bool
    scored: int = 0
    added: int = 0
    rounds: int = 0
    nodes: int = 0
    chains: Floats = field(default_factory=lambda: np.zeros(0))


class BranchAndPrice:
    """One decoding: a best-first search, whose nodes are masks of allowed arcs."""

    def __init__(self, model: GrandparentModel, options: Options, clock: Clock) -> None:
        self.model, self.table = model, model.table
        self.options = options
        self.clock = clock
        self.n = len(model.arcs) - 1
        self.best = Incumbent(model, options.pruning, clock)
        self.rounds = self.nodes = 0
        self._master: MasterProgram | None = None
        self._excluded = np.zeros((len(model.arcs),) * 3, dtype=bool)

    def run(self) -> PriceAndCutResult:
        """Search until the best tree is proven, or the budget ends."""
        mask = self.model.arcs > -np.inf
        # an arc without a possible grandparent is in no tree
        prices = self.table.upper.max(axis=0)
        mask[1:] &= prices[1:] > -np.inf
        prices = np.where(prices > -np.inf, prices, 0.0)
        first = lagrangian_bound(self.model, mask, prices)
        bound = first.value
        if bound == -np.inf:
            return self._result(-np.inf, -np.inf, True)
        self.best.offer(first.heads)
        if self.options.pruning and self.best.heads is not None:
            given = (self.model, self.best, mask, prices, first, self.clock)
            bound, prices, mask = descend(*given)
        self._prices = prices
        open_nodes = [(-bound, 0, mask)]
        relaxed, integral, closed = bound, True, -np.inf
        while open_nodes:
            bound, _, mask = heapq.heappop(open_nodes)
            if self._closes(-bound):
                closed = max(closed, -bound)
                continue
            if self._over:
                heapq.heappush(open_nodes, (bound, 0, mask))
                break
            value, children = self._node(mask, -bound)
            self.nodes += 1
            if self.nodes == 1:
                relaxed, integral = value, not children
            last = not self.options.branching and self.best.heads is not None
            if not children or last:
                closed = max(closed, value)
                if children:
                    break
            for child in children:
                heapq.heappush(open_nodes, (-value, len(open_nodes) + self.nodes, child))
        best = max([closed, self.best.pruned, *(-bound for bound, *_ in open_nodes)])
        return self._result(best, relaxed, integral)

    def _result(self, bound: float, relaxed: float, integral: bool) -> PriceAndCutResult:
        heads = self.best.heads
        return PriceAndCutResult(
            heads,
            self.best.score,
            bound,
            relaxed,
            integral,
            scored=self.table.scored,
            added=self._master.chains.shape[1] if self._master else 0,
            rounds=self.rounds,
            nodes=self.nodes,
            chains=np.zeros(0) if heads is None else self.table.chains_of_tree(heads),
        )

    @property
    def _over(self) -> bool:
        # without any tree there is nothing to return yet
        return self.best.heads is not None and self.clock.exhausted(self.rounds)

    def _closes(self, bound: float) -> bool:
        return bound <= self.best.score + self.best.tolerance

    def _node(self, mask: Mask, bound: float) -> tuple[float, list[Mask]]:
        """Solve one node; return its bound, and its children if it is not closed."""
        if mask.sum() == self.n:
            return self._leaf(mask, bound), []
        if self._master is None:
            if self._takes_too_long(mask):
                return bound, [mask]
            self._master = self._first_master(mask)
        master, options = self._master, self.options
        # the Lagrangian relaxation lacks the rows of this polytope, and cannot close its gap
        lagrangian = options.polytope != "martins"
        master.restrict(mask)
        while True:
            if self._over:
                return bound, [mask]
            try:
                clock = self.clock if self.best.heads is not None else UNLIMITED.start()
                point = master.solve(clock)
            except InfeasibleError:
                # not proven by the solver: only if the arcs contain no tree is there a proof
                if not tree_exists(mask, self.model.projective, self.model.single_root):
                    return -np.inf, []
                return self._branch(mask, bound, np.zeros_like(self.model.arcs))
            except SolverError:
                if self.clock.exhausted(self.rounds):
                    return bound, [mask]
                raise
            self.rounds += 1
            prices = tightened(point.one_grandparent, point.arc_costs, point.arcs)
            if not options.delayed:
                bound = min(bound, point.bound + ROUNDING * max(1.0, abs(point.bound)))
            if lagrangian:
                relaxation = lagrangian_bound(self.model, mask, prices)
                if relaxation.value == -np.inf:
                    return -np.inf, []
                bound = min(bound, relaxation.value)
                self.best.offer(relaxation.heads)
            # the tree closest to the point
            part = np.where(mask, point.arcs, -np.inf)
            rounded = best_tree(part, self.model.projective, self.model.single_root)
            if rounded.value > -np.inf:
                self.best.offer(rounded.heads)
            if self._closes(bound):
                return bound, []
            if options.pruning:
                mask = self.best.prune(mask, relaxation.through)
                master.restrict(mask)
            if not self._grow(master, point, prices, mask):
                if lagrangian:
                    # scores that were only bounded before may be known now
                    bound = min(bound, lagrangian_bound(self.model, mask, prices).value)
                if self._closes(bound):
                    return bound, []
                return self._branch(mask, bound, point.arcs)

    def _takes_too_long(self, mask: Mask) -> bool:
        """Return whether the time may end before the program is stated."""
        columns = 4 * mask.sum() if self.options.delayed else chains_of(mask).sum()
        return self.best.heads is not None and (
            SECONDS_A_COLUMN * float(columns) > self.clock.seconds_left
        )

    def _first_master(self, mask: Mask) -> MasterProgram:
        """State the program over the arcs that remain at the root."""
        chains = chains_of(mask)
        upper = np.where(chains, self.table.upper, -np.inf)
        arcs = np.where(mask, self.model.arcs, -np.inf)
        reach = float(np.abs(arcs[mask]).max(initial=0.0))
        reach += float(np.abs(upper[upper > -np.inf]).max(initial=0.0))
        most = upper.max(axis=0)
        best = np.where(most > -np.inf, most, 0.0)
        lost = 2.0 * reach * self.n
        if self.best.heads is not None:
            lost = lagrangian_bound(self.model, mask, best).value - self.best.score
        # less would suffice for trees, but fractional points pay only part of it
        penalty = best - lost - 4.0 * reach - 1.0
        polytope, single_root = self.options.polytope, self.model.single_root
        master = MasterProgram(arcs, single_root, polytope, penalty, self.options.solver)
        if self.options.delayed:
            # the paper's first columns, those of the best tree, and the chains that the first
            # prices buy
            start = upper > self._prices[None]
            start[0] |= chains[0]
            if self.best.heads is not None:
                c = np.flatnonzero(self.best.heads > 0)
                start[self.best.heads[self.best.heads[c]], self.best.heads[c], c] = True
            self._add(master, *np.nonzero(start & chains))
            return master
        g, p, c = np.nonzero(chains)
        self._add(master, g, p, c)
        has = master.chain_column[g, p, c] >= 0
        master.exclude((g[~has], p[~has]), (p[~has], c[~has]))
        g, p, c = g[has], p[has], c[has]
        if polytope != "counting":
            master.add_upper_rows(g, p, c)
        if polytope == "martins":
            master.add_martins_rows(g, p, c)
        return master

    def _add(self, master: MasterProgram, g: Tokens, p: Tokens, c: Tokens) -> None:
        """Score chains and add those that are not forbidden."""
        scores = self.table.score(g, p, c)
        real = scores > -np.inf
        master.add_chains(g[real], p[real], c[real], scores[real])

    def _leaf(self, mask: Mask, bound: float) -> float:
        """Bound a mask in which each token has one head."""
        h, m = np.nonzero(mask)
        heads = np.full(self.n + 1, -1)
        heads[m] = h
        if not tree_exists(mask, self.model.projective, self.model.single_root):
            return -np.inf
        self.best.offer(heads)
        parts = np.concatenate([self.model.arcs[h, m], self.table.chains_of_tree(heads)])
        slack = UNIT * len(parts) * float(np.abs(parts).sum())
        return min(bound, float(parts.sum()) + slack) if parts.min() > -np.inf else -np.inf

    def _grow(self, master: MasterProgram, point: MasterPoint, prices: Floats, mask: Mask) -> bool:
        """Add violated rows and columns with positive reduced costs; return whether any exist."""
        grown = False
        if self.model.projective:
            one, other = crossing_arcs(point.arcs)
            master.exclude(one, other)
            grown = len(one[0]) > 0
        if not self.options.delayed:
            return grown
        g, p, c = master.chains
        broken = exceeded_arcs(point.arcs, (g, p, c), point.chains)
        master.add_upper_rows(g[broken], p[broken], c[broken])
        grown |= bool(broken.any())
        g, p, c = implied_chains(point.arcs)
        without = master.chain_column[g, p, c] < 0
        new = without & mask[g, p] & mask[p, c] & ~self._excluded[g, p, c]
        g, p, c = g[new], p[new], c[new]
        if len(g):
            forbidden = self.table.score(g, p, c) == -np.inf
            gf, pf, cf = g[forbidden], p[forbidden], c[forbidden]
            self._excluded[gf, pf, cf] = True
            master.exclude((gf, pf), (pf, cf))
            self._add(master, g, p, c)
            grown = True
        if self._price(master, point, prices, mask) or grown:
            return True
        # as long as chains with gains lack a column, the bound lies above the optimum
        g, p, c = master.chains
        gains = self.table.upper[g, p, c] > prices[p, c] + self.best.tolerance
        return master.add_upper_rows(g[gains], p[gains], c[gains])

    def _price(
        self, master: MasterProgram, point: MasterPoint, prices: Floats, mask: Mask
    ) -> bool:
        """Score the chains that may have a positive reduced cost; add those that do."""
        costs = point.arc_costs + (prices - point.one_grandparent)
        scale = abs(self.best.score) if self.best.heads is not None else 0.0
        given = (self.table, prices, costs, mask, master.chain_column, 1e-9 * max(1.0, scale))
        self.table.score(*priced(*given, unknown_only=True))
        found = priced(*given, unknown_only=False)
        self._add(master, *found)
        return bool(found.shape[1])

    def _branch(self, mask: Mask, bound: float, taken: Floats) -> tuple[float, list[Mask]]:
        """Branch on the arc nearest to one half; where all are integral, on any free arc."""
        if mask.sum() == self.n:  # pruning has left a single tree
            return self._leaf(mask, bound), []
        choices = mask.sum(axis=0) > 1
        doubt = np.where(mask & choices[None, :], np.abs(taken - 0.5), np.inf)
        h, m = np.unravel_index(int(np.argmin(doubt)), doubt.shape)
        inside, outside = mask.copy(), mask.copy()
        inside[:, m] = False
        inside[h, m] = True
        outside[h, m] = False
        return bound, [inside, outside]
