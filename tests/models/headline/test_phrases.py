"""Phrases and their learning, as parts."""

import numpy as np
import pytest

from spacy_decoders.components.headline.reading import Texts
from spacy_decoders.models.headline.features import PHRASE_FEATURES
from spacy_decoders.models.headline.phrases import Phrases
from spacy_decoders.models.headline.selection import expected_reward, fit_phrases
from spacy_decoders.models.headline.stems import Stemmer
from tests.components.headline.titled import blank


def phrases_of(text: str) -> set[str]:
    doc = blank().make_doc(text)
    found = Phrases.of(Texts.of([doc]).tokens(Stemmer("en")))
    spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    return {doc[low:high].text for low, high in spans}


def test_phrases_keep_inner_function_words_numbers_and_hyphens():
    found = phrases_of("The depth-first search of 2-4 trees, in C++ halves Python's lists.")
    assert {"depth-first search of 2-4 trees", "2-4 trees", "C++", "Python's lists"} <= found
    assert not {"search of", "first search", "The depth", "2", "in C++"} & found


def test_the_gradient_of_the_risk():
    rng = np.random.default_rng(0)
    scores, rewards = rng.normal(size=6), rng.random(6)
    value, loss, gradient = expected_reward(scores, rewards)
    chances = np.exp(scores) / np.exp(scores).sum()
    assert value == pytest.approx(float(chances @ rewards))
    for place in range(6):
        step = 1e-6 * np.eye(6)[place]
        slope = (expected_reward(scores + step, rewards)[1] - loss) / 1e-6
        assert slope == pytest.approx(gradient[place], abs=1e-4)


def test_fitting_finds_what_is_rewarded():
    rng = np.random.default_rng(0)
    size = len(PHRASE_FEATURES)
    tables = [rng.normal(size=(12, size)) for _ in range(160)]
    rewards = [(table[:, 3] > 0.8).astype(float) for table in tables]
    known = [place for place in range(150) if rewards[place].any()]
    weights = fit_phrases([tables[i] for i in known], [rewards[i] for i in known])
    found = [float(r[int((t @ weights).argmax())]) for t, r in zip(tables, rewards, strict=True)]
    assert np.mean(np.concatenate(rewards)) < 0.3
    assert np.mean(found[150:]) >= 0.8
