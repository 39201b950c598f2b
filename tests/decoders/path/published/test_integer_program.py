"""A flaw of the integer programs that was mended; all else that they promise: `promises`."""

import numpy as np

from spacy_decoders import Budget
from spacy_decoders.decoders.path import IntegerProgram, PathProblem


def test_no_cycle_beside_the_path():
    # the cycle 1 2 1 of figure 1 is worth more than any path of 4 edges
    weights = np.full((4, 4), -1.0)
    weights[1, 2] = weights[2, 1] = 10.0
    problem = PathProblem([0, -5, -5, 0], weights, [0, -5, -5, 0], [0, 1, 2, 3])
    # of the solver alone, whose failure a beam would make good
    path, proven = IntegerProgram(formulation="flow")._solved(problem, 3, Budget().start())
    assert proven and problem.score(path) == 4.0
