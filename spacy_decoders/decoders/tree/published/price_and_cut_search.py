"""Branch, price and cut: solve, price columns, add cuts, prune arcs, branch on fractions."""

import heapq
from dataclasses import dataclass

import numpy as np

from ....arrays import Booleans, Floats, Integers
from ....budget import UNLIMITED, Clock
from ....errors import InfeasibleError, UndecidedError
from ...programs import Solver, SolverError
from ..fallbacks import TreeBound, best_by_arcs
from ..kernels import proofs
from ..proof import UNIT, split
from .price_and_cut_pricing import (
    ScoreTable,
    Tokens,
    chains_of,
    lagrangian_bound,
    priced,
    slope_at,
    tightened,
)
from .price_and_cut_program import MasterPoint, MasterProgram, crossing_arcs, implied_chains

__all__ = ["BranchAndPrice", "PriceAndCutResult"]

#: Seconds to add a column and its rows to the program.
SECONDS_A_COLUMN = 2e-5

#: The descent: the most steps, the first rate of Polyak's rule, the steps without progress after
#: which it is reduced, by which factor, and the rate at which the descent ends.
STEPS, RATE, PATIENCE, DECAY, SLOWEST = 3000, 1.0, 6, 0.7, 0.02
#: Longer steps overflow.
LONGEST = 1e100
#: Chains scored at each step: most others are soon priced out, or their arcs pruned.
SCORED = 10


@dataclass(frozen=True, eq=False)
class PriceAndCutResult:
    """The result of price-and-cut, and statistics of the search."""

    #: The best tree, -1 for the root; None if there is none. **Shape:** ``(n + 1,)``
    heads: Integers | None
    #: The score of the tree, and the upper bound on all trees.
    score: float
    bound: float
    #: Whether no branching was needed.
    integral: bool
    #: How many grandparents were scored, and how many were added to the program.
    scored: int = 0
    added: int = 0
    #: The number of linear programs solved.
    rounds: int = 0


