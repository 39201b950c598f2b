"""The exact decoder against brute force, and its certificates."""

from functools import partial

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError
from spacy_decoders.decoders.path import (
    Beam,
    ColorCoding,
    ExactPath,
    IntegerProgram,
    PathDecoder,
    PathProblem,
)
from tests.decoders.path.problems import (
    assert_path,
    headline_like,
    small_problems,
    symmetric,
    truth,
)


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


#: What finds the best paths of a small problem, and of how many it finds all.
RANKINGS = {
    "exact": (ExactPath().k_best, 7),
    "by exclusion": (partial(PathDecoder.k_best, ExactPath()), 7),
    "beam": (Beam(10_000).k_best, 7),
    "beam, look-ahead": (Beam(10_000, lookahead=True).k_best, 7),
    "colour-coding": (ColorCoding(failure=1e-6).k_best, 1),
}


@pytest.mark.parametrize("name", RANKINGS)
def test_k_best_equals_brute_force(name):
    k_best, k = RANKINGS[name]
    for problem, length in small_problems(200, seed=1):
        expected = truth(problem, length)
        if not expected:
            with pytest.raises(InfeasibleError):
                k_best(problem, length, k)
            continue
        ranked = k_best(problem, length, k)
        for solution in ranked:
            assert_path(problem, length, solution)
        assert len({tuple(s.vertices.tolist()) for s in ranked}) == len(ranked)
        scores = [solution.certificate.score for solution in ranked]
        assert scores == pytest.approx([score for score, _ in expected[:k]], abs=1e-9)
        if name in ("exact", "by exclusion"):
            assert ranked[0].certificate.is_optimal
            gaps = [solution.certificate.gap for solution in ranked]
            assert gaps == pytest.approx([scores[0] - score for score in scores], abs=1e-9)
        if name == "colour-coding":
            assert ranked[0].certificate.confidence >= 1 - 1e-6


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
