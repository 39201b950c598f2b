"""Linear and integer programs, by HiGHS or CBC: the one place where a solver is called.

Solvers are imported when a program is solved, and no earlier.
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
