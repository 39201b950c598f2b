"""A flaw of the integer programs that was mended; all else that they promise: `promises`."""

import numpy as np

from spacy_decoders.decoders.path import IntegerProgram, PathProblem
from tests.decoders.path.problems import assert_path
from tests.oracles import all_paths


def test_no_cycle_beside_the_path():
    # the cycle 1 2 1 of figure 1 is worth more than any path of 4 edges
    weights = np.full((4, 4), -1.0)
    weights[1, 2] = weights[2, 1] = 10.0
    problem = PathProblem([0, -5, -5, 0], weights, [0, -5, -5, 0], [0, 1, 2, 3])
    solution = IntegerProgram(formulation="flow").decode(problem, 3)
    assert_path(problem, 3, solution)
    assert solution.certificate.score == all_paths(problem, 3)[0].worth
