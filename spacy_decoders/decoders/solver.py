"""Linear and integer programs: the one place where a solver is called.

Solvers are reached through python-mip. Its status is a claim, not a proof: here every
solution is checked against the rows and bounds that were given, and the bound of a
relaxation is computed from its duals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_scores
from ..budget import UNLIMITED, Clock
from ..errors import DecodersError, InfeasibleError, ProblemError
from .python_mip import python_mip
from .silence import silent_stdout

__all__ = [
    "IntegerSolution",
    "LinearProgram",
    "OutOfTimeError",
    "Relaxation",
    "Sense",
    "Solver",
    "SolverError",
]

Solver = Literal["CBC", "HIGHS"]
Sense = Literal["<=", "=", ">="]
Floats = NDArray[np.float64]

#: How far a solution may miss a row, a bound or a whole number, relative to the row.
FEASIBILITY = 1e-6
#: The share of a budget that writing may not use: it is no good without time to solve, and
#: taking a large program down takes time too.
KEPT_BACK = 0.2


class SolverError(DecodersError, RuntimeError):
    """The solver failed, or its answer does not satisfy the program it was given."""


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
        ``"CBC"``, which comes with this package, or ``"HIGHS"``, which needs the extra
        ``highs``.
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
        self, solver: Solver = "CBC", *, maximize: bool = True, clock: Clock | None = None
    ) -> None:
        self._clock = clock or UNLIMITED.start()
        if solver not in ("CBC", "HIGHS"):
            raise ProblemError(f"solver: expected 'CBC' or 'HIGHS', got {solver!r}.")
        try:
            mip = python_mip(solver)
        except ImportError as error:
            raise SolverError("python-mip can't be imported; install `mip`.") from error
        self.solver = solver
        self.maximize = maximize
        self._mip = mip
        try:
            with silent_stdout():
                sense = mip.MAXIMIZE if maximize else mip.MINIMIZE
                self._model = mip.Model(sense=sense, solver_name=solver)
        except Exception as error:
            hint = " Install spacy-decoders[highs]." if solver == "HIGHS" else ""
            raise SolverError(f"The solver {solver} can't be loaded ({error}).{hint}") from error
        self._model.verbose = 0
        self._model.threads = 1
        # python-mip's own default calls a solution optimal that is 0.01% off
        self._model.max_mip_gap = 0.0
        self._model.max_mip_gap_abs = 1e-9
        self._columns: list[Any] = []
        self._rows: list[Any] = []
        self._objective: list[float] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._whole: list[bool] = []
        self._senses: list[str] = []
        self._sides: list[float] = []
        # the matrix by entries, for checking what comes back
        self._entry_rows: list[NDArray[np.int64]] = []
        self._entry_columns: list[NDArray[np.int64]] = []
        self._entry_values: list[Floats] = []

    @property
    def column_count(self) -> int:
        """The number of columns (variables)."""
        return len(self._columns)

    @property
    def row_count(self) -> int:
        """The number of rows (constraints)."""
        return len(self._rows)

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
        kind = self._mip.INTEGER if integer else self._mip.CONTINUOUS
        first = self.column_count
        for place, cost in enumerate(costs.tolist()):
            if place % 1000 == 0:
                self._look_at_clock()
            self._columns.append(self._model.add_var(obj=cost, lb=lower, ub=upper, var_type=kind))
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
        kind = self._mip.INTEGER if integer else self._mip.CONTINUOUS
        column = self._mip.Column([self._rows[i] for i in into.tolist()], values.tolist())
        self._columns.append(
            self._model.add_var(obj=cost, lb=lower, ub=upper, var_type=kind, column=column)
        )
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
        expression = self._mip.LinExpr(
            [self._columns[i] for i in of.tolist()], values.tolist(), -float(side), sense[0]
        )
        self._rows.append(self._model.add_constr(expression))
        self._senses.append(sense)
        self._sides.append(float(side))
        self._remember_entries(np.full(len(of), self.row_count - 1), of, values)
        return self.row_count - 1

    def set_bounds(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a column, as branching does."""
        self._check_bounds(lower, upper)
        variable = self._columns[column]
        variable.lb, variable.ub = lower, upper
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
        status = self._optimize(clock, relax=True)
        if status != self._mip.OptimizationStatus.OPTIMAL:
            raise SolverError(f"{self.solver} did not solve the relaxation ({status.name}).")
        values = np.array([column.x for column in self._columns], dtype=np.float64)
        self._check(values)
        duals = np.array([row.pi for row in self._rows], dtype=np.float64)
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
        status = self._optimize(clock, relax=False)
        known = self._mip.OptimizationStatus
        if status == known.NO_SOLUTION_FOUND:
            return None
        if status not in (known.OPTIMAL, known.FEASIBLE):
            raise SolverError(f"{self.solver} did not solve the program ({status.name}).")
        values = np.array([column.x for column in self._columns], dtype=np.float64)
        whole = np.asarray(self._whole)
        rounded = np.where(whole, np.round(values), values)
        if np.abs(rounded - values).max(initial=0.0) > 1e3 * FEASIBILITY:
            raise SolverError(f"{self.solver} returned fractions for whole numbers.")
        self._check(rounded)
        worth = self._worth(rounded)
        bound = float(self._model.objective_bound)
        bound = max(bound, worth) if self.maximize else min(bound, worth)
        return IntegerSolution(rounded, worth, bound, status == known.OPTIMAL)

    def _look_at_clock(self) -> None:
        seconds = self._clock.budget.seconds
        if seconds is not None and self._clock.seconds_left < KEPT_BACK * seconds:
            raise OutOfTimeError("The budget ended before the program was written.")

    def _optimize(self, clock: Clock | None, *, relax: bool) -> Any:
        clock = clock or UNLIMITED.start()
        if clock.seconds_left == 0.0:
            return self._mip.OptimizationStatus.NO_SOLUTION_FOUND
        seconds = min(clock.seconds_left, 1e9)
        with silent_stdout():
            status = self._model.optimize(max_seconds=seconds, relax=relax)
        if status in (
            self._mip.OptimizationStatus.INFEASIBLE,
            self._mip.OptimizationStatus.INT_INFEASIBLE,
        ):
            raise InfeasibleError("No point satisfies all rows of the program.")
        return status

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
