"""ExactRepresentatives against an integer program."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.programs import LinearProgram
from spacy_decoders.decoders.representatives import ExactRepresentatives, RepresentativesProblem


def optimum(problem: RepresentativesProblem) -> float:
    """Solve with a column for each candidate and one for each pair of candidates."""
    program = LinearProgram(maximize=False)
    local = np.split(problem.local_costs, problem.offsets[1:-1])
    chosen = [program.add_columns(costs, integer=True) for costs in local]
    for columns in chosen:
        program.add_row(columns, np.ones(len(columns)), "=", 1.0)
    for i in range(problem.size):
        for j in range(i + 1, problem.size):
            block = problem.distances[np.ix_(problem.sets[i], problem.sets[j])]
            pairs = np.array([program.add_columns(problem.pair_weight * row) for row in block])
            for side, of_set in ((pairs, chosen[i]), (pairs.T, chosen[j])):
                for columns, one in zip(side, of_set, strict=True):
                    weights = np.append(np.ones(len(columns)), -1.0)
                    program.add_row(np.append(columns, one), weights, "=", 0.0)
    return program.solve().objective


@pytest.mark.parametrize("case", range(12))
def test_exact_equals_the_integer_program(case):
    rng = np.random.default_rng(case)
    size = 30
    raw = rng.integers(1, 7, (size, size)) if case % 2 else rng.normal(size=(size, size))
    distances = np.triu(raw, 1) + np.triu(raw, 1).T
    sets = np.split(rng.permutation(size), 5)
    local = [rng.random(len(s)) for s in sets] if case % 3 else None
    problem = RepresentativesProblem(distances, sets, local, weight=2.0)
    solution = ExactRepresentatives(exact_margins=False).decode(problem)
    assert solution.certificate.is_optimal
    assert solution.certificate.score == pytest.approx(optimum(problem), abs=1e-6)
