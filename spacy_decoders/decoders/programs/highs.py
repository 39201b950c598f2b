"""HiGHS, as it comes with scipy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .statement import Answer, Statement

__all__ = ["relaxed_by_highs", "solved_by_highs"]

#: What scipy's numbers mean.
_STATUSES = {0: "optimal", 1: "out of time", 2: "infeasible", 3: "unbounded"}


def relaxed_by_highs(program: Statement, seconds: float) -> Answer:
    """Solve a program without integrality."""
    from scipy.optimize import linprog
    from scipy.sparse import diags

    sign = -1.0 if program.maximize else 1.0  # scipy minimises
    equal = program.signs == 0
    turned = program.signs[~equal].astype(np.float64)  # and knows no "at least"
    found = linprog(
        sign * program.objective,
        diags(turned) @ program.matrix[~equal],
        turned * program.sides[~equal],
        program.matrix[equal],
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


def solved_by_highs(program: Statement, seconds: float) -> Answer:
    """Solve a program with integrality."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    sign = -1.0 if program.maximize else 1.0
    found = milp(
        sign * program.objective,
        integrality=program.whole.astype(np.int64),
        bounds=Bounds(program.lower, program.upper),
        constraints=LinearConstraint(
            program.matrix,
            np.where(program.signs > 0, -np.inf, program.sides),
            np.where(program.signs < 0, np.inf, program.sides),
        ),
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
