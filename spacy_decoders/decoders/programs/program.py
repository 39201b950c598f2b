"""Linear and integer programs: declare, extend and solve them.

A solver's status is a claim, not a proof: every point is checked against the rows and bounds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats, Integers32
from ...budget import UNLIMITED, Clock
from ...errors import InfeasibleError, ProblemError
from .child import in_child
from .solvers import (
    FIELDS,
    Answer,
    Sense,
    Solver,
    SolverError,
    Statement,
    checked_solver,
    solve,
)

__all__ = ["IntegerSolution", "LinearProgram", "LinearSolution"]

#: The tolerance of rows and bounds at an integer point, relative to the row.
FEASIBILITY = 1e-6
#: The tolerance of integrality.
INTEGRALITY = 1e-3
#: The tolerance of rows at a relaxed point: larger, as solvers scale rows whose coefficients
#: differ much. The point only guides the search; bounds come from the duals.
RELAXED_FEASIBILITY = 1e-5
#: The share of a budget that is reserved for solving and freeing a large program.
KEPT_BACK = 0.2
#: The largest time limit that is passed to a solver.
LONGEST = 1e9


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """The optimum of a linear program, or of the relaxation of an integer program."""

    values: Floats  # (columns,)
    duals: Floats  # (rows,): the change of the objective for each unit of the right-hand side
    reduced_costs: Floats  # (columns,): objective coefficient minus the duals times the column


@dataclass(frozen=True, eq=False)
class IntegerSolution:
    """A point that satisfies all rows, bounds and integrality."""

    values: Floats  # (columns,): whole numbers in integer columns
    proven: bool  # whether the solver claims that the point is optimal, to its tolerance


class LinearProgram:
    """A linear or mixed-integer program to be maximised, to which columns and rows can be added.

    The solver is ``"HIGHS"``, which comes with scipy, or ``"CBC"``, which needs the extra
    ``solvers``. The clock limits the construction, which for many rows takes longer than solving:
    methods that add to the program raise `SolverError` when it has run out.

    Examples
    --------
    >>> program = LinearProgram()
    >>> x, y = program.add_columns([3.0, 2.0], integer=True)
    >>> row = program.add_row([x, y], [2.0, 2.0], "<=", 3.0)
    >>> relaxed = program.relax()
    >>> relaxed.values, relaxed.duals
    (array([1. , 0.5]), array([1.]))
    >>> program.solve().values
    array([1., 0.])

    A later column may enter existing rows:

    >>> z = program.add_columns([5.0], rows=[[row]], coefficients=3.0)
    >>> program.relax().values
    array([0., 0., 1.])
    """

    def __init__(self, solver: Solver = "HIGHS", *, clock: Clock | None = None) -> None:
        self.solver = checked_solver(solver)
        self.column_count = self.row_count = 0
        self._clock = clock or UNLIMITED.start()
        # the fields of a statement, as lists of the parts added so far
        self._parts: dict[str, list[NDArray[Any]]] = {
            name: [np.zeros(0, dtype)] for name, dtype in FIELDS.items()
        }

    def add_columns(
        self,
        objective: ArrayLike,
        *,
        upper: float = 1.0,
        integer: bool = False,
        rows: ArrayLike | None = None,
        coefficients: ArrayLike = 1.0,
    ) -> NDArray[np.int64]:
        """Add nonnegative columns (variables), and return their indices.

        Given are their coefficients in the objective, **shape** ``(k,)``, an upper bound, whether
        they must be whole numbers, and the existing rows that they enter, with coefficients,
        **shape** ``(k, entries)``.

        Raises `ProblemError` if an objective is not finite (with NaN, solvers claim an optimum),
        and `SolverError` if the program's clock has run out.
        """
        costs = np.ascontiguousarray(objective, dtype=np.float64)
        if not np.isfinite(costs).all():
            raise ProblemError(f"objective: expected finite numbers, got {costs!r}.")
        count = len(costs)
        self._check_clock()
        into: ArrayLike = np.zeros((count, 0)) if rows is None else rows
        own, of, values = _entries(into, coefficients, None)
        self._put(rows=of, columns=own + np.int32(self.column_count), values=values)
        self._put(objective=costs, upper=np.full(count, upper), integer=np.full(count, integer))
        self.column_count += count
        return np.arange(self.column_count - count, self.column_count)

    def add_rows(
        self,
        columns: ArrayLike,
        coefficients: ArrayLike,
        sense: Sense,
        sides: ArrayLike,
        starts: ArrayLike | None = None,
    ) -> NDArray[np.int64]:
        """Add rows, weighted sums of columns that must be ``<=`` or ``=`` their right-hand sides.

        The columns of each row and their coefficients have **shape** ``(k, entries)``. For rows of
        different lengths they are flat: row i has ``columns[starts[i]:starts[i + 1]]``. `sides`
        has **shape** ``(k,)``, or is one number for all. Returns the rows' indices.

        Nothing is checked: no column may be twice in a row. Raises `SolverError` if the program's
        clock has run out.
        """
        self._check_clock()
        count = len(np.asarray(columns)) if starts is None else len(np.asarray(starts)) - 1
        limits = np.empty(count)
        limits[:] = sides
        own, of, values = _entries(columns, coefficients, starts)
        self._put(rows=own + np.int32(self.row_count), columns=of, values=values)
        self._put(equal=np.full(count, sense == "="), sides=limits)
        self.row_count += count
        return np.arange(self.row_count - count, self.row_count)

    def add_row(
        self, columns: ArrayLike, coefficients: ArrayLike, sense: Sense, side: float
    ) -> int:
        """Add one row, as :meth:`add_rows` does, and return its index."""
        return int(self.add_rows(np.asarray(columns)[None], coefficients, sense, [side])[0])

    def set_upper(self, columns: NDArray[np.int64], upper: ArrayLike) -> None:
        """Change the upper bounds of columns, such as for branching."""
        self._stating().upper[columns] = upper

    def relax(self, clock: Clock | None = None) -> LinearSolution:
        """Solve without integrality, within the clock's seconds.

        Raises `InfeasibleError` if no point satisfies the rows, and `SolverError` if the solver
        stops early or returns a point that does not.
        """
        seconds = self._seconds(clock)
        if seconds == 0.0:
            raise SolverError(f"{self.solver} has no time left to solve the program.")
        program = self._stating()
        run = in_child if self.solver == "CBC" else solve
        answer = run(self.solver, program, seconds, integral=False)
        if answer.status != "optimal":
            raise self._failure(answer)
        self._check(program, answer.point, RELAXED_FEASIBILITY)
        return LinearSolution(answer.point, answer.duals, program.reduced_costs(answer.duals))

    def solve(self, clock: Clock | None = None) -> IntegerSolution | None:
        """Solve with integrality, within the clock's seconds; None if no point is found in time.

        If the clock has a limit, the solver runs in a child process, and is killed if it exceeds
        that. Raises `InfeasibleError` if no point satisfies the rows, and `SolverError` if the
        solver fails or returns a point that does not.
        """
        seconds = self._seconds(clock)
        if seconds == 0.0:
            return None
        program = self._stating()
        run = in_child if self.solver == "CBC" or seconds < LONGEST else solve
        answer = run(self.solver, program, seconds, integral=True)
        if answer.status == "out of time":
            return None
        if answer.status not in ("optimal", "feasible"):
            raise self._failure(answer)
        values = np.where(program.integer, np.round(answer.point), answer.point)
        if np.abs(values - answer.point).max(initial=0.0) > INTEGRALITY:
            raise SolverError(f"{self.solver} returned fractions for integer columns.")
        self._check(program, values, FEASIBILITY)
        return IntegerSolution(values, answer.status == "optimal")

    def _check_clock(self) -> None:
        seconds = self._clock.budget.seconds
        if seconds is not None and self._clock.seconds_left < KEPT_BACK * seconds:
            raise SolverError("The budget ended before the program was built.")

    def _seconds(self, clock: Clock | None) -> float:
        if not self.column_count:
            raise ProblemError("The program has no columns; add some.")
        return LONGEST if clock is None else min(clock.seconds_left, LONGEST)

    def _failure(self, answer: Answer) -> Exception:
        if answer.status == "infeasible":
            return InfeasibleError("No point satisfies all rows of the program.")
        return SolverError(f"{self.solver} did not solve the program ({answer.status}).")

    def _check(self, program: Statement, point: Floats, tolerance: float) -> None:
        fault = program.fault_of(point, tolerance)
        if fault is not None:
            raise SolverError(f"{self.solver} returned {fault}.")

    def _put(self, **added: NDArray[Any]) -> None:
        for name, part in added.items():
            self._parts[name].append(part)

    def _stating(self) -> Statement:
        """Return the whole program."""
        for parts in self._parts.values():
            if len(parts) > 1:
                parts[:] = [np.concatenate(parts)]
        return Statement(**{name: parts[0] for name, parts in self._parts.items()})


def _entries(
    indices: ArrayLike, coefficients: ArrayLike, starts: ArrayLike | None
) -> tuple[Integers32, Integers32, Floats]:
    """Return each entry's owner, counted from 0, its index, and its coefficient."""
    given = np.asarray(indices, dtype=np.int32)
    values = np.empty(given.shape)
    values[:] = coefficients
    sizes = [given.shape[1]] * len(given) if starts is None else np.diff(np.asarray(starts))
    own = np.arange(len(sizes), dtype=np.int32).repeat(sizes)
    return own, given.ravel(), values.ravel()
