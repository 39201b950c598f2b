"""Programs that grow come to the optima of those that are stated at once."""

import numpy as np
import pytest

from spacy_decoders import InfeasibleError
from spacy_decoders.decoders.programs import LinearProgram

SOLVERS = ["HIGHS", "CBC"]


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_growing_gives_what_stating_all_at_once_gives(rng, solver, maximize):
    for _ in range(20):
        costs, weights = rng.integers(-3, 9, 8).astype(float), rng.integers(1, 5, (3, 8))
        whole = LinearProgram(solver, maximize=maximize)
        whole.add_rows(np.tile(whole.add_columns(costs), (3, 1)), weights, "<=", 6.0)
        whole.add_row([0, 7], 1.0, ">=", 1.0)
        expected = whole.relax()
        growing = LinearProgram(solver, maximize=maximize)
        first = growing.add_columns(costs[:5])
        rows = growing.add_rows(np.tile(first, (2, 1)), weights[:2, :5], "<=", [6.0, 6.0])
        growing.relax()
        growing.add_columns(costs[5:], rows=np.tile(rows, (3, 1)), coefficients=weights[:2, 5:].T)
        growing.relax()
        starts = [0, 8]
        growing.add_rows(np.arange(8), weights[2], "<=", 6.0, starts)
        growing.add_rows([0, 7], 1.0, ">=", 1.0, [0, 2])
        solved = growing.relax()
        assert solved.objective == pytest.approx(expected.objective, abs=1e-9)
        assert solved.bound == pytest.approx(solved.objective, abs=1e-9)
        growing.set_bounds(np.arange(8), 0.0, [1.0] + [0.0] * 7)
        assert growing.relax().objective == pytest.approx(costs[0], abs=1e-9)
        assert growing.solve().objective == pytest.approx(costs[0], abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_senses_and_no_solution(solver):
    program = LinearProgram(solver)
    columns = program.add_columns([1.0, 1.0])
    program.add_rows(columns[None], 1.0, "=", [1.0])
    program.add_row(columns[1:], 1.0, ">=", 0.75)
    assert program.relax().objective == pytest.approx(1.0)
    program.add_row(columns[1:], 1.0, "<=", 0.5)
    with pytest.raises(InfeasibleError):
        program.relax()
