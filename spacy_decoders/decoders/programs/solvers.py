"""A linear program as arrays, the calls of solvers, and the check of their answers.

HiGHS is called through scipy, and CBC through the library that python-mip loads.
"""

from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ...arrays import Booleans, Floats, Integers32
from ...errors import DecodersError, ProblemError

__all__ = [
    "FIELDS",
    "Answer",
    "Sense",
    "Solver",
    "SolverError",
    "Statement",
    "checked_solver",
    "load",
    "solve",
]

Solver = Literal["HIGHS", "CBC"]
Sense = Literal["<=", "="]


class SolverError(DecodersError, RuntimeError):
    """The solver failed, or its answer does not satisfy the program it was given."""


class Statement(NamedTuple):
    """A linear or mixed-integer program to be maximised, with columns from 0 to `upper`.

    Each row is equal to its right-hand side (`equal`), or at most that. `rows`, `columns` and
    `values` are the entries of the matrix, in any order.
    """

    objective: Floats
    upper: Floats
    integer: Booleans
    equal: Booleans
    sides: Floats
    rows: Integers32
    columns: Integers32
    values: Floats

    def matrix(self) -> Any:
        """Return the matrix in compressed rows."""
        from scipy.sparse import csr_matrix

        shape = (len(self.sides), len(self.objective))
        return csr_matrix((self.values, (self.rows, self.columns)), shape=shape)

    def fault_of(self, point: Floats, tolerance: float) -> str | None:
        """Return which row or bound a point violates, or None.

        The tolerance is the largest violation allowed, relative to the row's terms or the value.
        """
        if not np.isfinite(point).all():
            return "values that are not finite"
        slack = tolerance * np.maximum(1.0, np.abs(point))
        if ((point < -slack) | (point > self.upper + slack)).any():
            return "a point outside its bounds"
        terms, count = self.values * point[self.columns], len(self.sides)
        excess = np.bincount(self.rows, terms, count) - self.sides
        miss = np.where(self.equal, np.abs(excess), excess)
        size = np.abs(self.sides) + np.bincount(self.rows, np.abs(terms), count)
        scale = np.maximum(1.0, size)
        if (miss > tolerance * scale).any():
            return f"a point that breaks row {int(np.argmax(miss / scale))}"
        return None

    def reduced_costs(self, duals: Floats) -> Floats:
        """Return each objective coefficient minus the duals times the column."""
        worth = np.bincount(self.columns, self.values * duals[self.rows], len(self.objective))
        return self.objective - worth


#: The fields of a statement and their dtypes.
FIELDS: dict[str, type] = {
    **dict.fromkeys(("objective", "upper", "sides", "values"), np.float64),
    **dict.fromkeys(("rows", "columns"), np.int32),
    **dict.fromkeys(("integer", "equal"), np.bool_),
}


def checked_solver(solver: Solver) -> Solver:
    """Return the solver's name; raise `ProblemError` if it is unknown or not installed."""
    if solver not in get_args(Solver):
        raise ProblemError(f"solver: expected 'HIGHS' or 'CBC', got {solver!r}.")
    if solver == "CBC" and find_spec("mip") is None:
        raise ProblemError(
            "solver: 'CBC' needs python-mip: pip install \"spacy-decoders[solvers]\"; 'HIGHS' "
            "needs no extra."
        )
    return solver


class Answer(NamedTuple):
    """A solver's claim.

    `status` is ``"optimal"``, ``"feasible"``, ``"infeasible"``, ``"out of time"``, or the solver's
    description of its failure. The first two come with a point, and for a relaxation with duals.
    """

    status: str
    point: Floats = np.zeros(0)
    duals: Floats = np.zeros(0)


def load(solver: Solver) -> None:
    """Import what a solver needs."""
    if solver == "HIGHS":
        import scipy.optimize  # noqa: F401
    else:
        from mip import cbc

        if getattr(cbc, "cbclib", None) is None:
            raise OSError("python-mip did not find its library")


def solve(solver: Solver, program: Statement, seconds: float, *, integral: bool) -> Answer:
    """Solve a program, with integrality or without."""
    if solver == "CBC":
        return _solve_by_cbc(program, seconds, integral=integral)
    return _solve_by_highs(program, seconds, integral=integral)


def _solve_by_highs(program: Statement, seconds: float, *, integral: bool) -> Answer:
    from scipy.optimize import linprog

    matrix, equal = program.matrix(), program.equal
    found = linprog(
        -program.objective,  # linprog minimises
        matrix[~equal],
        program.sides[~equal],
        matrix[equal],
        program.sides[equal],
        bounds=np.stack([np.zeros_like(program.upper), program.upper], axis=1),
        method="highs",
        integrality=program.integer.astype(np.int64) if integral else None,
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    codes = {0: "optimal", 1: "out of time", 2: "infeasible"}
    status = codes.get(found.status) or str(found.message)
    if integral and found.x is not None:
        return Answer("feasible" if status == "out of time" else status, found.x)
    if status != "optimal":
        return Answer(status)
    duals = np.empty(len(program.sides))
    duals[~equal], duals[equal] = -found.ineqlin.marginals, -found.eqlin.marginals
    return Answer("optimal", found.x, duals)


def _solve_by_cbc(program: Statement, seconds: float, *, integral: bool) -> Answer:
    """Call the C library directly, since python-mip is slow at adding rows."""
    import mip

    owner = mip.Model(sense=mip.MAXIMIZE, solver_name="CBC")
    owner.verbose = 0
    library, ffi, model = mip.cbc.cbclib, mip.cbc.ffi, owner.solver._model
    columns = (program.objective, program.upper, program.integer)
    for cost, most, whole in zip(*(part.tolist() for part in columns), strict=True):
        kind = b"\1" if whole else b"\0"
        library.Cbc_addCol(model, b"", 0.0, most, cost, kind, 0, ffi.NULL, ffi.NULL)
    matrix = program.matrix()
    of = ffi.from_buffer("int[]", np.append(matrix.indices, np.int32(0)))
    values = ffi.from_buffer("double[]", np.append(matrix.data, 0.0))
    limits = (program.equal.tolist(), program.sides.tolist(), pairwise(matrix.indptr.tolist()))
    for equal, side, (first, last) in zip(*limits, strict=True):
        sense = b"E" if equal else b"L"
        library.Cbc_addRow(model, b"", last - first, of + first, values + first, sense, side)
    if integral:
        owner.threads = 1
        # python-mip's default accepts solutions within 0.01% of the optimum
        owner.max_mip_gap, owner.max_mip_gap_abs = 0.0, 1e-9
        found = owner.optimize(max_seconds=seconds)
        known = mip.OptimizationStatus
        status = {
            known.OPTIMAL: "optimal",
            known.FEASIBLE: "feasible",
            known.INFEASIBLE: "infeasible",
            known.INT_INFEASIBLE: "infeasible",
            known.NO_SOLUTION_FOUND: "out of time",
        }.get(found, found.name)
    else:
        library.Cbc_setMaximumSeconds(model, seconds)
        code = library.Cbc_solveLinearProgram(model)
        codes = {0: "optimal", 1: "out of time", 2: "infeasible"}
        status = codes.get(code, f"code {code}")
    if status not in ("optimal", "feasible"):
        return Answer(status)

    def copied(pointer: Any, length: int) -> Floats:
        return np.frombuffer(ffi.buffer(pointer, 8 * length), dtype=np.float64).copy()

    point = copied(library.Cbc_getColSolution(model), len(program.objective))
    if integral:
        return Answer(status, point)
    return Answer(status, point, copied(library.Cbc_getRowPrice(model), len(program.sides)))
