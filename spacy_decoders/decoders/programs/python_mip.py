"""CBC, through python-mip, made safe against the garbage collector."""

from __future__ import annotations

import gc
from functools import cache
from time import monotonic
from typing import Any

import numpy as np

from .statement import Answer, SolverError, Statement

__all__ = ["answer_by_cbc", "cbc_model"]


@cache
def _python_mip() -> Any:
    """Import python-mip so that freeing a lost model can't stop the process for ever.

    A function of a C library is looked up at its first use, under a lock of cffi that the
    thread which holds it can't take again. If the garbage collector runs just then and finds
    a model to free, and none has been freed before, the model's destructor waits for that
    lock for ever. So the destructor is looked up here, once, while nothing is collected.
    """
    import mip

    collecting = gc.isenabled()
    gc.disable()
    try:
        from mip import cbc

        # where python-mip has not found the library, making a model says so
        getattr(getattr(cbc, "cbclib", None), "Cbc_deleteModel", None)
    finally:
        if collecting:
            gc.enable()
    return mip


def cbc_model(*, maximize: bool) -> Any:
    """Return an empty and silent model of python-mip's.

    Raises
    ------
    SolverError
        If CBC can't be loaded.
    """
    try:
        mip = _python_mip()
        model = mip.Model(sense=mip.MAXIMIZE if maximize else mip.MINIMIZE, solver_name="CBC")
    except Exception as error:
        raise SolverError(
            f'CBC can\'t be loaded ({error}): pip install "spacy-decoders[solvers]".'
        ) from error
    model.verbose = 0
    return model


def answer_by_cbc(program: Statement, seconds: float, *, relax: bool) -> Answer:
    """Solve a program, with or without integrality; the seconds count its writing too."""
    end = monotonic() + seconds
    model = cbc_model(maximize=program.maximize)
    model.threads = 1
    # python-mip's own default calls a solution optimal that is 0.01% off
    model.max_mip_gap = 0.0
    model.max_mip_gap_abs = 1e-9
    if not _write(model, program, end):
        return Answer("out of time")
    status = model.optimize(max_seconds=max(end - monotonic(), 0.0), relax=relax)
    known = _python_mip().OptimizationStatus
    if status in (known.INFEASIBLE, known.INT_INFEASIBLE):
        return Answer("infeasible")
    if status == known.NO_SOLUTION_FOUND:
        return Answer("out of time")
    if status not in (known.OPTIMAL, known.FEASIBLE):
        return Answer(status.name)
    return Answer(
        status.name.lower(),
        np.array([column.x for column in model.vars], dtype=np.float64),
        np.array([row.pi for row in model.constrs] if relax else [], dtype=np.float64),
        float(model.objective_bound),
    )


def _write(model: Any, program: Statement, end: float) -> bool:
    """State the program one Python object at a time; return whether there was time for it."""
    mip = _python_mip()
    columns = zip(
        program.objective.tolist(),
        program.lower.tolist(),
        program.upper.tolist(),
        np.where(program.whole, mip.INTEGER, mip.CONTINUOUS).tolist(),
        strict=True,
    )
    made: list[Any] = []
    for cost, lower, upper, kind in columns:
        if len(made) % 1000 == 0 and monotonic() > end:
            return False
        made.append(model.add_var(obj=cost, lb=lower, ub=upper, var_type=kind))
    matrix = program.matrix
    for row, (sign, side) in enumerate(
        zip(program.signs.tolist(), program.sides.tolist(), strict=True)
    ):
        if row % 1000 == 0 and monotonic() > end:
            return False
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        of = [made[column] for column in matrix.indices[entries].tolist()]
        sense = {1: "<", -1: ">", 0: "="}[sign]
        model.add_constr(mip.LinExpr(of, matrix.data[entries].tolist(), -side, sense))
    return True
