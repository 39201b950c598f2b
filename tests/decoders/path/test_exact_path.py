"""The exact decoder and its certificates; against brute force: `promises`."""

import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.decoders.path import Beam, ColorCoding, ExactPath, IntegerProgram, PathProblem
from tests.decoders.path.problems import assert_path, headline_like, symmetric


def test_golden_example():
    # "sort", "sorting" (one class), "merge": the heavy edges join the two of one class,
    # so the best path of 2 is merge -> sort: 1 + 4 + 0
    problem = PathProblem(
        start=[2, 2, 1],
        weights=[[0, 9, 1], [9, 0, 2], [4, 3, 0]],
        end=[0, 0, -5],
        classes=[0, 0, 1],
    )
    solution = ExactPath().decode(problem, 2)
    assert solution.vertices.tolist() == [2, 0]
    assert solution.certificate.score == 5.0
    assert solution.certificate.is_optimal


@pytest.mark.parametrize("decoder", [ExactPath(), IntegerProgram(), ColorCoding()])
def test_without_scores_every_path_is_optimal(decoder):
    problem = PathProblem(np.zeros(6), np.zeros((6, 6)), np.zeros(6), [0, 1, 2, 3, 3, 0])
    for length in range(1, 5):
        certificate = decoder.decode(problem, length).certificate
        assert certificate.is_optimal and certificate.gap == 0.0


@pytest.mark.parametrize("make", [headline_like, symmetric])
@pytest.mark.parametrize("length", [3, 6, 9])
def test_larger_problems_beat_the_beam_and_agree_with_their_own_kin(make, length):
    # all stages are needed here: with permuted vertices they go other ways to the same score
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = make(rng, 40)
        order = rng.permutation(40)
        permuted = PathProblem(
            problem.start[order],
            problem.weights[np.ix_(order, order)],
            problem.end[order],
            problem.classes[order],
        )
        solution = ExactPath().decode(problem, length)
        other = ExactPath().decode(permuted, length)
        assert_path(problem, length, solution)
        assert solution.certificate.is_optimal
        assert other.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(other.certificate.score, abs=1e-9)
        beam = Beam(200).decode(problem, length).certificate.score
        assert solution.certificate.score >= beam - 1e-9


@pytest.mark.parametrize("size", [1e5, 1e6, 1e7])
def test_large_scores_that_the_best_path_lacks_leave_it_proven(size):
    problem = PathProblem([0.1, size], np.zeros((2, 2)), [0.0, -size], [0, 1])
    for decoder in (ExactPath(), ColorCoding()):
        certificate = decoder.decode(problem, 1).certificate
        assert certificate.score == 0.1
        assert certificate.is_optimal


@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_a_budget_leaves_an_honest_gap(iterations):
    problem = symmetric(np.random.default_rng(0), 60)
    best = ExactPath().decode(problem, 10)
    assert best.certificate.is_optimal
    limited = ExactPath().decode(problem, 10, budget=Budget(iterations=iterations))
    assert_path(problem, 10, limited)
    assert limited.certificate.status == "bounded"
    assert limited.certificate.score <= best.certificate.score + 1e-9
    assert limited.certificate.bound >= best.certificate.score - 1e-9
    ranked = ExactPath().k_best(problem, 10, 5, budget=Budget(iterations=iterations))
    assert ranked[0].certificate.bound >= best.certificate.score - 1e-9
