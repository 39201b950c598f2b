"""How sure it is that a link is right, and how its weights are learnt."""

import numpy as np

from spacy_decoders.models.linker.confidence import Decided, log_odds_right
from spacy_decoders.models.linker.weights import FEATURES, Feature, conditional_gradient
from tests.gradients import assert_slopes


def decided(scores, choices, sizes, *, local=None, title=(), **others):
    """Mentions with so many candidates each, nothing behind them."""
    offsets = np.cumsum([0, *(size + 1 for size in sizes)]).astype(np.int64)
    features = np.zeros((len(scores), len(FEATURES)), np.float32)
    features[list(title), Feature.TITLE] = 1.0
    given = {
        "margins": np.full(len(sizes), 3.0),
        "exact": np.ones(len(sizes), bool),
        "repeats": np.ones(len(sizes), np.int64),
        "coverage": np.ones(len(sizes)),
        **others,
    }
    scores = np.asarray(scores, float)
    own = scores if local is None else np.asarray(local, float)
    return Decided(offsets, np.asarray(choices), scores, own, features, **given)


def odds(*args, **others):
    return log_odds_right(decided(*args, **others)).tolist()


def test_larger_leads_and_margins_and_titles_are_surer():
    near, far = odds([0, -1, -9, 0, -8, -9], [0, 0], [2, 2])
    assert near < far
    (small,) = odds([0, -2, -9], [0], [2], margins=np.array([0.1]), coverage=np.array([0.2]))
    (large,) = odds([0, -2, -9], [0], [2], margins=np.array([9.0]), coverage=np.array([0.2]))
    assert small < large
    (other,) = odds([0, -2, -9], [0], [2])
    (named,) = odds([0, -2, -9], [0], [2], title=[0])
    assert other < named


def test_what_the_graph_alone_prefers_is_less_sure():
    (agreeing,) = odds([0, -4, -9], [0], [2], local=[0, -4, -9])
    (against,) = odds([0, -4, -9], [0], [2], local=[-4, 0, -9])
    assert against < agreeing


def test_what_may_be_nothing_else_is_certain():
    assert odds([1.0, -np.inf, -np.inf], [0], [2], margins=np.array([np.inf])) == [np.inf]


def test_no_other_choice_is_more_probable_than_the_choice():
    given = decided([0.0, -0.1, -9.0, 0.0, -0.1, -9.0], [0, 0], [2, 2])
    low, high = given.probabilities(np.array([0.2, 0.9])).reshape(2, 3)
    assert low[0] >= low[1] > 0.4 and high[0] == 0.9
    assert np.allclose([low.sum(), high.sum()], 1.0)


def test_the_gradient_of_the_weights():
    rng = np.random.default_rng(0)
    scores, offsets, gold = rng.normal(size=7), np.array([0, 3, 4, 7]), np.array([1, -1, 2])
    _, gradient = conditional_gradient(scores, offsets, gold)
    assert_slopes(
        lambda: conditional_gradient(scores, offsets, gold)[0], scores, gradient, 1e-5, abs=1e-4
    )
