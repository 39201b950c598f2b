"""Who solves a program that grows: CBC and highspy go on from their last solution."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .highs import relaxed_by_highs
from .python_mip import cbc_model
from .silence import silent_stdout
from .statement import Answer, Sense, Solver, Statement, checked_solver

__all__ = ["GrowingSolver", "growing_solver"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


class GrowingSolver(Protocol):
    """What is told of each change to the program, and solves it."""

    def add_columns(
        self, objective: Floats, upper: Floats, starts: Indices, rows: Indices, values: Floats
    ) -> None: ...

    def add_rows(
        self, sense: Sense, sides: Floats, starts: Indices, columns: Indices, values: Floats
    ) -> None: ...

    def set_upper(self, columns: Indices, upper: Floats) -> None: ...

    def solve(self, seconds: float, stated: Callable[[], Statement]) -> Answer:
        """Solve the program; `stated` gives it whole."""


def growing_solver(name: Solver) -> GrowingSolver:
    """Make a solver of this name.

    Raises
    ------
    ProblemError
        If there is none, or what it needs is not installed.
    """
    if checked_solver(name) == "CBC":
        return _Cbc()
    return _Highspy() if find_spec("highspy") else _Scipy()


class _Scipy:
    """HiGHS through scipy, which takes a program whole or not at all."""

    def add_columns(
        self, objective: Floats, upper: Floats, starts: Indices, rows: Indices, values: Floats
    ) -> None:
        pass

    def add_rows(
        self, sense: Sense, sides: Floats, starts: Indices, columns: Indices, values: Floats
    ) -> None:
        pass

    def set_upper(self, columns: Indices, upper: Floats) -> None:
        pass

    def solve(self, seconds: float, stated: Callable[[], Statement]) -> Answer:
        with silent_stdout():
            return relaxed_by_highs(stated(), seconds)


class _Highspy:
    """HiGHS through its own Python module."""

    def __init__(self) -> None:
        import highspy

        self._statuses = highspy.HighsModelStatus
        self._model = highspy.Highs()
        self._model.setOptionValue("output_flag", False)
        self._model.setOptionValue("threads", 1)
        # a presolve would throw the last basis away
        self._model.setOptionValue("presolve", "off")
        self._model.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add_columns(
        self, objective: Floats, upper: Floats, starts: Indices, rows: Indices, values: Floats
    ) -> None:
        count = len(objective)
        zeros = np.zeros(count)
        self._model.addCols(count, objective, zeros, upper, len(rows), starts[:-1], rows, values)

    def add_rows(
        self, sense: Sense, sides: Floats, starts: Indices, columns: Indices, values: Floats
    ) -> None:
        low = np.full(len(sides), -np.inf) if sense == "<=" else sides
        high = np.full(len(sides), np.inf) if sense == ">=" else sides
        self._model.addRows(len(sides), low, high, len(columns), starts[:-1], columns, values)

    def set_upper(self, columns: Indices, upper: Floats) -> None:
        self._model.changeColsBounds(len(columns), columns, np.zeros(len(columns)), upper)

    def solve(self, seconds: float, stated: Callable[[], Statement]) -> Answer:
        model = self._model
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


class _Cbc:
    """CBC, through the library that python-mip loads."""

    def __init__(self) -> None:
        with silent_stdout():
            # python-mip's model owns the C model, and frees it
            self._owner = cbc_model(maximize=True)
        from mip import cbc

        self._library, self._ffi = cbc.cbclib, cbc.ffi
        self._model = self._owner.solver._model

    def add_columns(
        self, objective: Floats, upper: Floats, starts: Indices, rows: Indices, values: Floats
    ) -> None:
        into, weights = self._ints(rows), self._doubles(values)
        add, model = self._library.Cbc_addCol, self._model
        for cost, high, (a, b) in zip(
            objective.tolist(), upper.tolist(), pairwise(starts.tolist()), strict=True
        ):
            add(model, b"", 0.0, high, cost, b"\0", b - a, into + a, weights + a)

    def add_rows(
        self, sense: Sense, sides: Floats, starts: Indices, columns: Indices, values: Floats
    ) -> None:
        of, weights = self._ints(columns), self._doubles(values)
        kind = {"<=": b"L", ">=": b"G", "=": b"E"}[sense]
        add, model = self._library.Cbc_addRow, self._model
        for side, (a, b) in zip(sides.tolist(), pairwise(starts.tolist()), strict=True):
            add(model, b"", b - a, of + a, weights + a, kind, side)

    def set_upper(self, columns: Indices, upper: Floats) -> None:
        for column, high in zip(columns.tolist(), upper.tolist(), strict=True):
            self._library.Cbc_setColUpper(self._model, column, high)

    def solve(self, seconds: float, stated: Callable[[], Statement]) -> Answer:
        library, model = self._library, self._model
        with silent_stdout():
            library.Cbc_setMaximumSeconds(model, seconds)
            code = library.Cbc_solveLinearProgram(model)
        status = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}.get(code)
        if status != "optimal":
            return Answer(status or f"code {code}")
        values = self._copy(library.Cbc_getColSolution(model), library.Cbc_getNumCols(model))
        duals = self._copy(library.Cbc_getRowPrice(model), library.Cbc_getNumRows(model))
        return Answer(status, values, duals)

    def _ints(self, array: Indices) -> Any:
        return self._ffi.from_buffer("int[]", array) if array.size else self._ffi.new("int[1]")

    def _doubles(self, array: Floats) -> Any:
        if not array.size:
            return self._ffi.new("double[1]")
        return self._ffi.from_buffer("double[]", array)

    def _copy(self, pointer: Any, count: int) -> Floats:
        if not count:
            return np.zeros(0)
        return np.frombuffer(self._ffi.buffer(pointer, 8 * count), dtype=np.float64).copy()
