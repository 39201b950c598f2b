"""The master program of trees with grandparents, with delayed columns and rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....arrays import Booleans, Floats
from ....budget import Clock
from ...programs import LinearProgram, Sense, Solver

__all__ = ["MasterPoint", "MasterProgram", "crossing_arcs", "implied_chains"]

Tokens = NDArray[np.intp]
Pair = tuple[Tokens, Tokens]

#: Violations below this are within the solver's tolerance.
SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class MasterPoint:
    """An optimum of the restricted program."""

    #: (n + 1, n + 1), the value of each arc's column, and its reduced cost.
    arcs: Floats
    arc_costs: Floats
    #: (n + 1, n + 1), the dual of OneGP for each arc (p, c) with p > 0; 0 elsewhere.
    prices: Floats
    #: The value of each chain's column, in the order they were added.
    chains: Floats


class MasterProgram:
    """The first-order program with single-commodity flow, to which grandparents are added.

    Arcs of ``-inf`` have no column. The penalty, (n + 1, n + 1), is the objective of a slack
    column for an arc's grandparents, so low that no best tree uses it: without it the restricted
    program could be infeasible.

    Some of the paper's rows are implied by others and left out: GPArc for the lower arc follows
    from OneGP; NoGP follows from GPArc for the upper arc; and so does ArcGP, given OneGP and
    OneHead: z_gpc = z_pc - sum of the other z_g'pc >= z_pc - (1 - z_gp). OneGP and
    z_gpc <= z_gp remain. The latter rows are delayed until a point violates them.

    The flow along a taken arc is written as 1 + x, where x is the number of tokens below the
    modifier: at most n - 1 from the root and n - 2 elsewhere, exactly n - 1 from a single root.
    This is the paper's flow with tighter NoFlow rows; Source is implied.

    References
    ----------
    Riedel, Smith and McCallum (2012), Parse, Price and Cut, section 3; Martins, Smith and Xing
    (2009), Concise Integer Linear Programming Formulations for Dependency Parsing.
    """

    def __init__(self, arcs: Floats, single_root: bool, penalty: Floats, solver: Solver) -> None:
        size = len(arcs)
        self.size = size
        self.program = LinearProgram(solver)
        self.h, self.m = np.nonzero(arcs > -np.inf)
        self._taken = self.program.add_columns(arcs[self.h, self.m])
        #: the column of each arc, and of each chain; -1 if it has none
        self.column = np.full((size, size), -1)
        self.column[self.h, self.m] = self._taken
        self.chain_column = np.full((size,) * 3, -1)
        #: the chains that have columns, in order of addition: (g, p, c)
        self.chains = np.zeros((3, 0), dtype=np.intp)
        self._below_upper = np.zeros((size,) * 3, dtype=bool)
        self._add_heads(single_root)
        self._add_flow(single_root)
        lower = self.h > 0
        self._p, self._c = self.h[lower], self.m[lower]
        self._one_grandparent = self.program.add_rows(self._taken[lower, None], -1.0, "=", 0.0)
        #: the row OneGP of each lower arc; -1 if there is none
        self.one_row = np.full((size, size), -1)
        self.one_row[self._p, self._c] = self._one_grandparent
        rows = self._one_grandparent[:, None]
        self.program.add_columns(penalty[self._p, self._c], rows=rows)

    def _add_heads(self, single_root: bool) -> None:
        """Add OneHead, and the row of a single root."""
        groups = [self._taken[self.m == m] for m in range(1, self.size)]
        if single_root:
            groups.append(self._taken[self.h == 0])
        starts = np.cumsum([0, *map(len, groups)])
        self.program.add_rows(np.concatenate(groups), 1.0, "=", 1.0, starts)

    def _add_flow(self, single_root: bool) -> None:
        """Add Consume and NoFlow, for the flow beyond one unit."""
        n, h, m, taken = self.size - 1, self.h, self.m, self._taken
        flow = self.program.add_columns(np.zeros(len(h)), upper=float(n))
        below = h > 0
        tokens = np.concatenate([m, h[below], h[below]])
        order = np.argsort(tokens, kind="stable")
        columns = np.concatenate([flow, flow[below], taken[below]])[order]
        signs = np.repeat([1.0, -1.0], [len(m), 2 * int(below.sum())])[order]
        starts = np.searchsorted(tokens[order], np.arange(1, n + 2))
        self.program.add_rows(columns, signs, "=", 0.0, starts)
        most = np.where(h == 0, n - 1, max(n - 2, 0)).astype(float)
        exact = (h == 0) & single_root
        senses: list[tuple[Sense, Booleans]] = [("=", exact), ("<=", ~exact)]
        for sense, chosen in senses:
            pairs = np.stack([flow[chosen], taken[chosen]], axis=1)
            weights = np.stack([np.ones(len(pairs)), -most[chosen]], axis=1)
            self.program.add_rows(pairs, weights, sense, 0.0)

    def add_chains(self, g: Tokens, p: Tokens, c: Tokens, scores: Floats) -> None:
        """Add columns for chains that have none yet, each to its OneGP row."""
        columns = self.program.add_columns(scores, rows=self.one_row[p, c][:, None])
        self.chain_column[g, p, c] = columns
        self.chains = np.concatenate([self.chains, [g, p, c]], axis=1)

    def add_upper_rows(self, of: Booleans) -> bool:
        """Add GPArc, z_gpc <= z_gp, for some of `chains`; return whether any is new."""
        g, p, c = self.chains[:, of]
        new = ~self._below_upper[g, p, c]
        g, p, c = g[new], p[new], c[new]
        self._below_upper[g, p, c] = True
        pairs = np.stack([self.chain_column[g, p, c], self.column[g, p]], axis=1)
        self.program.add_rows(pairs, [1.0, -1.0], "<=", 0.0)
        return len(g) > 0

    def cut_exceeded(self, point: MasterPoint) -> bool:
        """Add the GPArc rows that a point violates; return whether there is any."""
        g, p, _ = self.chains
        exceeded = point.chains > point.arcs[g, p] + SLACK
        self.add_upper_rows(exceeded)
        return bool(exceeded.any())

    def exclude(self, one: Pair, other: Pair) -> None:
        """Forbid pairs of arcs in one tree: the arcs of a forbidden chain, or crossing arcs."""
        pairs = np.stack([self.column[one], self.column[other]], axis=1)
        self.program.add_rows(pairs, 1.0, "<=", 1.0)

    def restrict(self, allowed: Booleans) -> None:
        """Fix the columns of all other arcs to zero."""
        self.program.set_upper(self._taken, allowed[self.h, self.m])

    def solve(self, clock: Clock) -> MasterPoint:
        """Solve the restricted program.

        Raises `InfeasibleError` if the allowed arcs contain no tree, and `SolverError` if the
        solver fails, or time runs out.
        """
        solved = self.program.relax(clock)
        arcs, costs, prices = np.zeros((3, self.size, self.size))
        arcs[self.h, self.m] = solved.values[self._taken]
        costs[self.h, self.m] = solved.reduced_costs[self._taken]
        prices[self._p, self._c] = solved.duals[self._one_grandparent]
        chains = solved.values[self.chain_column[tuple(self.chains)]]
        return MasterPoint(arcs, costs, prices, chains)


def implied_chains(arcs: Floats) -> tuple[Tokens, Tokens, Tokens]:
    """Return the chains whose two arcs have a total value above 1 (section 4.4 of Riedel et al.).

    Without a column they violate ArcGP.
    """
    h, m = np.nonzero(arcs > SLACK)
    one, other = np.nonzero(m[:, None] == h[None, :])
    g, p, c = h[one], m[one], m[other]
    implied = arcs[g, p] + arcs[p, c] > 1.0 + SLACK
    return g[implied], p[implied], c[implied]


def crossing_arcs(arcs: Floats) -> tuple[Pair, Pair]:
    """Return pairs of crossing arcs whose values add up to more than one."""
    h, m = np.nonzero(arcs > SLACK)
    left, right = np.minimum(h, m), np.maximum(h, m)
    inside = (left[:, None] < left) & (left < right[:, None]) & (right > right[:, None])
    one, other = np.nonzero(inside & (arcs[h, m][:, None] + arcs[h, m] > 1.0 + SLACK))
    return (h[one], m[one]), (h[other], m[other])