class BranchAndPrice:
    """One decoding: a best-first search, whose nodes are masks of allowed arcs.

    Solver and pruning are options of `PriceAndCut`; without `branching` it stops at the
    relaxation. It stops when the clock runs out or the solver fails, but not before a tree
    is found.
    """

    def __init__(
        self,
        table: ScoreTable,
        solver: Solver,
        pruning: bool,
        branching: bool,
        clock: Clock,
    ) -> None:
        self.table = table
        self.solver: Solver = solver
        self.pruning, self.branching = pruning, branching
        self.clock = clock
        self.n = len(table.arcs) - 1
        # the incumbent
        self.heads: Integers | None = None
        self.score = -np.inf
        self.rounds = 0
        self._gave_up = False
        self._pruned = -np.inf  # the bound on all trees with a pruned arc
        self._master: MasterProgram | None = None
        self._excluded = np.zeros((len(table.arcs),) * 3, dtype=bool)

    def run(self) -> PriceAndCutResult:
        """Search until the best tree is proven, or the budget ends."""
        mask = self.table.arcs > -np.inf
        # no tree has an arc without a possible grandparent
        prices = self.table.upper.max(axis=0)
        mask[1:] &= prices[1:] > -np.inf
        prices = np.where(prices > -np.inf, prices, 0.0)
        first = lagrangian_bound(self.table, mask, prices)
        bound = first.value
        if bound == -np.inf:
            return self._result(-np.inf, True)
        self._offer(first.heads)
        if self.pruning and self.heads is not None:
            bound, prices, mask = self._descend(mask, prices, first)
        self._prices = prices
        open_nodes = [(-bound, 0, mask)]
        nodes, integral, closed = 0, True, -np.inf
        while open_nodes:
            bound, _, mask = heapq.heappop(open_nodes)
            if self._closes(-bound):
                closed = max(closed, -bound)
                continue
            if self._over:
                heapq.heappush(open_nodes, (bound, 0, mask))
                break
            value, children = self._node(mask, -bound)
            nodes += 1
            integral &= nodes > 1 or not children
            last = not self.branching and self.heads is not None
            if not children or last:
                closed = max(closed, value)
                if children:
                    break
            for child in children:
                heapq.heappush(open_nodes, (-value, len(open_nodes) + nodes, child))
        return self._result(max([closed, self._pruned, *(-of[0] for of in open_nodes)]), integral)

    def _result(self, bound: float, integral: bool) -> PriceAndCutResult:
        added = self._master.chains.shape[1] if self._master else 0
        return PriceAndCutResult(
            self.heads, self.score, bound, integral, self.table.scored, added, self.rounds
        )

    @property
    def _over(self) -> bool:
        # without a tree there is nothing to return yet
        return self.heads is not None and (self._gave_up or self.clock.exhausted(self.rounds))

    @property
    def _tolerance(self) -> float:
        """The gap within which a bound closes a node."""
        return max(5e-10, 2e-10 * abs(self.score)) if self.heads is not None else 0.0

    def _closes(self, bound: float) -> bool:
        return bound <= self.score + self._tolerance

    def _offer(self, heads: Integers) -> None:
        """Make a tree the incumbent if it is better."""
        arcs = float(self.table.arcs[heads[1:], np.arange(1, len(heads))].sum())
        score = arcs + float(self.table.chains_of_tree(heads).sum())
        if score > self.score:
            self.heads, self.score = heads, score

    def _prune(self, allowed: Booleans, through: Floats) -> Booleans:
        """Return the arcs of the incumbent, and those that a better tree may have.

        ``through[h, m]`` bounds all trees with an arc.
        """
        kept = allowed & (through > self.score + self._tolerance)
        if self.heads is not None:
            tokens = np.arange(1, len(self.heads))
            kept[self.heads[1:], tokens] |= allowed[self.heads[1:], tokens]
        pruned = allowed & ~kept
        self._pruned = max(self._pruned, float(through[pruned].max(initial=-np.inf)))
        return kept

    def _descend(
        self, allowed: Booleans, prices: Floats, bound: TreeBound
    ) -> tuple[float, Floats, Booleans]:
        """Lower the bound by subgradient steps until it meets the incumbent, or stalls.

        Of the chains that are bought at a step, those with the largest gains are scored. The tree
        of each step is offered as the incumbent. The prices are the scores above which
        grandparents are bought, as with the duals of a linear program, so most chains are never
        scored. Steps are those of Polyak (1969), *Minimization of unsmooth functionals*; pricing
        is that of section 4.5 of Riedel et al.

        Returns the lowest bound, its prices, and the remaining arcs.
        """
        table, best, best_prices = self.table, bound.value, prices
        rate, stalled = RATE, 0
        allowed = self._prune(allowed, bound.through)
        for _ in range(STEPS):
            if self._closes(best) or rate < SLOWEST or self.clock.exhausted():
                break
            slope, unknown = slope_at(table, prices, allowed, bound.heads)
            if unknown.size:
                g, p, c = unknown
                most = np.argsort(prices[p, c] - table.upper[g, p, c], kind="stable")[:SCORED]
                table.score(g[most], p[most], c[most])
                slope, _ = slope_at(table, prices, allowed, bound.heads)
            size = float((slope**2).sum())
            if size == 0.0:
                break
            step = rate * (bound.value - self.score) / size
            if not step < LONGEST:
                break
            prices = prices - step * slope
            bound = lagrangian_bound(self.table, allowed, prices)
            self._offer(bound.heads)
            allowed = self._prune(allowed, bound.through)
            if bound.value < best:
                best, best_prices, stalled = bound.value, prices, 0
            else:
                stalled += 1
                if stalled == PATIENCE:
                    rate, stalled = DECAY * rate, 0
        return best, best_prices, allowed

    def _node(self, mask: Booleans, bound: float) -> tuple[float, list[Booleans]]:
        """Solve one node; return its bound, and its children if it is not closed."""
        if mask.sum() == self.n:
            return self._leaf(mask, bound), []
        if self._master is None:
            seconds = SECONDS_A_COLUMN * 4.0 * float(mask.sum())
            if self.heads is not None and seconds > self.clock.seconds_left:
                return bound, [mask]
            self._master = self._first_master(mask)
        master = self._master
        master.restrict(mask)
        while True:
            if self._over:
                return bound, [mask]
            try:
                clock = self.clock if self.heads is not None else UNLIMITED.start()
                point = master.solve(clock)
            except InfeasibleError:
                # the solver may err: the node is closed only if its arcs contain no tree
                if self._best_within(np.where(mask, 0.0, -np.inf)).value == -np.inf:
                    return -np.inf, []
                return self._branch(mask, bound, np.zeros_like(self.table.arcs))
            except SolverError as error:  # no time left, or scores that it can't handle
                if self.heads is None:
                    raise UndecidedError(
                        f"PriceAndCut: {error} No tree was found before; use BranchAndBound, or "
                        "forbid low scores by -inf."
                    ) from error
                self._gave_up = True
                return bound, [mask]
            self.rounds += 1
            prices = tightened(point.prices, point.arc_costs, point.arcs)
            relaxation = lagrangian_bound(self.table, mask, prices)
            if relaxation.value == -np.inf:
                return -np.inf, []
            bound = min(bound, relaxation.value)
            self._offer(relaxation.heads)
            # round the point to a tree
            part = np.where(mask, point.arcs, -np.inf)
            self._offer(self._best_within(part).heads)
            if self._closes(bound):
                return bound, []
            if self.pruning:
                mask = self._prune(mask, relaxation.through)
                master.restrict(mask)
            if not self._grow(master, point, prices, mask):
                # some scores that were only bounded may be known by now
                bound = min(bound, lagrangian_bound(self.table, mask, prices).value)
                if self._closes(bound):
                    return bound, []
                return self._branch(mask, bound, point.arcs)

    def _best_within(self, arcs: Floats) -> TreeBound:
        """Find the best first-order tree under these scores."""
        return best_by_arcs(arcs, self.table.projective, self.table.single_root)

    def _first_master(self, mask: Booleans) -> MasterProgram:
        """Build the program over the arcs that remain at the root.

        Its first chains are the paper's, those of the incumbent, and those bought at the first
        prices.
        """
        chains = chains_of(mask)
        upper = np.where(chains, self.table.upper, -np.inf)
        arcs = np.where(mask, self.table.arcs, -np.inf)
        reach = float(np.abs(arcs[mask]).max(initial=0.0))
        reach += float(np.abs(upper[upper > -np.inf]).max(initial=0.0))
        most = upper.max(axis=0)
        best = np.where(most > -np.inf, most, 0.0)
        lost = 2.0 * reach * self.n
        if self.heads is not None:
            lost = lagrangian_bound(self.table, mask, best).value - self.score
        # lower than trees would need, since fractional points pay only part of it
        penalty = best - lost - 4.0 * reach - 1.0
        master = MasterProgram(arcs, self.table.single_root, penalty, self.solver)
        start = upper > self._prices[None]
        start[0] |= chains[0]
        if self.heads is not None:
            c = np.flatnonzero(self.heads > 0)
            start[self.heads[self.heads[c]], self.heads[c], c] = True
        self._add(master, *np.nonzero(start & chains))
        return master

    def _add(self, master: MasterProgram, g: Tokens, p: Tokens, c: Tokens) -> None:
        """Score chains and add those that are not forbidden."""
        scores = self.table.score(g, p, c)
        real = scores > -np.inf
        master.add_chains(g[real], p[real], c[real], scores[real])

    def _leaf(self, mask: Booleans, bound: float) -> float:
        """Return the bound of a mask in which each token has one head."""
        h, m = np.nonzero(mask)
        heads = np.full(self.n + 1, -1)
        heads[m] = h
        table = self.table
        given = (heads[1:].astype(np.int32), table.projective, table.single_root)
        if not proofs.tally(table.arcs, *given)[0]:
            return -np.inf
        self._offer(heads)
        parts = np.concatenate([self.table.arcs[h, m], self.table.chains_of_tree(heads)])
        slack = UNIT * len(parts) * float(np.abs(parts).sum())
        return min(bound, float(parts.sum()) + slack) if parts.min() > -np.inf else -np.inf

    def _grow(
        self, master: MasterProgram, point: MasterPoint, prices: Floats, mask: Booleans
    ) -> bool:
        """Add violated rows, and columns with positive reduced cost; return whether any exist."""
        grown = master.cut_exceeded(point)
        if self.table.projective:
            one, other = crossing_arcs(point.arcs)
            master.exclude(one, other)
            grown |= len(one[0]) > 0
        g, p, c = implied_chains(point.arcs)
        new = (master.chain_column[g, p, c] < 0) & mask[g, p] & mask[p, c]
        new &= ~self._excluded[g, p, c]
        g, p, c = g[new], p[new], c[new]
        if len(g):
            forbidden = self.table.score(g, p, c) == -np.inf
            gf, pf, cf = g[forbidden], p[forbidden], c[forbidden]
            self._excluded[gf, pf, cf] = True
            master.exclude((gf, pf), (pf, cf))
            self._add(master, g, p, c)
            grown = True
        costs = point.arc_costs + (prices - point.prices)
        scale = abs(self.score) if self.heads is not None else 0.0
        given = (self.table, prices, costs, mask, master.chain_column, 1e-9 * max(1.0, scale))
        self.table.score(*priced(*given))
        worthy = priced(*given)
        self._add(master, *worthy)
        if len(worthy[0]) or grown:
            return True
        # while chains with gains lack a row, the bound is not tight
        g, p, c = master.chains
        return master.add_upper_rows(self.table.upper[g, p, c] > prices[p, c] + self._tolerance)

    def _branch(self, mask: Booleans, bound: float, taken: Floats) -> tuple[float, list[Booleans]]:
        """Branch on the arc with value nearest to 1/2; if all are integral, on any free arc."""
        if mask.sum() == self.n:  # pruning has left a single tree
            return self._leaf(mask, bound), []
        choices = mask.sum(axis=0) > 1
        doubt = np.where(mask & choices[None, :], np.abs(taken - 0.5), np.inf)
        h, m = np.unravel_index(int(np.argmin(doubt)), doubt.shape)
        return bound, list(split(mask, int(h), int(m)))
