"""Colour-coding: its probabilities; against brute force it stands in `promises`."""

from itertools import combinations

import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.budget import Clock
from spacy_decoders.decoders.path import ColorCoding, ExactPath, PathProblem
from spacy_decoders.decoders.path.published.color_coding import (
    colorful_probability,
    needed_colorings,
)
from tests.decoders.path.problems import symmetric
from tests.oracles import all_paths


def test_the_share_of_colorful_draws_is_the_probability():
    # by counting: colours dealt evenly to 5 classes, 2 of them wanted different
    for colors in (2, 3, 4, 5):
        dealt = [c % colors for c in range(5)]
        differ = [dealt[a] != dealt[b] for a, b in combinations(range(5), 2)]
        assert colorful_probability(5, 2, colors) == pytest.approx(np.mean(differ))


def test_a_short_budget_states_the_confidence_reached():
    problem = symmetric(np.random.default_rng(0), 40)
    decoder = ColorCoding(colors=6)
    chance = colorful_probability(40, 5, 6)
    certificate = decoder.decode(problem, 5, budget=Budget(iterations=3)).certificate
    assert certificate.status == "probable"
    assert certificate.iterations == 3
    assert certificate.confidence == pytest.approx(1 - (1 - chance) ** 3)
    full = decoder.decode(problem, 5).certificate
    assert full.iterations == needed_colorings(chance, 1e-3)
    assert full.confidence == 1 - 1e-3


def test_the_stated_failure_is_not_exceeded():
    # one colouring with known chance: over many seeds the optimum is found about so often
    problem = symmetric(np.random.default_rng(1), 12)
    best = float(all_paths(problem, 3)[0].worth)
    chance = colorful_probability(12, 3, 4)
    hits = 0
    for seed in range(400):
        decoder = ColorCoding(colors=4, seed=seed)
        score = decoder.decode(problem, 3, budget=Budget(iterations=1)).certificate.score
        hits += score == pytest.approx(best)
    # a symmetric path counts in both directions, with the same colours
    assert abs(hits / 400 - chance) < 4 * np.sqrt(chance * (1 - chance) / 400)


def test_a_clock_that_stops_early_leaves_a_good_path_and_a_bound(monkeypatch):
    # one colouring of many finds less than the search that it would have replaced
    scores = np.random.default_rng(5).normal(size=(60, 60))
    problem = PathProblem(scores[0], scores, scores[1], np.arange(60) % 30)
    best = ExactPath().decode(problem, 6).certificate.score
    monkeypatch.setattr(Clock, "exhausted", lambda self, done=0: done > 0)
    for seed in range(5):
        found = ColorCoding(seed=seed).decode(problem, 6, budget=Budget(seconds=1e3)).certificate
        assert found.score == pytest.approx(best)
        assert found.bound >= best


def test_a_path_that_no_colouring_found_has_no_confidence():
    # if the only path was colourful in no colouring, it is known that the optimum was missed
    weights = np.full((6, 6), -np.inf)
    weights[[0, 1, 2], [1, 2, 3]] = 1.0
    problem = PathProblem(np.zeros(6), weights, np.zeros(6), np.arange(6))
    found = set()
    for seed in range(40):
        decoder = ColorCoding(failure=0.9, colors=4, seed=seed)
        certificate = decoder.decode(problem, 4, budget=Budget(iterations=1)).certificate
        found.add((certificate.status, certificate.confidence is not None))
    assert found == {("probable", True), ("heuristic", False)}
