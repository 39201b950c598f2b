"""Leaving out vertices that no good path can visit."""

import pytest

from spacy_decoders.decoders.path import reduce
from tests.decoders.path.problems import small_problems, truth


def test_safe_reduction_keeps_every_path_as_good_as_the_known_one():
    for problem, length in small_problems(200, seed=4):
        expected = truth(problem, length)
        if not expected:
            continue
        known = expected[min(2, len(expected) - 1)][0]
        smaller, kept = reduce(problem, length, known)
        best = [(score, path) for score, path in expected if score >= known]
        assert {v for _, path in best for v in path} <= set(kept.tolist())
        assert truth(smaller, length)[0][0] == pytest.approx(expected[0][0], abs=1e-9)
