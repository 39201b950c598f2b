"""Beam search that meets a dead end; all else that it promises: `promises`."""

import numpy as np

from spacy_decoders.decoders.path import Beam, PathProblem


def test_a_dead_end_is_no_proof():
    # the best start has no way on: a beam of one dies there
    weights = np.full((3, 3), -np.inf)
    weights[1, 2] = 0.0
    problem = PathProblem([9, 0, 0], weights, [0, 0, 0], [0, 1, 2])
    assert Beam(1).decode(problem, 2).vertices.tolist() == [1, 2]
    assert Beam(1, lookahead=True).decode(problem, 2).vertices.tolist() == [1, 2]
