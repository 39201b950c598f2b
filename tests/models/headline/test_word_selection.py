"""The logistic model of words, and how it is fitted."""

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.models.headline.word_selection import build_word_selection, fit_logistic


def test_logistic_regression_is_at_the_optimum(rng):
    features = rng.normal(size=(300, 4))
    labels = rng.random(300) < 1 / (1 + np.exp(-(features @ [1.0, -2.0, 0.0, 0.5])))
    weights = fit_logistic(features, labels, ridge=2.0)
    chance = 1 / (1 + np.exp(-(features @ weights)))
    gradient = features.T @ (labels - chance) - 2.0 * weights
    assert np.abs(gradient).max() < 1e-6
    with pytest.raises(ProblemError, match="labels"):
        fit_logistic(features, np.zeros(300, dtype=bool))


def test_the_thinc_model_has_the_logistic_gradient(rng):
    model = build_word_selection(["bias", "frequency", "spread"])
    tables = [rng.normal(size=(5, 3)).astype("f"), rng.normal(size=(2, 3)).astype("f")]
    odds, backprop = model.begin_update(tables)
    assert [len(of_text) for of_text in odds] == [5, 2]
    backprop([np.ones(5, dtype="f"), np.zeros(2, dtype="f")])
    assert model.get_grad("weights") == pytest.approx(tables[0].sum(axis=0), abs=1e-5)
    with pytest.raises(ProblemError, match="features"):
        build_word_selection(["nonsense"])
