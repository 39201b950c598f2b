"""What a solver is given, and what it answers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import DecodersError, ProblemError

__all__ = ["Answer", "Sense", "Solver", "SolverError", "Statement", "checked_solver"]

Solver = Literal["HIGHS", "CBC"]
Sense = Literal["<=", "=", ">="]
Floats = NDArray[np.float64]


class SolverError(DecodersError, RuntimeError):
    """The solver failed, or its answer does not satisfy the program it was given."""


class Statement(NamedTuple):
    """A linear or mixed-integer program in arrays.

    `signs` has 1 for a row that is at most its side, -1 for at least, and 0 for equal.
    """

    maximize: bool
    objective: Floats
    lower: Floats
    upper: Floats
    whole: NDArray[np.bool_]
    matrix: Any
    signs: NDArray[np.int8]
    sides: Floats


class Answer(NamedTuple):
    """A solver's claim.

    `status` is ``"optimal"``, ``"feasible"``, ``"infeasible"``, ``"out of time"``, or what the
    solver says of its failure. The first two come with values: of a relaxation with duals, of
    an integer program with the solver's bound.
    """

    status: str
    values: Floats = np.zeros(0)
    duals: Floats = np.zeros(0)
    bound: float = np.nan


def checked_solver(solver: Solver) -> Solver:
    """Return the solver's name.

    Raises
    ------
    ProblemError
        If there is no such solver, or what it needs is not installed.
    """
    if solver not in get_args(Solver):
        raise ProblemError(f"solver: expected 'HIGHS' or 'CBC', got {solver!r}.")
    if solver == "CBC" and find_spec("mip") is None:
        raise ProblemError(
            "solver: 'CBC' needs python-mip: pip install \"spacy-decoders[solvers]\"; 'HIGHS' "
            "needs no extra."
        )
    return solver
