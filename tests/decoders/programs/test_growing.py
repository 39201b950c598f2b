"""Programs that grow by arrays: the same optima from both solvers, checked."""

import sys

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError, ProblemError
from spacy_decoders.decoders.programs.growing import GrowingProgram
from spacy_decoders.decoders.programs.solver import LinearProgram, SolverError

SOLVERS = ["HIGHS", "CBC"]


@pytest.fixture(params=["as installed", "without highspy"], autouse=True)
def installed(request, monkeypatch):
    if request.param == "without highspy":
        monkeypatch.setitem(sys.modules, "highspy", None)


@pytest.mark.parametrize("solver", SOLVERS)
def test_growing_gives_what_stating_all_at_once_gives(rng, solver):
    for _ in range(20):
        costs, weights = rng.integers(-3, 9, 8).astype(float), rng.integers(1, 5, (3, 8))
        whole = LinearProgram(solver)
        columns = whole.add_columns(costs)
        for row in weights:
            whole.add_row(columns, row.astype(float), "<=", 6.0)
        expected = whole.relax()
        growing = GrowingProgram(solver)
        first = growing.add_columns(costs[:5], 1.0)
        rows = growing.add_rows(
            "<=", np.full(2, 6.0), [0, 5, 10], np.tile(first, 2), weights[:2, :5].ravel()
        )
        growing.solve()
        growing.add_columns(
            costs[5:], 1.0, [0, 2, 4, 6], np.tile(rows, 3), weights[:2, 5:].T.ravel()
        )
        growing.solve()
        growing.add_rows("<=", [6.0], [0, 8], np.arange(8), weights[2])
        solved = growing.solve()
        assert solved.objective == pytest.approx(expected.objective)
        assert solved.bound == pytest.approx(solved.objective)
        assert (solved.duals >= -1e-9).all()
        growing.set_upper(np.arange(8), np.zeros(8))
        assert growing.solve().objective == 0.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_senses_and_no_solution(solver):
    program = GrowingProgram(solver)
    columns = program.add_columns([1.0, 1.0], 1.0)
    program.add_rows("=", [1.0], [0, 2], columns, [1.0, 1.0])
    program.add_rows(">=", [0.75], [0, 1], columns[1:], [1.0])
    assert program.solve().objective == pytest.approx(1.0)
    with pytest.raises(SolverError, match="no time"):
        program.solve(Budget(seconds=1e-9).start())
    program.add_rows("<=", [0.5], [0, 1], columns[1:], [1.0])
    with pytest.raises(InfeasibleError):
        program.solve()


def test_bad_input_is_refused():
    program = GrowingProgram()
    with pytest.raises(ProblemError, match="objective"):
        program.add_columns([np.nan], 1.0)
    column = program.add_columns([1.0], 1.0)
    with pytest.raises(ProblemError, match="columns"):
        program.add_rows("<=", [1.0], [0, 1], column + 1, [1.0])
    with pytest.raises(ProblemError, match="starts"):
        program.add_rows("<=", [1.0], [0, 2], column, [1.0])


def test_a_point_that_breaks_a_row_is_not_believed():
    program = GrowingProgram()
    columns = program.add_columns([1.0], 1.0)
    program.add_rows("<=", [0.5], [0, 1], columns, [1.0])
    program.solve()
    program._sides[0] = 0.0  # as if the solver had answered another question
    with pytest.raises(SolverError, match="breaks row 0"):
        program._check(np.array([0.5]))
