"""The linear program of trees with grandparents, of which only a part may be stated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...budget import Clock
from ..solver import LinearProgram, Solver

__all__ = ["GrandparentProgram", "Point", "Polytope"]

Polytope = Literal["both", "martins", "counting"]
Floats = NDArray[np.float64]
Tokens = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Point:
    """An optimum of what was stated of the program.

    Attributes
    ----------
    arcs
        (n + 1, n + 1), how much of each arc is taken.
    arc_costs
        (n + 1, n + 1), the reduced cost of each arc.
    one_grandparent
        (n + 1, n + 1), the dual of OneGP for each arc (p, c) with p > 0, what a unit more of
        its grandparents would lose; 0 where there is no such row.
    chains
        One for each chain that was added, in order.
    unexplained
        How much of all arcs has no grandparent.
    objective
        Of the point.
    bound
        By the program's own duals; proven if all chains and rows were added.
    """

    arcs: Floats
    arc_costs: Floats
    one_grandparent: Floats
    chains: Floats
    unexplained: float
    objective: float
    bound: float


class GrandparentProgram:
    """The first-order program with single-commodity flow, growing by grandparents.

    Parameters
    ----------
    arcs
        Scores, ``-inf`` where an arc is left out.
    single_root
        Whether exactly one token hangs on the root.
    polytope
        Which rows tie grandparents to arcs: ``"martins"`` ArcGP and GPArc, ``"counting"``
        OneGP and NoGP, ``"both"`` all of them.
    penalty
        (n + 1, n + 1), the objective of an arc's grandparents where there is no column for
        them: so low that it pays in no best tree. Without it the columns that are there need
        not suffice for a tree.
    solver
        Who solves it.

    Notes
    -----
    Of the four kinds of rows some follow from others, and are left out. With ``"both"``, GPArc
    for the lower arc follows from OneGP; NoGP follows from GPArc for the upper arc; and so
    does ArcGP, given OneGP and OneHead: z_gpc = z_pc - sum of the other z_g'pc
    >= z_pc - (1 - z_gp). What is left is OneGP and z_gpc <= z_gp. The latter rows may come
    later, where a point breaks them.

    The flow of an arc is stated as 1 + x for an arc that is taken: x is the number of tokens
    below the modifier, at most n - 1 from the root and n - 2 elsewhere, exactly n - 1 from a
    single root. This is the paper's flow with tighter NoFlow rows; Source follows.

    References
    ----------
    Riedel, Smith and McCallum (2012), Parse, Price and Cut, section 3; Martins, Smith and Xing
    (2009), Concise Integer Linear Programming Formulations for Dependency Parsing.
    """

    def __init__(
        self,
        arcs: Floats,
        single_root: bool,
        polytope: Polytope,
        penalty: Floats,
        solver: Solver,
    ) -> None:
        size = len(arcs)
        self.size = size
        self.polytope = polytope
        self._program = LinearProgram(solver, maximize=True)
        self.column = np.full((size, size), -1)
        self.h, self.m = np.nonzero(arcs > -np.inf)
        self.column[self.h, self.m] = self._program.add_columns(arcs[self.h, self.m])
        self._add_heads(single_root)
        self._add_flow(single_root)
        #: the column of each chain, -1 if it has none, and the chains in the order they came
        self.chain_column = np.full((size,) * 3, -1)
        self.chains: list[tuple[int, int, int]] = []
        self._below_upper: set[tuple[int, int, int]] = set()
        self.one_row = np.full((size, size), -1)
        self._no_row = np.full((size, size), -1)
        self._spare: list[int] = []
        if polytope != "martins":
            self._add_one_grandparent(penalty)
        if polytope == "counting":
            for g, p in zip(self.h.tolist(), self.m.tolist(), strict=True):
                self._no_row[g, p] = self._program.add_row(
                    [self.column[g, p]], [-float(size - 1)], "<=", 0.0
                )

    def _add_heads(self, single_root: bool) -> None:
        """OneHead, and one root."""
        for m in range(1, self.size):
            into = self._column_list(self.column[:, m])
            self._program.add_row(into, np.ones(len(into)), "=", 1.0)
        if single_root:
            root = self._column_list(self.column[0])
            self._program.add_row(root, np.ones(len(root)), "=", 1.0)

    def _add_flow(self, single_root: bool) -> None:
        """Consume and NoFlow, for what flows beyond one unit."""
        n = self.size - 1
        flow = np.full((self.size, self.size), -1)
        flow[self.h, self.m] = self._program.add_columns(np.zeros(len(self.h)), upper=float(n))
        for t in range(1, self.size):
            into, out = self._column_list(flow[:, t]), self._column_list(flow[t])
            below = self._column_list(self.column[t])
            signs = np.repeat([1.0, -1.0, -1.0], [len(into), len(out), len(below)])
            self._program.add_row(np.concatenate([into, out, below]), signs, "=", 0.0)
        for h, m in zip(self.h.tolist(), self.m.tolist(), strict=True):
            most = float(n - 1 if h == 0 else max(n - 2, 0))
            sense: Literal["=", "<="] = "=" if h == 0 and single_root else "<="
            self._program.add_row([flow[h, m], self.column[h, m]], [1.0, -most], sense, 0.0)

    def _add_one_grandparent(self, penalty: Floats) -> None:
        for p, c in zip(self.h.tolist(), self.m.tolist(), strict=True):
            if p > 0:
                row = self._program.add_row([self.column[p, c]], [-1.0], "=", 0.0)
                self.one_row[p, c] = row
                self._spare.append(self._program.add_column(penalty[p, c], [row], [1.0]))

    @staticmethod
    def _column_list(columns: NDArray[np.intp]) -> NDArray[np.intp]:
        return columns[columns >= 0]

    def add_chains(self, g: Tokens, p: Tokens, c: Tokens, scores: Floats) -> None:
        """Add the columns of chains that have none yet, with the rows that exist."""
        for i, j, k, score in zip(
            g.tolist(), p.tolist(), c.tolist(), scores.tolist(), strict=True
        ):
            rows = [row for row in (self.one_row[j, k], self._no_row[i, j]) if row >= 0]
            self.chain_column[i, j, k] = self._program.add_column(score, rows, np.ones(len(rows)))
            self.chains.append((i, j, k))

    def add_upper_rows(self, g: Tokens, p: Tokens, c: Tokens) -> None:
        """GPArc, z_gpc <= z_gp, for chains that have columns."""
        for chain in zip(g.tolist(), p.tolist(), c.tolist(), strict=True):
            if chain not in self._below_upper:
                self._below_upper.add(chain)
                columns = [self.chain_column[chain], self.column[chain[:2]]]
                self._program.add_row(columns, [1.0, -1.0], "<=", 0.0)

    def add_martins_rows(self, g: Tokens, p: Tokens, c: Tokens) -> None:
        """GPArc for the lower arc and ArcGP, for chains that have columns."""
        for i, j, k in zip(g.tolist(), p.tolist(), c.tolist(), strict=True):
            chain, upper, lower = (
                self.chain_column[i, j, k],
                self.column[i, j],
                self.column[j, k],
            )
            self._program.add_row([chain, lower], [1.0, -1.0], "<=", 0.0)
            self._program.add_row([upper, lower, chain], [1.0, 1.0, -1.0], "<=", 1.0)

    def exclude(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        """Forbid two arcs in one tree: ArcGP without its grandparent, or crossing arcs."""
        self._program.add_row([self.column[one], self.column[other]], [1.0, 1.0], "<=", 1.0)

    def restrict(self, allowed: NDArray[np.bool_]) -> None:
        """Take only the allowed arcs, among those that the program has."""
        for h, m in zip(self.h.tolist(), self.m.tolist(), strict=True):
            upper = 1.0 if allowed[h, m] else 0.0
            if self._program.upper(self.column[h, m]) != upper:
                self._program.set_bounds(self.column[h, m], 0.0, upper)

    def solve(self, clock: Clock) -> Point:
        """Solve what was stated.

        Raises
        ------
        InfeasibleError
            If the allowed arcs make no tree.
        SolverError
            If the solver fails, or time runs out.
        """
        relaxed = self._program.relax(clock)
        shape = (self.size, self.size)
        arcs, costs, prices = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        taken = self.column[self.h, self.m]
        arcs[self.h, self.m] = relaxed.values[taken]
        costs[self.h, self.m] = relaxed.reduced_costs[taken]
        p, c = np.nonzero(self.one_row >= 0)
        prices[p, c] = relaxed.duals[self.one_row[p, c]]
        columns = np.array([self.chain_column[chain] for chain in self.chains], dtype=np.intp)
        return Point(
            arcs,
            costs,
            prices,
            relaxed.values[columns],
            float(relaxed.values[self._spare].sum()) if self._spare else 0.0,
            relaxed.objective,
            relaxed.bound,
        )
