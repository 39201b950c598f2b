"""Linear and integer programs, solved by HiGHS or CBC: the only place where a solver is called.

Solvers are imported when the first program is solved.
"""

from .program import IntegerSolution, LinearProgram, LinearSolution
from .solvers import Sense, Solver, SolverError, checked_solver

__all__ = [
    "IntegerSolution",
    "LinearProgram",
    "LinearSolution",
    "Sense",
    "Solver",
    "SolverError",
    "checked_solver",
]
