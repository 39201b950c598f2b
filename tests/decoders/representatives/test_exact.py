"""ExactRepresentatives and the heuristics against brute force."""

import numpy as np
import pytest

from spacy_decoders import Budget, verify
from spacy_decoders.decoders.representatives import (
    ExactRepresentatives,
    Greedy,
    HittingDistance,
    LocalSearch,
    RepresentativesProblem,
    exact,
)


def test_margins_without_proof_are_flagged():
    rng = np.random.default_rng(0)
    distances = np.triu(rng.random((60, 60)), 1)
    problem = RepresentativesProblem(distances + distances.T, np.split(np.arange(60), 6))
    assert ExactRepresentatives().decode(problem).exact_margins.all()
    assert not ExactRepresentatives(exact_margins=False).decode(problem).exact_margins.any()
    far = RepresentativesProblem([[0, 1e40], [1e40, 0]], [[0, 1], [0]])  # beyond float32
    assert ExactRepresentatives().decode(far).exact_margins.tolist() == [False, True]
    short = ExactRepresentatives(starts=1).decode(problem, budget=Budget(iterations=1))
    assert not short.exact_margins.all()
    assert not LocalSearch().decode(problem).exact_margins.any()


def test_worked_by_hand():
    # a path 0 - 1 - 2 - 3 and two sets at its ends: 1 and 2 are nearest
    distances = [[abs(a - b) for a in range(4)] for b in range(4)]
    problem = RepresentativesProblem(distances, [[0, 1], [3, 2]], vertices=[10, 11, 12, 13])
    for decoder in (ExactRepresentatives(), HittingDistance(), Greedy(3), LocalSearch(starts=4)):
        solution = decoder.decode(problem)
        assert solution.choices.tolist() == [1, 1]
        assert solution.vertices.tolist() == [11, 12]
        assert solution.certificate.score == 1.0
        assert solution.distance_cost == 2.0
        assert solution.margins.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_a_wrong_price_proves_nothing(shift, monkeypatch):
    monkeypatch.setattr(exact, "FEW", 10**9)
    monkeypatch.setattr(exact, "rounded_down", lambda sums, *_: sums + shift)
    problem = RepresentativesProblem([[0, 1], [1, 0]], [[0, 1], [0]])
    assert not ExactRepresentatives().decode(problem).certificate.is_optimal


def test_a_set_of_many_candidates_is_verified_without_a_square_of_them():
    local = [np.random.default_rng(0).random(25_000)]
    problem = RepresentativesProblem(np.zeros((1, 1)), [np.zeros(25_000, int)], local=local)
    assert verify(problem, ExactRepresentatives().decode(problem)).outcome == "confirmed"
