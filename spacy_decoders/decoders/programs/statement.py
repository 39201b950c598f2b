"""A linear program as arrays: the input of solvers, and the check of their answers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import DecodersError, ProblemError

__all__ = [
    "FIELDS",
    "SIGNS",
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


#: The arrays of a statement and what they hold.
FIELDS: dict[str, type] = {
    **dict.fromkeys(("objective", "lower", "upper", "sides", "values"), np.float64),
    **dict.fromkeys(("rows", "columns"), np.int32),
    "integer": np.bool_,
    "signs": np.int8,
}


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
