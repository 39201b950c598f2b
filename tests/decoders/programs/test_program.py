"""The solver's wrapper: right, checked and silent."""

import sys
from itertools import product

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError, ProblemError
from spacy_decoders.decoders.path import IntegerProgram
from spacy_decoders.decoders.programs import LinearProgram, SolverError
from spacy_decoders.decoders.programs.solvers import Answer
from spacy_decoders.decoders.tree import PriceAndCut

SOLVERS = ["HIGHS", "CBC"]


def knapsack(rng, solver):
    program = LinearProgram(solver)
    worth, weight = rng.integers(-3, 9, 7).astype(float), rng.integers(1, 5, 7).astype(float)
    columns = program.add_columns(worth, integer=True)
    program.add_row(columns, weight, "<=", 9.0)
    program.add_row(columns[:3], [-1.0, -1.0, -1.0], "<=", -1.0)
    program.add_row(columns[3:], np.ones(4), "=", 2.0)
    points = [
        np.dot(worth, x)
        for x in product((0, 1), repeat=7)
        if np.dot(weight, x) <= 9 and sum(x[:3]) >= 1 and sum(x[3:]) == 2
    ]
    return program, points


def worth(program, solution):
    return float(program._stating().objective @ solution.values)


@pytest.mark.parametrize("solver", SOLVERS)
def test_equals_enumeration(rng, solver):
    for _ in range(12):
        program, points = knapsack(rng, solver)
        if not points:
            with pytest.raises(InfeasibleError):
                program.solve()
            continue
        best = max(points)
        solution = program.solve()
        assert solution.proven
        assert worth(program, solution) == pytest.approx(best)
        assert worth(program, program.relax()) >= best - 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_growing_gives_what_stating_all_at_once_gives(rng, solver):
    for _ in range(20):
        costs, weights = rng.integers(-3, 9, 8).astype(float), rng.integers(1, 5, (3, 8))
        whole = LinearProgram(solver)
        whole.add_rows(np.tile(whole.add_columns(costs), (3, 1)), weights, "<=", 6.0)
        whole.add_row([0, 7], -1.0, "<=", -1.0)
        expected = worth(whole, whole.relax())
        growing = LinearProgram(solver)
        first = growing.add_columns(costs[:5])
        rows = growing.add_rows(np.tile(first, (2, 1)), weights[:2, :5], "<=", [6.0, 6.0])
        growing.relax()
        growing.add_columns(costs[5:], rows=np.tile(rows, (3, 1)), coefficients=weights[:2, 5:].T)
        growing.relax()
        starts = [0, 8]
        growing.add_rows(np.arange(8), weights[2], "<=", 6.0, starts)
        growing.add_rows([0, 7], -1.0, "<=", -1.0, [0, 2])
        assert worth(growing, growing.relax()) == pytest.approx(expected, abs=1e-9)
        growing.set_upper(np.arange(8), [1.0] + [0.0] * 7)
        for solved in (growing.relax(), growing.solve()):
            assert worth(growing, solved) == pytest.approx(costs[0], abs=1e-9)


def test_a_point_that_breaks_a_row_is_not_believed(monkeypatch):
    def answers(answer):
        where = "spacy_decoders.decoders.programs.program.in_child"
        monkeypatch.setattr(where, lambda *_, **__: answer)

    program = LinearProgram("CBC")
    columns = program.add_columns([1.0, 1.0], integer=True)
    program.add_row(columns, [1.0, 1.0], "<=", 0.5)
    for point, fault in (
        ([1.0, 0.0], "breaks row 0"),
        ([1.5, -1.0], "outside its bounds"),
        ([np.nan, 0.0], "not finite"),
    ):
        answer = Answer("optimal", np.array(point), np.zeros(1))
        answers(answer)
        with pytest.raises(SolverError, match=fault):
            program.relax()
    answers(Answer("optimal", np.array([1.0, 0.0])))
    with pytest.raises(SolverError, match="breaks row 0"):
        program.solve()
    answers(Answer("optimal", np.array([0.5, 0.0])))
    with pytest.raises(SolverError, match="fractions"):
        program.solve()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_budget_that_is_over(solver):
    program = LinearProgram(solver)
    program.add_columns([1.0], integer=True)
    clock = Budget(seconds=1e-9).start()
    assert program.solve(clock) is None
    with pytest.raises(SolverError, match="no time"):
        program.relax(clock)


@pytest.mark.parametrize(
    "ask", [LinearProgram, PriceAndCut, IntegerProgram], ids=lambda of: of.__name__
)
def test_a_solver_that_is_not_installed_names_its_extra(ask, monkeypatch):
    monkeypatch.setitem(sys.modules, "mip", None)
    with pytest.raises(ProblemError, match=r'pip install "spacy-decoders\[solvers\]"'):
        ask("CBC")
    ask()
