"""The language model: its probabilities and its discounts."""

import numpy as np
import pytest

from spacy_decoders.models.headline.bigrams import BOUNDARY, BigramModel
from tests.models.headline.texts import keys


def log(model, first, second):
    return model.log_probabilities(keys(first), keys(second))[0, 0]


def test_probabilities_after_each_word_add_up_to_one(rng):
    runs = [rng.integers(1, 30, rng.integers(1, 12)).astype(np.uint64) for _ in range(300)]
    model = BigramModel.count(runs)
    unknown = 10**6
    for first in (*range(1, 30), BOUNDARY):
        total = sum(
            np.exp(log(model, first, int(second))) for second in (*model.keys.tolist(), unknown)
        )
        assert total == pytest.approx(1.0, abs=1e-4)


def test_seen_pairs_are_discounted_and_no_pair_crosses_runs():
    model = BigramModel.count([keys(1, 2), keys(1, 2), keys(1, 3), keys(4)])
    seen = np.exp(log(model, 1, 2))
    assert 0.3 < seen < 1.0
    assert log(model, 1, 2) > log(model, 1, 3)
    assert log(model, 2, 1) == pytest.approx(
        float(model.backoffs[model.words(keys(2))[0]] + model.unigrams[model.words(keys(1))[0]]),
        abs=1e-6,
    )
    assert np.isfinite(log(model, 77, 78))
