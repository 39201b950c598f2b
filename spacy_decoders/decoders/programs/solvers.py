"""HiGHS and CBC: HiGHS through scipy, or warm started through its own module."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .statement import Floats, Indices, Solver, Statement

__all__ = ["Answer", "WarmHighs", "load", "solve", "warm_highs"]


class Answer(NamedTuple):
    """A solver's claim.

    `status` is ``"optimal"``, ``"feasible"``, ``"infeasible"``, ``"unbounded"``, ``"out of
    time"``, or what the solver says of its failure. The first two come with a point: that of a
    relaxation has duals, that of an integer program the solver's bound.
    """

    status: str
    point: Floats = np.zeros(0)
    duals: Floats = np.zeros(0)
    bound: float = np.nan


def load(solver: Solver) -> None:
    """Import what a solver needs."""
    if solver == "HIGHS":
        import scipy.optimize  # noqa: F401
    else:
        from mip import cbc

        if getattr(cbc, "cbclib", None) is None:
            raise OSError("python-mip has not found its library")


def solve(solver: Solver, program: Statement, seconds: float, *, integral: bool) -> Answer:
    """Solve a program, with integrality or without."""
    if solver == "CBC":
        return _solve_by_cbc(program, seconds, integral=integral)
    return _solve_by_highs(program, seconds, integral=integral)


def _solve_by_highs(program: Statement, seconds: float, *, integral: bool) -> Answer:
    from scipy.optimize import linprog
    from scipy.sparse import diags

    sign = -1.0 if program.maximize else 1.0  # scipy minimises
    matrix, equal = program.matrix(), program.signs == 0
    turned = program.signs[~equal].astype(np.float64)  # and knows no "at least"
    found = linprog(
        sign * program.objective,
        diags(turned) @ matrix[~equal],
        turned * program.sides[~equal],
        matrix[equal],
        program.sides[equal],
        bounds=np.stack([program.lower, program.upper], axis=1),
        method="highs",
        integrality=program.integer.astype(np.int64) if integral else None,
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    status = _status(found)
    if integral and found.x is not None:
        bound = getattr(found, "mip_dual_bound", None)
        return Answer(
            "feasible" if status == "out of time" else status,
            found.x,
            bound=sign * (-np.inf if bound is None else float(bound)),
        )
    if status != "optimal":
        return Answer(status)
    duals = np.empty(len(program.sides))
    duals[~equal] = sign * turned * found.ineqlin.marginals
    duals[equal] = sign * found.eqlin.marginals
    return Answer("optimal", found.x, duals)


def _status(found: Any) -> str:
    codes = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}
    return codes.get(found.status) or str(found.message)


def _solve_by_cbc(program: Statement, seconds: float, *, integral: bool) -> Answer:
    """Solve by the C library that python-mip loads, whose own way of writing rows is slow."""
    import mip

    owner = mip.Model(sense=mip.MAXIMIZE if program.maximize else mip.MINIMIZE, solver_name="CBC")
    owner.verbose = 0
    library, ffi, model = mip.cbc.cbclib, mip.cbc.ffi, owner.solver._model
    columns = (program.objective, program.lower, program.upper, program.integer)
    for cost, low, high, whole in zip(*(part.tolist() for part in columns), strict=True):
        kind = b"\1" if whole else b"\0"
        library.Cbc_addCol(model, b"", low, high, cost, kind, 0, ffi.NULL, ffi.NULL)
    matrix = program.matrix()
    of = ffi.from_buffer("int[]", np.append(matrix.indices, np.int32(0)))
    values = ffi.from_buffer("double[]", np.append(matrix.data, 0.0))
    limits = (program.signs.tolist(), program.sides.tolist(), pairwise(matrix.indptr.tolist()))
    for sign, side, (first, last) in zip(*limits, strict=True):
        # the senses by their signs 0, 1 and -1
        given = (last - first, of + first, values + first, b"ELG"[sign % 3 :][:1], side)
        library.Cbc_addRow(model, b"", *given)
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
        codes = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}
        status = codes.get(code, f"code {code}")
    if status not in ("optimal", "feasible"):
        return Answer(status)

    def copied(pointer: Any, length: int) -> Floats:
        return np.frombuffer(ffi.buffer(pointer, 8 * length), dtype=np.float64).copy()

    point = copied(library.Cbc_getColSolution(model), len(program.objective))
    if integral:
        return Answer(status, point, bound=float(owner.objective_bound))
    return Answer(status, point, copied(library.Cbc_getRowPrice(model), len(program.sides)))


def warm_highs() -> WarmHighs | None:
    """Return HiGHS by its own module, which the extra ``solvers`` brings."""
    return WarmHighs() if find_spec("highspy") else None


class WarmHighs:
    """Relaxations by ``highspy``, warm started from the last one."""

    def __init__(self) -> None:
        import highspy

        self._statuses = highspy.HighsModelStatus
        self._senses = highspy.ObjSense
        self._model = highspy.Highs()
        self._model.setOptionValue("output_flag", False)
        self._model.setOptionValue("threads", 1)
        # presolve would discard the last basis
        self._model.setOptionValue("presolve", "off")
        # what the solver has of the program
        self._columns = self._rows = self._entries = 0
        self._lower = self._upper = np.zeros(0)

    def relax(self, program: Statement, seconds: float) -> Answer:
        """Solve without integrality a program that has grown from the one solved last."""
        self._grow(program)
        model, senses = self._model, self._senses
        model.changeObjectiveSense(senses.kMaximize if program.maximize else senses.kMinimize)
        # HiGHS counts the seconds of all its runs together
        model.setOptionValue("time_limit", model.getRunTime() + seconds)
        model.run()
        status = model.getModelStatus()
        if status == self._statuses.kInfeasible:
            return Answer("infeasible")
        if status != self._statuses.kOptimal:
            return Answer(model.modelStatusToString(status))
        solution = model.getSolution()
        return Answer("optimal", np.array(solution.col_value), np.array(solution.row_dual))

    def _grow(self, program: Statement) -> None:
        """Tell the solver of new columns, new rows and new bounds."""
        model, wide, high = self._model, self._columns, self._rows
        new = slice(self._entries, None)
        rows, columns, values = program.rows[new], program.columns[new], program.values[new]
        old = rows < high  # entries of new columns in rows that the solver has
        costs, low, up = program.objective[wide:], program.lower[wide:], program.upper[wide:]
        starts, of, weights = _grouped(columns[old] - wide, rows[old], values[old], len(costs))
        model.addCols(len(costs), costs, low, up, len(of), starts, of, weights)
        known = slice(0, wide)
        moved = (program.lower[known] != self._lower) | (program.upper[known] != self._upper)
        changed = np.flatnonzero(moved).astype(np.int32)
        bounds = (program.lower[changed], program.upper[changed])
        model.changeColsBounds(len(changed), changed, *bounds)
        signs, sides = program.signs[high:], program.sides[high:]
        least, most = np.where(signs > 0, -np.inf, sides), np.where(signs < 0, np.inf, sides)
        starts, of, weights = _grouped(rows[~old] - high, columns[~old], values[~old], len(sides))
        model.addRows(len(sides), least, most, len(of), starts, of, weights)
        self._columns, self._rows = len(program.objective), len(program.sides)
        self._entries = len(program.rows)
        self._lower, self._upper = program.lower.copy(), program.upper.copy()


def _grouped(
    groups: Indices, members: Indices, values: Floats, count: int
) -> tuple[Indices, Indices, Floats]:
    """Sort entries by their group; the first result is where each of the groups begins."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(count)).astype(np.int32)
    return starts, members[order], values[order]
