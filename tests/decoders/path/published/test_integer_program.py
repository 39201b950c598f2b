"""The integer programs: both formulations, both solvers, and the flaws that were mended."""

import numpy as np

from spacy_decoders import Budget
from spacy_decoders.decoders.path import ExactPath, IntegerProgram, PathProblem
from tests.decoders.path.problems import assert_path, random_problem, truth


def test_no_cycle_beside_the_path():
    # the cycle 1 2 1 of figure 1 is worth more than any path of 4 edges
    weights = np.full((4, 4), -1.0)
    weights[1, 2] = weights[2, 1] = 10.0
    problem = PathProblem([0, -5, -5, 0], weights, [0, -5, -5, 0], [0, 1, 2, 3])
    solution = IntegerProgram(formulation="flow").decode(problem, 3)
    assert_path(problem, 3, solution)
    assert solution.certificate.score == truth(problem, 3)[0][0]


def test_a_budget_that_ends_at_once_leaves_a_beams_path_and_a_bound():
    problem = random_problem(np.random.default_rng(1), 15, 15)
    solution = IntegerProgram().decode(problem, 6, budget=Budget(seconds=1e-6))
    best = ExactPath().decode(problem, 6).certificate.score
    assert_path(problem, 6, solution)
    assert solution.certificate.score - 1e-9 <= best <= solution.certificate.bound + 1e-9
