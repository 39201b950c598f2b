"""The dynamic program over sets of classes, against brute force and interrupted."""

import numpy as np
import pytest

from spacy_decoders.decoders.path import class_sets
from spacy_decoders.decoders.path.class_sets import best_by_class_sets
from tests.decoders.path.problems import small_problems, symmetric, truth


def no_bounds(problem, length):
    """What bounds nothing: any vertices may still add all there is."""
    return np.full((length, problem.size), np.inf)


def test_equals_brute_force():
    for problem, length in small_problems(200, seed=5):
        expected = truth(problem, length)
        given = (problem, no_bounds(problem, length))
        ended, path = best_by_class_sets(*given, -np.inf, lambda _: False)
        assert ended
        if not expected:
            assert path is None
            continue
        assert len(set(problem.classes[path].tolist())) == length
        assert problem.score(path) == pytest.approx(expected[0][0], abs=1e-9)
        # nothing exceeds the best
        threshold = problem.score(path) + 1e-9
        assert best_by_class_sets(*given, threshold, lambda _: False) == (True, None)


def test_an_interruption_tells_how_much_was_done(monkeypatch):
    monkeypatch.setattr(class_sets, "STEPS", 0)
    problem, steps = symmetric(np.random.default_rng(0), 5), []
    given = (problem, no_bounds(problem, 3), -np.inf)
    ended, path = best_by_class_sets(*given, lambda done: bool(steps.append(done)))
    assert ended
    assert steps == [25] * 30
    assert len(set(path.tolist())) == 3
    assert best_by_class_sets(*given, lambda _: True) == (False, None)
