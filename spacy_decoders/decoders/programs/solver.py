"""Linear and integer programs: the one place where a solver is called.

A solver's status is a claim, not a proof: here every solution is checked against the rows and
bounds that were given, and the bound of a relaxation is computed from its duals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores
from ...budget import UNLIMITED, Clock
from ...errors import InfeasibleError, ProblemError
from .highs import relaxed_by_highs, solved_by_highs
from .python_mip import answer_by_cbc
from .silence import silent_stdout
from .statement import Answer, Sense, Solver, SolverError, Statement, checked_solver

__all__ = [
    "IntegerSolution",
    "LinearProgram",
    "OutOfTimeError",
    "Relaxation",
    "Sense",
    "Solver",
    "SolverError",
]

Floats = NDArray[np.float64]

#: How far a solution may miss a row, a bound or a whole number, relative to the row.
FEASIBILITY = 1e-6
#: By sense, as solvers are told it.
_SIGNS: dict[Sense, int] = {"<=": 1, ">=": -1, "=": 0}
#: The share of a budget that writing may not use: it is no good without time to solve, and
#: taking a large program down takes time too.
KEPT_BACK = 0.2


class OutOfTimeError(SolverError):
    """The budget ended while the program was written."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The optimum of a linear program, integrality ignored.

    Attributes
    ----------
    values
        One per column. **Shape:** ``(columns,)``
    duals
        One per row: what a unit more on its right-hand side would add to the objective.
        **Shape:** ``(rows,)``
    reduced_costs
        Objective minus the duals' worth of the column. **Shape:** ``(columns,)``
    objective
        Of the values, computed here.
    bound
        Proven by the duals: no feasible point is better. Infinite if the duals leave a
        column without a finite bound unpriced.
    """

    values: Floats
    duals: Floats
    reduced_costs: Floats
    objective: float
    bound: float


@dataclass(frozen=True, eq=False)
class IntegerSolution:
    """A point that satisfies all rows, bounds and integrality.

    Attributes
    ----------
    values
        One per column, whole where they must be. **Shape:** ``(columns,)``
    objective
        Of the values, computed here.
    bound
        The solver's bound on the optimum.
    proven
        Whether the solver ended its search, so that the point is optimal up to its
        numerical tolerance.
    """

    values: Floats
    objective: float
    bound: float
    proven: bool


class LinearProgram:
    """A linear or mixed-integer program that may grow by columns and rows.

    Parameters
    ----------
    solver
        ``"HIGHS"``, which comes with scipy, or ``"CBC"``, which needs the extra ``solvers``.
    maximize
        Whether the objective is maximised, or minimised.
    clock
        What limits the writing, which takes longer than the solving where rows are many: what
        adds to the program raises `OutOfTimeError` when it has ended.

    Examples
    --------
    >>> program = LinearProgram(maximize=True)
    >>> x, y = program.add_columns([3.0, 2.0], integer=True)
    >>> row = program.add_row([x, y], [2.0, 2.0], "<=", 3.0)
    >>> relaxed = program.relax()
    >>> relaxed.objective, relaxed.bound, relaxed.duals
    (4.0, 4.0, array([1.]))
    >>> program.solve().values
    array([1., 0.])
    """

    def __init__(
        self, solver: Solver = "HIGHS", *, maximize: bool = True, clock: Clock | None = None
    ) -> None:
        self._clock = clock or UNLIMITED.start()
        self.solver = checked_solver(solver)
        self.maximize = maximize
        self._objective: list[float] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._whole: list[bool] = []
        self._senses: list[Sense] = []
        self._sides: list[float] = []
        # the matrix by entries, for checking what comes back
        self._entry_rows: list[NDArray[np.int64]] = []
        self._entry_columns: list[NDArray[np.int64]] = []
        self._entry_values: list[Floats] = []

    @property
    def column_count(self) -> int:
        """The number of columns (variables)."""
        return len(self._objective)

    @property
    def row_count(self) -> int:
        """The number of rows (constraints)."""
        return len(self._sides)

    def add_columns(
        self,
        objective: ArrayLike,
        *,
        lower: float = 0.0,
        upper: float = 1.0,
        integer: bool = False,
    ) -> NDArray[np.int64]:
        """Add variables with these objective coefficients; return their indices.

        Raises
        ------
        ProblemError
            If a coefficient is not finite: solvers take NaN for optimal.
        """
        costs = checked_scores("objective", objective, (None,), dtype=np.float64, forbidden=False)
        self._check_bounds(lower, upper)
        self._look_at_clock()
        first = self.column_count
        for cost in costs.tolist():
            self._remember_column(cost, lower, upper, integer)
        return np.arange(first, self.column_count)

    def add_column(
        self,
        objective: float,
        rows: ArrayLike,
        coefficients: ArrayLike,
        *,
        lower: float = 0.0,
        upper: float = 1.0,
        integer: bool = False,
    ) -> int:
        """Add one variable that enters rows which exist already; return its index."""
        cost = float(checked_scores("objective", [objective], (1,), dtype=np.float64,
                                    forbidden=False)[0])  # fmt: skip
        self._check_bounds(lower, upper)
        into, values = self._entries("rows", rows, coefficients, self.row_count)
        self._remember_column(cost, lower, upper, integer)
        self._remember_entries(into, np.full(len(into), self.column_count - 1), values)
        return self.column_count - 1

    def add_row(
        self, columns: ArrayLike, coefficients: ArrayLike, sense: Sense, side: float
    ) -> int:
        """Require that a weighted sum of columns is ``<=``, ``=`` or ``>=`` a number.

        Returns the row's index.
        """
        self._look_at_clock()
        if sense not in ("<=", "=", ">="):
            raise ProblemError(f"sense: expected '<=', '=' or '>=', got {sense!r}.")
        if not math.isfinite(side):
            raise ProblemError(f"side: expected a finite number, got {side!r}.")
        of, values = self._entries("columns", columns, coefficients, self.column_count)
        self._senses.append(sense)
        self._sides.append(float(side))
        self._remember_entries(np.full(len(of), self.row_count - 1), of, values)
        return self.row_count - 1

    def set_bounds(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a column, as branching does."""
        self._check_bounds(lower, upper)
        self._lower[column], self._upper[column] = lower, upper

    def relax(self, clock: Clock | None = None) -> Relaxation:
        """Solve without integrality, within the clock's seconds.

        Raises
        ------
        InfeasibleError
            If no point satisfies the rows.
        SolverError
            If the solver stops early, finds it unbounded, or returns a wrong point.
        """
        answer = self._answer(clock, relax=True)
        if answer.status != "optimal":
            raise SolverError(f"{self.solver} did not solve the relaxation ({answer.status}).")
        values, duals = answer.values, answer.duals
        self._check(values)
        matrix = self._matrix()
        reduced = np.asarray(self._objective) - matrix.T @ duals
        return Relaxation(values, duals, reduced, self._worth(values), self._dual_bound(duals))

    def solve(self, clock: Clock | None = None) -> IntegerSolution | None:
        """Solve with integrality, within the clock's seconds; None if they found nothing.

        Raises
        ------
        InfeasibleError
            If no point satisfies the rows.
        SolverError
            If the program is unbounded, or the solver fails or returns a wrong point.
        """
        answer = self._answer(clock, relax=False)
        if answer.status == "out of time":
            return None
        if answer.status not in ("optimal", "feasible"):
            raise SolverError(f"{self.solver} did not solve the program ({answer.status}).")
        values = answer.values
        whole = np.asarray(self._whole)
        rounded = np.where(whole, np.round(values), values)
        if np.abs(rounded - values).max(initial=0.0) > 1e3 * FEASIBILITY:
            raise SolverError(f"{self.solver} returned fractions for whole numbers.")
        self._check(rounded)
        worth = self._worth(rounded)
        bound = max(answer.bound, worth) if self.maximize else min(answer.bound, worth)
        return IntegerSolution(rounded, worth, bound, answer.status == "optimal")

    def _look_at_clock(self) -> None:
        seconds = self._clock.budget.seconds
        if seconds is not None and self._clock.seconds_left < KEPT_BACK * seconds:
            raise OutOfTimeError("The budget ended before the program was written.")

    def _answer(self, clock: Clock | None, *, relax: bool) -> Answer:
        clock = clock or UNLIMITED.start()
        seconds = min(clock.seconds_left, 1e9)
        if seconds == 0.0:
            return Answer("out of time")
        if not self.column_count:
            raise ProblemError("The program has no columns; add some.")
        program = self._stated()
        with silent_stdout():
            if self.solver == "HIGHS":
                answer = (relaxed_by_highs if relax else solved_by_highs)(program, seconds)
            else:
                answer = answer_by_cbc(program, seconds, relax=relax)
        if answer.status == "infeasible":
            raise InfeasibleError("No point satisfies all rows of the program.")
        return answer

    def _stated(self) -> Statement:
        return Statement(
            self.maximize,
            np.asarray(self._objective),
            np.asarray(self._lower),
            np.asarray(self._upper),
            np.asarray(self._whole),
            self._matrix(),
            np.array([_SIGNS[sense] for sense in self._senses], dtype=np.int8),
            np.asarray(self._sides, dtype=np.float64),
        )

    def _check(self, values: Floats) -> None:
        """Refuse a point that breaks a row or a bound."""
        if not np.isfinite(values).all():
            raise SolverError(f"{self.solver} returned values that are not finite.")
        lower, upper = np.asarray(self._lower), np.asarray(self._upper)
        slack = FEASIBILITY * np.maximum(1.0, np.abs(values))
        if ((values < lower - slack) | (values > upper + slack)).any():
            raise SolverError(f"{self.solver} returned a point outside its bounds.")
        matrix = self._matrix()
        sides = np.asarray(self._sides)
        excess = matrix @ values - sides
        senses = np.asarray(self._senses)
        miss = np.where(senses == "=", np.abs(excess), np.where(senses == "<=", excess, -excess))
        scale = np.maximum(1.0, np.abs(sides) + abs(matrix) @ np.abs(values))
        if (miss > FEASIBILITY * scale).any():
            row = int(np.argmax(miss / scale))
            raise SolverError(f"{self.solver} returned a point that breaks row {row}.")

    def _dual_bound(self, duals: Floats) -> float:
        """A bound that holds for any duals, however inexact (weak duality).

        Duals of the wrong sign are dropped; what the reduced costs could still gain within
        the bounds of their columns is added.
        """
        sign = 1.0 if self.maximize else -1.0
        prices = sign * duals
        senses = np.asarray(self._senses)
        prices = np.where(senses == "<=", np.maximum(prices, 0.0), prices)
        prices = np.where(senses == ">=", np.minimum(prices, 0.0), prices)
        reduced = sign * np.asarray(self._objective) - self._matrix().T @ prices
        at_upper = reduced > 0
        reach = np.where(at_upper, self._upper, self._lower)
        # a column without a bound must be priced to zero, which rounding prevents: see scale
        noise = FEASIBILITY * 1e-3 * np.maximum(1.0, np.abs(self._objective))
        unbounded = ~np.isfinite(reach)
        if (unbounded & (np.abs(reduced) > noise)).any():
            return sign * np.inf
        gain = np.where(unbounded, 0.0, reduced * np.where(unbounded, 0.0, reach))
        return float(sign * (prices @ np.asarray(self._sides) + gain.sum()))

    def _worth(self, values: Floats) -> float:
        return float(np.asarray(self._objective) @ values)

    def _matrix(self) -> Any:
        from scipy.sparse import csr_matrix

        shape = (self.row_count, self.column_count)
        if not self._entry_rows:
            return csr_matrix(shape)
        if len(self._entry_rows) > 1:
            self._entry_rows = [np.concatenate(self._entry_rows)]
            self._entry_columns = [np.concatenate(self._entry_columns)]
            self._entry_values = [np.concatenate(self._entry_values)]
        entries = (self._entry_rows[0], self._entry_columns[0])
        return csr_matrix((self._entry_values[0], entries), shape=shape)

    def _entries(
        self, name: str, indices: ArrayLike, coefficients: ArrayLike, high: int
    ) -> tuple[NDArray[np.int64], Floats]:
        of = checked_indices(name, indices, (None,), low=0, high=high, dtype=np.int64)
        values = checked_scores(
            "coefficients", coefficients, (len(of),), dtype=np.float64, forbidden=False
        )
        if len(np.unique(of)) < len(of):
            raise ProblemError(f"{name}: an index occurs twice; add its coefficients up.")
        return of, values

    def _remember_column(self, cost: float, lower: float, upper: float, whole: bool) -> None:
        self._objective.append(cost)
        self._lower.append(lower)
        self._upper.append(upper)
        self._whole.append(whole)

    def _remember_entries(self, rows: Any, columns: Any, values: Floats) -> None:
        self._entry_rows.append(np.asarray(rows, dtype=np.int64))
        self._entry_columns.append(np.asarray(columns, dtype=np.int64))
        self._entry_values.append(values)

    @staticmethod
    def _check_bounds(lower: float, upper: float) -> None:
        if not lower <= upper:
            raise ProblemError(f"lower: must not exceed upper, got {lower!r} and {upper!r}.")
