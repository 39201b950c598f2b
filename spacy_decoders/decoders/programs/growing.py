"""Linear programs that grow: many columns and rows at a time, arrays in, arrays out.

:class:`.LinearProgram` is solved from the beginning each time.
Column generation solves hundreds of programs, each a few columns larger than the last: here
solvers are told what is new, and go on from where they stood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...budget import Clock
from ...errors import InfeasibleError, ProblemError
from .growing_solvers import growing_solver
from .solver import Relaxation, Sense
from .statement import Solver, SolverError, Statement

__all__ = ["GrowingProgram"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

#: How far a point may miss a row or a bound, relative to the row: solvers scale rows whose
#: coefficients differ much. The point only shows the way; what is proven comes from the duals.
FEASIBILITY = 1e-5


class GrowingProgram:
    """A linear program to be maximised, all columns from 0 to an upper bound.

    Parameters
    ----------
    solver
        ``"HIGHS"`` or ``"CBC"``, which needs the extra ``solvers``. With that extra HiGHS goes on
        from its last solution; without, it begins anew each time, which takes two to four
        times as long.

    Examples
    --------
    >>> program = GrowingProgram()
    >>> one = program.add_columns([1.0], 10.0)
    >>> row = program.add_rows("<=", [4.0], [0, 1], one, [2.0])
    >>> program.solve().duals
    array([0.5])
    >>> two = program.add_columns([3.0], 10.0, [0, 1], row, [2.0])
    >>> program.solve().values
    array([0., 2.])
    """

    def __init__(self, solver: Solver = "HIGHS") -> None:
        self.solver = solver
        self._backend = growing_solver(solver)
        self._objective, self._upper, self._sides = np.zeros(0), np.zeros(0), np.zeros(0)
        self._senses = np.zeros(0, dtype=np.int8)  # 1 for <=, -1 for >=, 0 for =
        self._entries: list[tuple[Indices, Indices, Floats]] = []

    @property
    def column_count(self) -> int:
        """The number of columns."""
        return len(self._objective)

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return len(self._sides)

    def add_columns(
        self,
        objective: ArrayLike,
        upper: float,
        starts: ArrayLike | None = None,
        rows: ArrayLike = (),
        values: ArrayLike = (),
    ) -> NDArray[np.int64]:
        """Add columns and return their indices.

        Parameters
        ----------
        objective
            (k,), their coefficients.
        upper
            The upper bound of each.
        starts, rows, values
            Column i enters ``rows[starts[i]:starts[i + 1]]`` with these values; None for
            no row.

        Raises
        ------
        ProblemError
            If a number is not finite: solvers take NaN for optimal.
        """
        costs = _finite("objective", objective)
        first = self.column_count
        added = np.arange(first, first + len(costs))
        if starts is None:
            starts = np.zeros(len(costs) + 1, np.int32)
        offsets, into, weights = _matrix("rows", starts, rows, values, len(costs), self.row_count)
        uppers = np.full(len(costs), float(upper))
        self._backend.add_columns(costs, uppers, offsets, into, weights)
        self._objective = np.concatenate([self._objective, costs])
        self._upper = np.concatenate([self._upper, uppers])
        of = np.repeat(added, np.diff(offsets)).astype(np.int32)
        self._entries.append((into, of, weights))
        return added

    def add_rows(
        self,
        sense: Sense,
        sides: ArrayLike,
        starts: ArrayLike,
        columns: ArrayLike,
        values: ArrayLike,
    ) -> NDArray[np.int64]:
        """Add rows of one sense and return their indices; the matrix is as for columns."""
        limits = _finite("sides", sides)
        first = self.row_count
        added = np.arange(first, first + len(limits))
        offsets, of, weights = _matrix(
            "columns", starts, columns, values, len(limits), self.column_count
        )
        self._backend.add_rows(sense, limits, offsets, of, weights)
        self._sides = np.concatenate([self._sides, limits])
        kind = {"<=": 1, ">=": -1, "=": 0}[sense]
        self._senses = np.concatenate([self._senses, np.full(len(limits), kind, np.int8)])
        into = np.repeat(added, np.diff(offsets)).astype(np.int32)
        self._entries.append((into, of, weights))
        return added

    def set_upper(self, columns: ArrayLike, upper: ArrayLike) -> None:
        """Change upper bounds; those that are the same are passed over."""
        of = np.asarray(columns, dtype=np.int32)
        bounds = _finite("upper", upper)
        changed = self._upper[of] != bounds
        if changed.any():
            self._backend.set_upper(of[changed], bounds[changed])
            self._upper[of] = bounds

    def solve(self, clock: Clock | None = None) -> Relaxation:
        """Solve, from where the last solution stood, within the clock's seconds.

        Raises
        ------
        InfeasibleError
            If no point satisfies the rows.
        SolverError
            If the solver stops early, finds it unbounded, or returns a wrong point.
        """
        seconds = 1e9 if clock is None else min(clock.seconds_left, 1e9)
        if seconds == 0.0:
            raise SolverError(f"{self.solver} was given no time.")
        status, values, duals, _ = self._backend.solve(seconds, self._stated)
        if status == "infeasible":
            raise InfeasibleError("No point satisfies all rows of the program.")
        if status != "optimal":
            raise SolverError(f"{self.solver} did not solve the program ({status}).")
        self._check(values)
        return Relaxation(
            values,
            duals,
            self._reduced_costs(duals),
            float(self._objective @ values),
            self._dual_bound(duals),
        )

    def _stated(self) -> Statement:
        from scipy.sparse import csr_matrix

        rows, columns, weights = self._matrix
        count = self.column_count
        return Statement(
            maximize=True,
            objective=self._objective,
            lower=np.zeros(count),
            upper=self._upper,
            whole=np.zeros(count, dtype=np.bool_),
            matrix=csr_matrix((weights, (rows, columns)), shape=(self.row_count, count)),
            signs=self._senses,
            sides=self._sides,
        )

    def _check(self, values: Floats) -> None:
        """Refuse a point that breaks a row or a bound: a status is no proof."""
        if not np.isfinite(values).all():
            raise SolverError(f"{self.solver} returned values that are not finite.")
        slack = FEASIBILITY * np.maximum(1.0, np.abs(values))
        if ((values < -slack) | (values > self._upper + slack)).any():
            raise SolverError(f"{self.solver} returned a point outside its bounds.")
        rows, columns, weights = self._matrix
        terms = weights * values[columns]
        count = self.row_count
        excess = np.bincount(rows, terms, count) - self._sides
        miss = np.where(self._senses == 0, np.abs(excess), self._senses * excess)
        size = np.abs(self._sides) + np.bincount(rows, np.abs(terms), count)
        scale = np.maximum(1.0, size)
        if (miss > FEASIBILITY * scale).any():
            row = int(np.argmax(miss / scale))
            raise SolverError(f"{self.solver} returned a point that breaks row {row}.")

    def _reduced_costs(self, duals: Floats) -> Floats:
        rows, columns, weights = self._matrix
        paid = np.bincount(columns, weights * duals[rows], self.column_count)
        return self._objective - paid

    def _dual_bound(self, duals: Floats) -> float:
        """A bound that holds for any duals, however inexact, by weak duality."""
        prices = np.where(self._senses * duals < 0, 0.0, duals)
        reduced = self._reduced_costs(prices)
        return float(prices @ self._sides + np.maximum(reduced, 0.0) @ self._upper)

    @property
    def _matrix(self) -> tuple[Indices, Indices, Floats]:
        """The rows, columns and values of all entries; an entry given twice counts twice."""
        if len(self._entries) != 1:
            parts = self._entries or [(_NONE, _NONE, np.zeros(0))]
            rows, columns, values = (np.concatenate(part) for part in zip(*parts))  # noqa: B905
            self._entries = [(rows, columns, values)]
        return self._entries[0]


_NONE = np.zeros(0, dtype=np.int32)


def _finite(name: str, values: ArrayLike) -> Floats:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ProblemError(f"{name}: expected finite numbers, got {array!r}.")
    return array


def _matrix(
    name: str, starts: ArrayLike, indices: ArrayLike, values: ArrayLike, count: int, high: int
) -> tuple[Indices, Indices, Floats]:
    offsets = np.ascontiguousarray(starts, dtype=np.int32)
    entries = np.ascontiguousarray(indices, dtype=np.int32)
    weights = _finite("values", values)
    if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != len(entries):
        raise ProblemError(f"starts: must rise from 0 to the number of {name}.")
    if len(weights) != len(entries) or ((entries < 0) | (entries >= high)).any():
        raise ProblemError(f"{name}: expected indices below {high}, one for each value.")
    return offsets, entries, weights
