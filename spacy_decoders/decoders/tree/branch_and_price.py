"""The search of price-and-cut: solve, price, cut, prune; branch where fractions remain."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from ...errors import InfeasibleError
from ..programs import Solver, SolverError
from .decoder import UNIT
from .descent import descend
from .feasibility import tree_exists
from .grandparent_lp import GrandparentProgram, Point, Polytope
from .grandparent_scores import ScoreTable, chains_of
from .incumbent import Incumbent
from .pricing import Bound, Relaxation, priced, tightened
from .separation import crossing_arcs, exceeded_arcs, implied_chains

__all__ = ["Outcome", "Search"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: What float64 may lose, relatively, in a program's bound: far less than the tolerance.
ROUNDING = 5e-11

#: What it takes to add a column and its rows to the program.
SECONDS_A_COLUMN = 2e-5


@dataclass(frozen=True, eq=False)
class Outcome:
    """What price-and-cut found, and how much of the problem it looked at.

    Attributes
    ----------
    heads
        int64 (n + 1,), the best tree, -1 for the root; None if there is none.
    score, bound
        Of the tree, and of all trees.
    relaxed
        The optimum of the linear program, or a bound on it where the search was over before.
    integral
        Whether no branching was needed.
    scored, added
        How many grandparents were scored, and how many entered the program.
    rounds
        How many linear programs were solved.
    nodes
        How many nodes of the search were looked at, the root being one.
    chains
        The scores of the tree's grandparents.
    """

    heads: NDArray[np.int64] | None
    score: float
    bound: float
    relaxed: float
    integral: bool
    scored: int
    added: int
    rounds: int
    nodes: int
    chains: Floats


class Search:
    """One decoding.

    Parameters
    ----------
    arcs
        Scores of single arcs, ``-inf`` where forbidden.
    table
        The grandparents.
    projective, single_root
        Which trees count.
    solver, polytope
        See :class:`PriceAndCut`.
    lazily
        Whether columns and rows are delayed, or all stated at once.
    prune
        Whether arcs that no better tree can have are dropped.
    branch
        Whether to go on after the relaxation.
    """

    def __init__(
        self,
        arcs: Floats,
        table: ScoreTable,
        *,
        projective: bool,
        single_root: bool,
        solver: Solver,
        polytope: Polytope,
        lazily: bool,
        prune: bool,
        branch: bool,
        clock: Clock,
    ) -> None:
        self.arcs = arcs
        self.table = table
        self.projective = projective
        self.single_root = single_root
        self.solver: Solver = solver
        self.polytope: Polytope = polytope
        self.lazily = lazily
        self.prune = prune
        self.branch = branch
        self.clock = clock
        self.n = len(arcs) - 1
        self.best = Incumbent(
            arcs,
            table,
            single_root=single_root,
            projective=projective,
            climbs=prune,
            clock=clock,
        )
        self._relaxation = Relaxation(arcs, table, single_root, projective)
        self.rounds = self.nodes = 0
        self._program: GrandparentProgram | None = None
        self._excluded = np.zeros((len(arcs),) * 3, dtype=bool)

    def run(self) -> Outcome:
        """Search until the best tree is proven, or the budget ends."""
        mask = self.arcs > -np.inf
        # an arc that no grandparent fits hangs on nothing
        prices = self.table.upper.max(axis=0)
        mask[1:] &= prices[1:] > -np.inf
        prices = np.where(prices > -np.inf, prices, 0.0)
        first = self._relaxation.bound(mask, prices)
        bound = first.value
        if bound == -np.inf:
            return self._outcome(-np.inf, -np.inf, True)
        self.best.offer(first.heads)
        if self.prune and self.best.heads is not None:
            found = descend(
                self._relaxation, self.table, self.best, mask, prices, first, self.clock
            )
            bound, mask, prices = found.bound, found.allowed, found.prices
        self._first_prices = prices
        open_nodes = [(-bound, 0, mask)]
        relaxed, integral, closed = bound, True, -np.inf
        while open_nodes:
            bound, _, mask = heapq.heappop(open_nodes)
            if -bound <= self.best.score + self.best.tolerance:
                closed = max(closed, -bound)
                continue
            if self._over:
                heapq.heappush(open_nodes, (bound, 0, mask))
                break
            value, children = self._node(mask, -bound)
            self.nodes += 1
            if self.nodes == 1:
                relaxed, integral = value, not children
            if not children:
                closed = max(closed, value)
            elif not self.branch and self.best.heads is not None:
                closed = max(closed, value)
                break
            for child in children:
                heapq.heappush(open_nodes, (-value, len(open_nodes) + self.nodes, child))
        best = max([closed, self.best.dropped, *(-bound for bound, *_ in open_nodes)])
        return self._outcome(best, relaxed, integral)

    def _outcome(self, bound: float, relaxed: float, integral: bool) -> Outcome:
        added = self._program.chains.shape[1] if self._program else 0
        return Outcome(
            self.best.heads,
            self.best.score,
            bound,
            relaxed,
            integral,
            self.table.scored,
            added,
            self.rounds,
            self.nodes,
            np.zeros(0) if self.best.heads is None else self.table.chains_of_tree(self.best.heads),
        )

    @property
    def _over(self) -> bool:
        # without any tree there is nothing to return yet
        return self.best.heads is not None and self.clock.exhausted(self.rounds)

    def _takes_too_long(self, mask: Mask) -> bool:
        """Whether the time may end before the program is stated."""
        columns = chains_of(mask).sum() if not self.lazily else 4 * mask.sum()
        return self.best.heads is not None and (
            SECONDS_A_COLUMN * float(columns) > self.clock.seconds_left
        )

    def _state(self, mask: Mask) -> GrandparentProgram:
        """Make the program, from the arcs that are left at the root."""
        upper = np.where(chains_of(mask), self.table.upper, -np.inf)
        finite = upper[upper > -np.inf]
        arcs = np.where(mask, self.arcs, -np.inf)
        reach = float(np.abs(arcs[mask]).max(initial=0.0) + np.abs(finite).max(initial=0.0))
        best = np.where(upper.max(axis=0) > -np.inf, upper.max(axis=0), 0.0)
        first = self._relaxation.bound(mask, best).value
        lost = (first - self.best.score) if self.best.heads is not None else 2.0 * reach * self.n
        # less would do for trees; fractions of them pay it in part only
        penalty = best - lost - 4.0 * reach - 1.0
        program = GrandparentProgram(arcs, self.single_root, self.polytope, penalty, self.solver)
        chains = chains_of(mask)
        if self.lazily:
            # the paper's first columns, those of the best tree, and what the first prices buy
            start = upper > self._first_prices[None]
            start[0] |= chains[0]
            if self.best.heads is not None:
                c = np.flatnonzero(self.best.heads > 0)
                start[self.best.heads[self.best.heads[c]], self.best.heads[c], c] = True
            g, p, c = np.nonzero(start & chains)
            self._add(program, g, p, c)
        else:
            g, p, c = np.nonzero(chains)
            self._add(program, g, p, c)
            has = program.chain_column[g, p, c] >= 0
            program.exclude((g[~has], p[~has]), (p[~has], c[~has]))
            g, p, c = g[has], p[has], c[has]
            if self.polytope != "counting":
                program.add_upper_rows(g, p, c)
            if self.polytope == "martins":
                program.add_martins_rows(g, p, c)
        return program

    def _add(
        self,
        program: GrandparentProgram,
        g: NDArray[np.intp],
        p: NDArray[np.intp],
        c: NDArray[np.intp],
    ) -> None:
        """Score chains and add those that are not forbidden."""
        scores = self.table.score(g, p, c)
        real = scores > -np.inf
        program.add_chains(g[real], p[real], c[real], scores[real])

    def _node(self, mask: Mask, bound: float) -> tuple[float, list[Mask]]:
        """Solve one node; return its bound, and its children if it is not closed."""
        if mask.sum() == self.n:
            return self._leaf(mask, bound), []
        if self._program is None:
            if self._takes_too_long(mask):
                return bound, [mask]
            self._program = self._state(mask)
        program = self._program
        program.restrict(mask)
        while True:
            if self._over:
                return bound, [mask]
            try:
                point = program.solve(self.clock if self.best.heads is not None else self._forever)
            except InfeasibleError:
                # the solver's word: only where the arcs make no tree is there a proof
                if not tree_exists(mask, self.projective, self.single_root):
                    return -np.inf, []
                return self._parted(mask, bound, np.zeros_like(self.arcs))
            except SolverError:
                if self.clock.exhausted(self.rounds):
                    return bound, [mask]
                raise
            self.rounds += 1
            prices = tightened(point.one_grandparent, point.arc_costs, point.arcs)
            if not self.lazily:
                bound = min(bound, point.bound + ROUNDING * max(1.0, abs(point.bound)))
            if self.polytope != "martins":
                relaxation = self._relaxation.bound(mask, prices)
                if relaxation.value == -np.inf:
                    return -np.inf, []
                bound = min(bound, relaxation.value)
                self.best.offer(relaxation.heads)
            self._round(point, mask)
            if bound <= self.best.score + self.best.tolerance:
                return bound, []
            if self.prune:
                fewer = self.best.may_be_in_a_better(mask, relaxation.through)
                if (fewer != mask).any():
                    mask = fewer
                    program.restrict(mask)
            if not self._grow(program, point, prices, mask):
                if self.polytope != "martins":
                    # scores may have come in that were only bounded before
                    bound = min(bound, self._relaxation.bound(mask, prices).value)
                if bound <= self.best.score + self.best.tolerance:
                    return bound, []
                return self._parted(mask, bound, point.arcs)

    @property
    def _forever(self) -> Clock:
        from ...budget import UNLIMITED

        return UNLIMITED.start()

    def _leaf(self, mask: Mask, bound: float) -> float:
        h, m = np.nonzero(mask)
        heads = np.full(self.n + 1, -1)
        heads[m] = h
        if not tree_exists(mask, self.projective, self.single_root):
            return -np.inf
        self.best.offer(heads)
        chains = self.table.chains_of_tree(heads)
        parts = np.concatenate([self.arcs[h, m], chains])
        slack = UNIT * len(parts) * float(np.abs(parts).sum())
        return min(bound, float(parts.sum()) + slack) if parts.min() > -np.inf else -np.inf

    def _round(self, point: Point, mask: Mask) -> None:
        """Offer the tree that has most of the point."""
        tree = Bound(np.where(mask, point.arcs, -np.inf), self.single_root, self.projective)
        if tree.value > -np.inf:
            self.best.offer(tree.heads)

    def _grow(self, program: GrandparentProgram, point: Point, prices: Floats, mask: Mask) -> bool:
        """Add what the point lacks; return whether there was anything."""
        grown = False
        if self.projective:
            one, other = crossing_arcs(point.arcs)
            program.exclude(one, other)
            grown = len(one[0]) > 0
        if not self.lazily:
            return grown
        g, p, c = program.chains
        broken = exceeded_arcs(point.arcs, (g, p, c), point.chains)
        program.add_upper_rows(g[broken], p[broken], c[broken])
        grown |= bool(broken.any())
        g, p, c = implied_chains(point.arcs)
        without = program.chain_column[g, p, c] < 0
        new = without & mask[g, p] & mask[p, c] & ~self._excluded[g, p, c]
        g, p, c = g[new], p[new], c[new]
        if len(g):
            forbidden = self.table.score(g, p, c) == -np.inf
            gf, pf, cf = g[forbidden], p[forbidden], c[forbidden]
            self._excluded[gf, pf, cf] = True
            program.exclude((gf, pf), (pf, cf))
            self._add(program, g, p, c)
            grown = True
        if self._price(program, point, prices, mask) or grown:
            return True
        # chains that gain without a row of their own leave the bound above the optimum
        g, p, c = program.chains
        gains = self.table.upper[g, p, c] > prices[p, c] + self.best.tolerance
        return program.add_upper_rows(g[gains], p[gains], c[gains])

    def _price(
        self, program: GrandparentProgram, point: Point, prices: Floats, mask: Mask
    ) -> bool:
        """Score the chains that might have a positive reduced cost; add those that do."""
        costs = point.arc_costs + (prices - point.one_grandparent)
        scale = abs(self.best.score) if self.best.heads is not None else 0.0
        given = (self.table, prices, costs, mask, program.chain_column, 1e-9 * max(1.0, scale))
        self.table.score(*priced(*given, unknown_only=True))
        found = priced(*given, unknown_only=False)
        self._add(program, *found)
        return bool(found.shape[1])

    def _parted(self, mask: Mask, bound: float, taken: Floats) -> tuple[float, list[Mask]]:
        """Branch on the arc that is nearest to one half; where all are whole, on any choice."""
        if mask.sum() == self.n:  # dropped arcs have left a single tree
            return self._leaf(mask, bound), []
        choices = mask.sum(axis=0) > 1
        doubt = np.where(mask & choices[None, :], np.abs(taken - 0.5), np.inf)
        h, m = np.unravel_index(int(np.argmin(doubt)), doubt.shape)
        inside, outside = mask.copy(), mask.copy()
        inside[:, m] = False
        inside[h, m] = True
        outside[h, m] = False
        return bound, [inside, outside]
