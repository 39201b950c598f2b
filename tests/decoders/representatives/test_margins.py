"""Margins are proven, or lower bounds that say so."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders import Budget, verify
from spacy_decoders.decoders.representatives import (
    ExactRepresentatives,
    LocalSearch,
    RepresentativesProblem,
)


def test_margins_far_apart_are_exact():
    """The second set's alternative costs 5e8 more than the best choice, the first one's 1.5."""
    distances = np.zeros((5, 5))
    distances[3, :3] = distances[:3, 3] = 1.0
    problem = RepresentativesProblem(
        distances, [[0, 1, 2], [3, 4]], [[0.0, 1.5, 1e20], [0.0, 5e8]]
    )
    solution = ExactRepresentatives().decode(problem)
    assert solution.choices.tolist() == [0, 0] and solution.certificate.is_optimal
    assert solution.margins.tolist() == pytest.approx([1.5, 5e8 - 1.0], rel=1e-7)
    assert solution.exact_margins.all()


def test_margins_beyond_single_precision_are_its_largest_number():
    problem = RepresentativesProblem([[0.0, 1e30], [1e30, 0.0]], [[0, 1], [0]], weight=1e9)
    solution = ExactRepresentatives().decode(problem)
    assert solution.margins.tolist() == [float(np.finfo(np.float32).max), np.inf]
    assert verify(problem, solution)


def test_margins_without_proof_are_flagged():
    rng = np.random.default_rng(0)
    distances = np.triu(rng.random((60, 60)), 1)
    problem = RepresentativesProblem(distances + distances.T, np.split(np.arange(60), 6))
    assert ExactRepresentatives().decode(problem).exact_margins.all()
    assert not ExactRepresentatives(exact_margins=False).decode(problem).exact_margins.any()
    short = ExactRepresentatives(starts=1).decode(problem, budget=Budget(iterations=1))
    assert not short.exact_margins.all()
    assert not LocalSearch().decode(problem).exact_margins.any()
