"""HiGHS, through scipy, and CBC, by the library that python-mip loads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .statement import Floats, Solver, Statement

__all__ = ["Answer", "load", "solve"]


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
    """Solve by the C library, as python-mip's own way of writing rows is slow."""
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
