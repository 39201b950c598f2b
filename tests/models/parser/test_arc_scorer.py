"""The parser's layers: gradients against finite differences, and what they promise."""

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed

from spacy_decoders.models.bilstm import BiLSTM
from spacy_decoders.models.inference.products import with_own_products
from spacy_decoders.models.parser.biaffine import BiaffineArcs
from spacy_decoders.models.parser.boundaries import BoundaryLimits, known_odds
from spacy_decoders.models.parser.labels import BiaffineLabels, label_arcs
from spacy_decoders.models.parser.losses import UNKNOWN, cross_entropy
from spacy_decoders.models.parser.relatives import Relatives, Tagged
from tests.gradients import assert_slopes


def shaken(model: Model, rng: np.random.Generator) -> Model:
    """The model with all weights moved off their (partly zero) beginnings."""
    # the beginnings come from numpy's global state: a difference across a kink of the
    # activation is no slope, so the weights must be the same in every run
    fix_random_seed(0)
    model.initialize()
    for node in model.walk():
        for name in node.param_names:
            weights = node.get_param(name)
            node.set_param(name, (weights + 0.3 * rng.normal(size=weights.shape)).astype("f"))
    return model


def check_gradients(model, inputs, vectors, rng, step=2e-3):
    """Compare every gradient with central differences of a random linear loss.

    `inputs` is what the model takes, made of the arrays `vectors`, which are moved in place.
    """
    outputs, backprop = model.begin_update(inputs)
    several = isinstance(outputs, list)
    directions = [
        rng.normal(size=np.shape(y)).astype("f") for y in (outputs if several else [outputs])
    ]

    def loss():
        found = model.predict(inputs)
        return sum(
            float(np.where(np.isfinite(y), y, 0).astype("d").ravel() @ d.ravel())
            for y, d in zip(found if several else [found], directions, strict=True)
        )

    copies = [d.copy() for d in directions]
    d_inputs = backprop(copies if several else copies[0])
    if isinstance(d_inputs, tuple):
        d_inputs = d_inputs[0]
    gradients = d_inputs if isinstance(d_inputs, list) else [d_inputs]
    pairs = list(zip(vectors, gradients, strict=True))
    for node in model.walk():
        pairs += [(node.get_param(name), node.get_grad(name)) for name in node.param_names]
    for array, gradient in pairs:
        places = [tuple(int(rng.integers(size)) for size in array.shape) for _ in range(12)]
        assert_slopes(loss, array, gradient, step, places, rel=2e-2, abs=2e-2)


def test_bilstm_gradients(rng):
    vectors = [rng.normal(size=(n, 3)).astype("f") for n in (4, 1, 6, 4)]
    check_gradients(shaken(BiLSTM(3, 5), rng), vectors, vectors, rng)


@pytest.mark.parametrize(
    ("build", "beside"),
    [
        (lambda: BiaffineArcs(5, nI=3), lambda rng: [[0, 1, 3, 8]]),
        (lambda: BiaffineLabels(5, nI=3, nO=4), lambda rng: [np.array([[0, 1], [3, 2], [0, 5]])]),
        (lambda: Tagged(4, nI=3, nT=5), lambda rng: [rng.normal(size=(8, 5)).astype("f")]),
        (
            lambda: Relatives(2, nI=3),
            lambda rng: [make_arcs(rng, (1, 4, 3)), np.array([0, 1, 5, 8])],
        ),
    ],
    ids=["arcs", "labels", "tagged", "relatives"],
)
def test_gradients(rng, build, beside):
    vectors = rng.normal(size=(8, 3)).astype("f")
    model, others = shaken(build(), rng), beside(rng)
    check_gradients(model, (vectors, *others) if others else vectors, [vectors], rng)


def test_arcs_are_scored_within_sentences(rng):
    vectors = rng.normal(size=(6, 3)).astype("f")
    model = shaken(BiaffineArcs(5, nI=3), rng)
    first, second = model.predict((vectors, [0, 2, 6]))
    assert first.shape == (2, 3)
    np.testing.assert_allclose(second, model.predict((vectors[2:], [0, 4]))[0], atol=1e-5)
    assert (np.diagonal(second[:, 1:]) == -np.inf).all()
    assert np.isfinite(second).sum() == second.size - 4


def best_labels(model, vectors, offsets):
    """The best label of each arc and its log-probability, by modifier and head."""
    arcs = [np.zeros((n, n + 1), "f") for n in np.diff(offsets)]
    found = label_arcs(model, vectors, offsets, arcs)
    return [(best.labels[1:, 1:].T, best.logs[1:, 1:].T) for best, _ in found]


