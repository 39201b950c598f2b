"""A linear program as arrays: the input of solvers, and the check of their answers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import DecodersError, ProblemError

__all__ = [
    "SIGNS",
    "Change",
    "NewBounds",
    "NewColumns",
    "NewRows",
    "Sense",
    "Solver",
    "SolverError",
    "Statement",
    "checked_solver",
]

Solver = Literal["HIGHS", "CBC"]
Sense = Literal["<=", "=", ">="]
Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

#: The tolerance of the reduced cost of a column without a finite bound, relative to its objective,
#: which must be zero but for rounding.
ROUNDING = 1e-9


class SolverError(DecodersError, RuntimeError):
    """The solver failed, or its answer does not satisfy the program it was given."""


#: What the signs of rows are.
SIGNS: dict[Sense, int] = {"<=": 1, ">=": -1, "=": 0}


class NewColumns(NamedTuple):
    """New columns. Column i enters ``rows[starts[i]:starts[i + 1]]`` with these values."""

    objective: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    starts: Indices
    rows: Indices
    values: Floats


class NewRows(NamedTuple):
    """New rows of one sense. Row i holds ``columns[starts[i]:starts[i + 1]]``."""

    sense: Sense
    sides: Floats
    starts: Indices
    columns: Indices
    values: Floats


class NewBounds(NamedTuple):
    """New bounds of columns."""

    columns: Indices
    lower: Floats
    upper: Floats


Change = NewColumns | NewRows | NewBounds


class Statement(NamedTuple):
    """A linear or mixed-integer program.

    `signs` has 1 for a row that is at most its side, -1 for at least, and 0 for equal.
    `rows`, `columns` and `values` are the entries of the matrix, in any order.
    """

    maximize: bool
    objective: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    signs: NDArray[np.int8]
    sides: Floats
    rows: Indices
    columns: Indices
    values: Floats

    def changed(self, changes: list[Change]) -> Statement:
        """Return the program with changes."""
        columns = [change for change in changes if isinstance(change, NewColumns)]
        rows = [change for change in changes if isinstance(change, NewRows)]
        entries = [(self.rows, self.columns, self.values)]
        wide, high = len(self.objective), len(self.sides)
        for added in columns:
            own = np.arange(wide, wide + len(added.objective), dtype=np.int32)
            entries.append((added.rows, own.repeat(np.diff(added.starts)), added.values))
            wide += len(own)
        for given in rows:
            own = np.arange(high, high + len(given.sides), dtype=np.int32)
            entries.append((own.repeat(np.diff(given.starts)), given.columns, given.values))
            high += len(own)
        into, of, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        lower = np.concatenate([self.lower, *(added.lower for added in columns)])
        upper = np.concatenate([self.upper, *(added.upper for added in columns)])
        for change in changes:
            if isinstance(change, NewBounds):
                lower[change.columns], upper[change.columns] = change.lower, change.upper
        signs = [np.full(len(given.sides), SIGNS[given.sense], np.int8) for given in rows]
        return Statement(
            self.maximize,
            np.concatenate([self.objective, *(added.objective for added in columns)]),
            lower,
            upper,
            np.concatenate([self.integer, *(added.integer for added in columns)]),
            np.concatenate([self.signs, *signs]),
            np.concatenate([self.sides, *(given.sides for given in rows)]),
            into,
            of,
            values,
        )

    def matrix(self) -> Any:
        """Return the matrix in compressed rows."""
        from scipy.sparse import csr_matrix

        shape = (len(self.sides), len(self.objective))
        return csr_matrix((self.values, (self.rows, self.columns)), shape=shape)

    def fault_of(self, point: Floats, tolerance: float) -> str | None:
        """Return what is wrong with a point that violates a row or a bound, or None.

        Parameters
        ----------
        tolerance
            The largest violation, relative to the size of the row or of the value.
        """
        if not np.isfinite(point).all():
            return "values that are not finite"
        slack = tolerance * np.maximum(1.0, np.abs(point))
        if ((point < self.lower - slack) | (point > self.upper + slack)).any():
            return "a point outside its bounds"
        terms, count = self.values * point[self.columns], len(self.sides)
        excess = np.bincount(self.rows, terms, count) - self.sides
        miss = np.where(self.signs == 0, np.abs(excess), self.signs * excess)
        size = np.abs(self.sides) + np.bincount(self.rows, np.abs(terms), count)
        scale = np.maximum(1.0, size)
        if (miss > tolerance * scale).any():
            return f"a point that breaks row {int(np.argmax(miss / scale))}"
        return None

    def reduced_costs(self, duals: Floats) -> Floats:
        """Return the objective coefficient minus the duals times each column."""
        worth = np.bincount(self.columns, self.values * duals[self.rows], len(self.objective))
        return self.objective - worth

    def dual_bound(self, duals: Floats) -> float:
        """Return a bound that is valid for any duals, however inexact (weak duality).

        Duals of the wrong sign are set to zero; the largest gain by reduced costs within the
        bounds of their columns is added. The bound is infinite if that gain is unbounded.
        """
        sense = 1.0 if self.maximize else -1.0
        prices = np.where(sense * self.signs * duals < 0, 0.0, duals)
        gains = sense * self.reduced_costs(prices)
        reach = np.where(gains > 0, self.upper, self.lower)
        limited = np.isfinite(reach)
        if not limited.all():
            noise = ROUNDING * np.maximum(1.0, np.abs(self.objective))
            if (~limited & (np.abs(gains) > noise)).any():
                return sense * np.inf
            gains, reach = gains[limited], reach[limited]
        return float(prices @ self.sides + sense * (gains @ reach))


def checked_solver(solver: Solver) -> Solver:
    """Return the solver's name.

    Raises
    ------
    ProblemError
        If there is no such solver, or what it needs is not installed.
    """
    if solver not in get_args(Solver):
        raise ProblemError(f"solver: expected 'HIGHS' or 'CBC', got {solver!r}.")
    if solver == "CBC" and find_spec("mip") is None:
        raise ProblemError(
            "solver: 'CBC' needs python-mip: pip install \"spacy-decoders[solvers]\"; 'HIGHS' "
            "needs no extra."
        )
    return solver
