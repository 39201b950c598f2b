"""Beam search where it is narrow; wide enough for all it is exact: `promises`."""

import numpy as np

from spacy_decoders.decoders.path import Beam, ExactPath, PathProblem
from tests.decoders.path.problems import headline_like


def test_a_narrow_beam_claims_nothing_and_a_look_ahead_bounds():
    found = 0
    for seed in range(20):
        problem = headline_like(np.random.default_rng(seed), 40)
        best = ExactPath().decode(problem, 6).certificate.score
        plain = Beam(3).decode(problem, 6)
        ahead = Beam(3, lookahead=True).decode(problem, 6)
        assert plain.certificate.status == "heuristic"
        assert ahead.certificate.bound >= best - 1e-9
        assert plain.certificate.score <= best + 1e-9
        found += ahead.certificate.score >= plain.certificate.score
    assert found >= 18


def test_a_dead_end_is_no_proof():
    # the best start has no way on: a beam of one dies there
    weights = np.full((3, 3), -np.inf)
    weights[1, 2] = 0.0
    problem = PathProblem([9, 0, 0], weights, [0, 0, 0], [0, 1, 2])
    assert Beam(1).decode(problem, 2).vertices.tolist() == [1, 2]
    assert Beam(1, lookahead=True).decode(problem, 2).vertices.tolist() == [1, 2]
