"""The exact decoder against brute force, and its certificates."""

import pickle

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError, ProblemError
from spacy_decoders.decoders.path import (
    Beam,
    ColorCoding,
    ExactPath,
    PathProblem,
    exact_path,
    lagrangian_search,
)
from spacy_decoders.decoders.path.decoder import PathDecoder
from tests.decoders.path.problems import (
    assert_path,
    headline_like,
    random_problem,
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


def test_equals_brute_force():
    for problem, length in small_problems(400):
        expected = truth(problem, length)
        if not expected:
            with pytest.raises(InfeasibleError):
                ExactPath().decode(problem, length)
            continue
        solution = ExactPath().decode(problem, length)
        assert_path(problem, length, solution)
        assert solution.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(expected[0][0], abs=1e-9)


@pytest.mark.parametrize("k_best", [ExactPath.k_best, PathDecoder.k_best])
def test_k_best_equals_brute_force(k_best):
    for problem, length in small_problems(150, seed=1):
        expected = truth(problem, length)
        if not expected:
            with pytest.raises(InfeasibleError):
                k_best(ExactPath(), problem, length, 4)
            continue
        ranked = k_best(ExactPath(), problem, length, 7)
        assert len({tuple(s.vertices.tolist()) for s in ranked}) == len(ranked)
        scores = [solution.certificate.score for solution in ranked]
        assert scores == pytest.approx([score for score, _ in expected[:7]], abs=1e-9)
        assert ranked[0].certificate.is_optimal
        gaps = [solution.certificate.gap for solution in ranked]
        assert gaps == pytest.approx([scores[0] - score for score in scores], abs=1e-9)


def test_all_lengths_at_once():
    for problem, _ in small_problems(100, seed=2):
        solutions = ExactPath().decode_lengths(problem, range(1, 8))
        assert len(solutions) == 7
        for length, solution in zip(range(1, 8), solutions, strict=True):
            expected = truth(problem, length) if length <= problem.size else []
            if expected:
                assert_path(problem, length, solution)
                assert solution.certificate.score == pytest.approx(expected[0][0], abs=1e-9)
            else:
                assert solution.certificate.status == "infeasible"
                assert len(solution.vertices) == 0


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


def test_ties_everywhere():
    problem = PathProblem(np.zeros(30), np.ones((30, 30)), np.zeros(30), np.arange(30))
    solution = ExactPath().decode(problem, 10)
    assert solution.certificate.score == 9.0
    assert solution.certificate.is_optimal


def test_scores_as_low_as_a_soft_minus_infinity():
    rng = np.random.default_rng(3)
    for _ in range(50):
        problem = random_problem(rng, 5, 4)
        low = np.where(rng.random((5, 5)) < 0.6, -1e30, problem.weights)
        problem = PathProblem(problem.start, low, problem.end, problem.classes)
        for length in range(1, min(4, problem.class_count) + 1):
            solution = ExactPath().decode(problem, length)
            best = truth(problem, length)[0][0]
            assert solution.certificate.score == pytest.approx(best, rel=1e-12)
            assert solution.certificate.is_optimal
            assert solution.certificate.gap <= 1e-12 * (1 + abs(best))


@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_a_budget_leaves_an_honest_gap(iterations):
    problem = symmetric(np.random.default_rng(0), 60)
    best = ExactPath().decode(problem, 10)
    assert best.certificate.is_optimal
    hurried = ExactPath().decode(problem, 10, budget=Budget(iterations=iterations))
    assert_path(problem, 10, hurried)
    assert hurried.certificate.status == "bounded"
    assert hurried.certificate.score <= best.certificate.score + 1e-9
    assert hurried.certificate.bound >= best.certificate.score - 1e-9
    ranked = ExactPath().k_best(problem, 10, 5, budget=Budget(iterations=iterations))
    assert ranked[0].certificate.bound >= best.certificate.score - 1e-9


def test_k_best_of_a_larger_problem():
    for make in (headline_like, symmetric):
        problem = make(np.random.default_rng(5), 25)
        ranked = ExactPath().k_best(problem, 5, 20)
        by_parts = PathDecoder.k_best(ExactPath(), problem, 5, 20)
        assert [s.certificate.score for s in ranked] == pytest.approx(
            [s.certificate.score for s in by_parts], abs=1e-9
        )


def test_bad_arguments():
    problem = random_problem(np.random.default_rng(0), 4, 4)
    with pytest.raises(ProblemError, match="k: expected"):
        ExactPath().k_best(problem, 2, 0)
    with pytest.raises(ProblemError, match="length"):
        ExactPath().decode(problem, 0)


def test_same_input_same_output_and_picklable():
    problem = symmetric(np.random.default_rng(1), 30)
    decoder = pickle.loads(pickle.dumps(ExactPath()))
    assert decoder == ExactPath()
    first, second = decoder.decode(problem, 8), ExactPath().decode(problem, 8)
    assert first.vertices.tolist() == second.vertices.tolist()


@pytest.mark.parametrize("count", [1, 3])
def test_each_stage_of_closing_the_gap_against_brute_force(monkeypatch, count):
    # with one node a search, small problems too go through prices and the long search
    monkeypatch.setattr(exact_path, "FIRST_NODES", 1)
    for name in ("DIVE_NODES", "PRICED_NODES"):
        monkeypatch.setattr(lagrangian_search, name, 1)
    rng = np.random.default_rng(7)
    for i in range(60):
        n = int(rng.integers(4, 8))
        forbidden = (0.0, 0.4)[i % 2]
        problem = random_problem(rng, n, n, ties=i % 3 == 0, forbidden=forbidden)
        length = min(int(rng.integers(3, 6)), problem.class_count)
        expected = truth(problem, length)
        if not expected:
            with pytest.raises(InfeasibleError):
                ExactPath().k_best(problem, length, count)
            continue
        ranked = ExactPath().k_best(problem, length, count)
        scores = [solution.certificate.score for solution in ranked]
        assert scores == pytest.approx([score for score, _ in expected[:count]], abs=1e-9)
        assert ranked[0].certificate.is_optimal
        gaps = [solution.certificate.gap for solution in ranked]
        assert gaps == pytest.approx([scores[0] - score for score in scores], abs=1e-9)
        for iterations in (1, 3, 7):
            hurried = ExactPath()
            try:
                solution = hurried.decode(problem, length, budget=Budget(iterations=iterations))
            except InfeasibleError as error:
                assert "budget" in str(error)
                continue
            bound = solution.certificate.bound
            assert solution.certificate.score <= expected[0][0] + 1e-9
            assert bound is None or bound >= expected[0][0] - 1e-9


def test_nearly_all_classes_are_needed(monkeypatch):
    # prices are paid by classes that are left out, too, so that the search has to close the gap
    monkeypatch.setattr(exact_path, "FIRST_NODES", 1)
    for name in ("DIVE_NODES", "PRICED_NODES"):
        monkeypatch.setattr(lagrangian_search, name, 1)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        worth = rng.normal(0, 3, 11)
        weights = worth + rng.normal(0, 0.5, (11, 11))
        problem = PathProblem(worth, weights, np.zeros(11), np.arange(11))
        solution = ExactPath().decode(problem, 9)
        proof = ColorCoding(colors=11, reduce=False).decode(problem, 9)
        assert solution.certificate.is_optimal
        assert proof.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(proof.certificate.score, abs=1e-9)


def test_a_ranking_may_ask_for_more_than_there_is_but_not_for_too_much():
    problem = PathProblem(np.zeros(3), np.zeros((3, 3)), np.zeros(3), [0, 1, 2])
    assert len(ExactPath().k_best(problem, 2, 10**9)) == 6
    many = PathProblem(np.zeros(50), np.zeros((50, 50)), np.zeros(50), range(50))
    with pytest.raises(ProblemError, match="k: at most 100,000"):
        ExactPath().k_best(many, 10, 10**9)


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_never_worse_than_a_beam_however_short_the_budget(iterations):
    beam = Beam(80, lookahead=True)
    for seed in range(5):
        problem = symmetric(np.random.default_rng(seed), 60)
        hurried = ExactPath().decode(problem, 12, budget=Budget(iterations=iterations))
        assert hurried.certificate.score >= beam.decode(problem, 12).certificate.score