def test_best_labels_are_those_of_the_single_arcs(rng):
    vectors = rng.normal(size=(7, 3)).astype("f")
    model = shaken(BiaffineLabels(5, nI=3, nO=6), rng)
    for (best, logs), start, end in zip(
        best_labels(model, vectors, [0, 3, 7]), [0, 3], [3, 7], strict=True
    ):
        n = end - start
        arcs = np.array([[h, m] for m in range(start, end) for h in range(start, end)])
        scores = model.predict((vectors, arcs)).reshape(n, n, 6)
        np.testing.assert_array_equal(best, scores.argmax(axis=2))
        logged = scores.max(axis=2) - np.log(np.exp(scores).sum(axis=2))
        np.testing.assert_allclose(logs, logged, atol=1e-5)


def make_arcs(rng, sizes):
    arcs = [rng.normal(size=(n, n + 1)).astype("f") for n in sizes]
    for scores in arcs:
        np.fill_diagonal(scores[:, 1:], -np.inf)
    return arcs


def test_relatives_hear_sure_heads_and_dependents(rng):
    """Where arcs are certain, the sums are over a tree: 0 <- 1 -> 2."""
    arcs = np.full((3, 4), -50.0, dtype="f")
    arcs[[0, 1, 2], [2, 0, 2]] = 50.0
    vectors = rng.normal(size=(3, 3)).astype("f")
    model = shaken(Relatives(2, nI=3), rng)
    output = model.predict((vectors, [arcs], np.array([0, 3])))
    left, right, up = np.split(model.layers[0].predict(vectors), 3, axis=1)
    nothing = np.zeros((1, 2))
    np.testing.assert_array_equal(output[:, :3], vectors)
    expected = [
        [nothing, left[:1], nothing], [nothing, right[2:], nothing], [up[1:2], nothing, up[1:2]]
    ]  # fmt: skip
    heard = np.hstack([np.vstack(rows) for rows in expected])
    np.testing.assert_allclose(output[:, 3:], heard, atol=1e-6)


def test_doubtful_boundaries_are_left_to_the_trees():
    odds = known_odds(np.array([1, 2, -9, 9, -1, 3], "f"), np.zeros(6, int), np.zeros(6, bool))
    limits = BoundaryLimits(certain=4.0, weight=2.0)
    assert limits.cut(odds).tolist() == [0, 3, 6]
    np.testing.assert_array_equal(limits.within(odds[:3]), [0, 4, -np.inf])
    np.testing.assert_array_equal(limits.within(odds[3:]), [0, -2, 6])
    assert limits.within(odds[2:3]) is None
    assert limits.within(np.array([np.inf, -9.0], "f")) is None
    alone = BoundaryLimits(certain=0.0)
    assert alone.cut(odds).tolist() == [0, 1, 3, 5, 6]
    assert all(alone.within(odds[a:b]) is None for a, b in [(0, 1), (1, 3), (3, 5), (5, 6)])


def test_blocks_without_a_sure_boundary_are_cut_at_the_likeliest():
    odds = np.full(1000, -3.0, "f")
    odds[::50] = 1.0
    odds[0] = np.inf
    ends = BoundaryLimits(longest=150).cut(odds)
    assert np.diff(ends).max() <= 150
    assert (ends[:-1] % 50 == 0).all()
    preset = np.full(1000, -np.inf, "f")
    preset[0] = np.inf
    assert BoundaryLimits(longest=150).cut(preset).tolist() == [0, 1000]


def test_cross_entropy(rng):
    scores = rng.normal(size=(5, 4)).astype("f")
    scores[0, 1] = -np.inf
    gold = np.array([0, 3, UNKNOWN, 1, 2])
    loss, gradient = cross_entropy(scores, gold)
    with np.errstate(divide="ignore"):
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    known = [0, 1, 3, 4]
    assert loss == pytest.approx(-logs[known, gold[known]].sum(), abs=1e-5)
    assert (gradient[2] == 0).all()
    expected = np.exp(logs[1]) - np.eye(4)[3]
    np.testing.assert_allclose(gradient[1], expected, atol=1e-6)


def test_arcs_of_a_sentence_do_not_depend_on_others(rng):
    layer = with_own_products(shaken(BiaffineArcs(32, nI=20), rng))
    offsets = np.arange(0, 401, 8)
    vectors = rng.normal(size=(400, 20)).astype("f")
    for begin, found in zip(offsets, layer.predict((vectors, offsets)), strict=False):
        (alone,) = layer.predict((vectors[begin : begin + 8], [0, 8]))
        largest = np.abs(alone[alone > -np.inf]).max()
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-6 * largest)
