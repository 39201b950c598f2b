"""CBC, through the C library that python-mip loads: silent, and safe under garbage collection."""

from __future__ import annotations

import gc
from functools import cache
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np

from .silence import silent_stdout
from .statement import Answer, Change, Floats, Indices, NewColumns, NewRows, SolverError, Statement

__all__ = ["Cbc", "solve_by_cbc"]

#: Rows or columns that are added between two checks of the clock.
BATCH = 1000


@cache
def _python_mip() -> Any:
    """Import python-mip such that freeing a model cannot deadlock the process.

    A function of a C library is looked up at its first use, under a non-reentrant lock of cffi. If
    the garbage collector runs just then and frees the first model, the model's destructor waits
    for that lock for ever. So the destructor is looked up here, once, while nothing is collected.
    """
    import mip

    collecting = gc.isenabled()
    gc.disable()
    try:
        from mip import cbc

        # where python-mip has not found the library, creating a model raises an error
        getattr(getattr(cbc, "cbclib", None), "Cbc_deleteModel", None)
    finally:
        if collecting:
            gc.enable()
    return mip


class Cbc:
    """One model of CBC.

    Parameters
    ----------
    maximize
        Whether the objective is maximised, or minimised.
    end
        When writing must stop, by :func:`time.monotonic`: then `add` raises `TimeoutError`.

    Raises
    ------
    SolverError
        If CBC can't be loaded.
    """

    def __init__(self, maximize: bool, end: float = np.inf) -> None:
        try:
            mip = _python_mip()
            sense = mip.MAXIMIZE if maximize else mip.MINIMIZE
            with silent_stdout():
                # python-mip's model owns the C model, and frees it
                self._owner = mip.Model(sense=sense, solver_name="CBC")
        except Exception as error:
            raise SolverError(
                f'CBC can\'t be loaded ({error}): pip install "spacy-decoders[solvers]".'
            ) from error
        self._owner.verbose = 0
        from mip import cbc

        self._library, self._ffi = cbc.cbclib, cbc.ffi
        self._model = self._owner.solver._model
        self._end = end

    def add(self, change: Change) -> None:
        """Pass columns, rows or bounds to the solver."""
        if isinstance(change, NewColumns):
            self._add_columns(change)
        elif isinstance(change, NewRows):
            self._add_rows(change)
        else:
            for column, low, high in zip(*(part.tolist() for part in change), strict=True):
                self._library.Cbc_setColLower(self._model, column, low)
                self._library.Cbc_setColUpper(self._model, column, high)

    def _add_columns(self, added: NewColumns) -> None:
        add, model = self._library.Cbc_addCol, self._model
        rows, values = self._pointer("int", added.rows), self._pointer("double", added.values)
        each = (added.objective, added.lower, added.upper, added.integer)
        every = zip(
            *(part.tolist() for part in each), pairwise(added.starts.tolist()), strict=True
        )
        for place, (cost, low, high, integer, (a, b)) in enumerate(every):
            if not place % BATCH:
                self._look_at_clock()
            kind = b"\1" if integer else b"\0"
            add(model, b"", low, high, cost, kind, b - a, rows + a, values + a)

    def _add_rows(self, added: NewRows) -> None:
        add, model = self._library.Cbc_addRow, self._model
        of, values = self._pointer("int", added.columns), self._pointer("double", added.values)
        kind = {"<=": b"L", ">=": b"G", "=": b"E"}[added.sense]
        every = zip(added.sides.tolist(), pairwise(added.starts.tolist()), strict=True)
        for place, (side, (a, b)) in enumerate(every):
            if not place % BATCH:
                self._look_at_clock()
            add(model, b"", b - a, of + a, values + a, kind, side)

    def _look_at_clock(self) -> None:
        if monotonic() > self._end:
            raise TimeoutError

    def relax(self, program: Statement, seconds: float) -> Answer:
        """Solve what was added, without integrality."""
        library, model = self._library, self._model
        with silent_stdout():
            library.Cbc_setMaximumSeconds(model, seconds)
            code = library.Cbc_solveLinearProgram(model)
        status = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}.get(code)
        if status != "optimal":
            return Answer(status or f"code {code}")
        duals = self._copy(library.Cbc_getRowPrice(model), len(program.sides))
        return Answer(status, self._point(), duals)

    def solve(self, seconds: float) -> Answer:
        """Solve what was added, with integrality."""
        owner = self._owner
        owner.threads = 1
        # python-mip's default accepts solutions within 0.01% of the optimum
        owner.max_mip_gap, owner.max_mip_gap_abs = 0.0, 1e-9
        with silent_stdout():
            status = owner.optimize(max_seconds=seconds)
        known = _python_mip().OptimizationStatus
        if status in (known.INFEASIBLE, known.INT_INFEASIBLE):
            return Answer("infeasible")
        if status == known.NO_SOLUTION_FOUND:
            return Answer("out of time")
        if status not in (known.OPTIMAL, known.FEASIBLE):
            return Answer(status.name)
        return Answer(status.name.lower(), self._point(), bound=float(owner.objective_bound))

    def _point(self) -> Floats:
        library, model = self._library, self._model
        return self._copy(library.Cbc_getColSolution(model), library.Cbc_getNumCols(model))

    def _pointer(self, kind: str, array: Indices | Floats) -> Any:
        """Return a C pointer to an array, or to anything if it is empty."""
        if not array.size:
            return self._ffi.new(f"{kind}[1]")
        return self._ffi.from_buffer(f"{kind}[]", array)

    def _copy(self, pointer: Any, count: int) -> Floats:
        if not count:
            return np.zeros(0)
        return np.frombuffer(self._ffi.buffer(pointer, 8 * count), dtype=np.float64).copy()


def solve_by_cbc(maximize: bool, changes: list[Change], seconds: float) -> Answer:
    """Solve a program with integrality; the seconds count its writing too."""
    end = monotonic() + seconds
    model = Cbc(maximize, end)
    try:
        for change in changes:
            model.add(change)
    except TimeoutError:
        return Answer("out of time")
    return model.solve(max(end - monotonic(), 0.0))
