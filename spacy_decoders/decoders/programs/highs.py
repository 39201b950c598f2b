"""HiGHS: warm started through its own module, cold started through scipy."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from .statement import Answer, Change, NewColumns, NewRows, Statement

__all__ = ["Highs", "ScipyHighs", "highs", "solve_by_highs"]

#: The meaning of scipy's status codes.
_STATUSES = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}


def highs() -> Highs | ScipyHighs:
    """Return HiGHS by its own module, which the extra ``solvers`` brings, or by scipy."""
    return Highs() if find_spec("highspy") else ScipyHighs()


class Highs:
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

    def add(self, change: Change) -> None:
        """Pass columns, rows or bounds to the solver."""
        model = self._model
        if isinstance(change, NewColumns):
            objective, lower, upper, _, starts, rows, values = change
            count, entries = len(objective), len(rows)
            model.addCols(count, objective, lower, upper, entries, starts[:-1], rows, values)
        elif isinstance(change, NewRows):
            sense, sides, starts, of, values = change
            low = np.full(len(sides), -np.inf) if sense == "<=" else sides
            high = np.full(len(sides), np.inf) if sense == ">=" else sides
            model.addRows(len(sides), low, high, len(of), starts[:-1], of, values)
        else:
            columns = change.columns
            model.changeColsBounds(len(columns), columns, change.lower, change.upper)

    def relax(self, program: Statement, seconds: float) -> Answer:
        """Solve what was added, without integrality."""
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


class ScipyHighs:
    """Relaxations by scipy, which takes a whole program at once."""

    def add(self, change: Change) -> None:
        """Do nothing."""

    def relax(self, program: Statement, seconds: float) -> Answer:
        """Solve a program without integrality."""
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
            options={"time_limit": seconds},
        )
        if found.status != 0:
            return Answer(_status(found))
        duals = np.empty(len(program.sides))
        duals[~equal] = sign * turned * found.ineqlin.marginals
        duals[equal] = sign * found.eqlin.marginals
        return Answer("optimal", found.x, duals)


def solve_by_highs(program: Statement, seconds: float) -> Answer:
    """Solve a program with integrality."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    sign = -1.0 if program.maximize else 1.0
    low = np.where(program.signs > 0, -np.inf, program.sides)
    high = np.where(program.signs < 0, np.inf, program.sides)
    found = milp(
        sign * program.objective,
        integrality=program.integer.astype(np.int64),
        bounds=Bounds(program.lower, program.upper),
        constraints=LinearConstraint(program.matrix(), low, high),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    status = _status(found)
    if found.x is None:
        return Answer(status)
    bound = getattr(found, "mip_dual_bound", None)
    return Answer(
        "feasible" if status == "out of time" else status,
        found.x,
        bound=sign * (-np.inf if bound is None else float(bound)),
    )


def _status(found: Any) -> str:
    return _STATUSES.get(found.status) or str(found.message)
