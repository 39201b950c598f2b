"""The weights of links."""

import numpy as np
import pytest

from spacy_decoders.models.linker.weights import conditional_gradient


def test_the_gradient_of_the_weights():
    rng = np.random.default_rng(0)
    scores, offsets, gold = rng.normal(size=7), np.array([0, 3, 4, 7]), np.array([1, -1, 2])
    loss, gradient = conditional_gradient(scores, offsets, gold)
    for i in range(7):
        moved = scores.copy()
        moved[i] += 1e-5
        slope = (conditional_gradient(moved, offsets, gold)[0] - loss) / 1e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-4)
