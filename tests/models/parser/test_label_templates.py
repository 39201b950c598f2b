"""Label scores by templates: gradients, what they see, and all arcs at once."""

import numpy as np

from spacy_decoders.models.parser.kernels.labels import lay_out
from spacy_decoders.models.parser.label_templates import (
    LIKELY,
    TAG_AFTER,
    TAG_BEFORE,
    TAG_BEFORE_2,
    WORD_AFTER,
    WORD_BEFORE,
    LabelTemplates,
    context_codes,
)
from spacy_decoders.models.parser.labels import BiaffineLabels, label_arcs
from tests.gradients import assert_slopes

FORMS = np.arange(2, 16, dtype=np.uint64).reshape(7, 2)
TAGS = np.array([0, 1, 2, 0, 1, 2, 3])
OFFSETS = [0, 3, 7]


def layer(rng, rows=50, labels=6):
    model = LabelTemplates(rows, labels)
    model.initialize()
    model.set_param("T", rng.normal(size=(rows, labels)).astype("f"))
    return model


def test_neighbours_end_with_the_sentence():
    codes = context_codes(FORMS, TAGS, OFFSETS)
    np.testing.assert_array_equal(codes[:, TAG_BEFORE], [0, 1, 2, 0, 1, 2, 3])
    np.testing.assert_array_equal(codes[:, TAG_AFTER], [2, 3, 0, 2, 3, 4, 0])
    np.testing.assert_array_equal(codes[:, TAG_BEFORE_2], [0, 0, 1, 0, 0, 1, 2])
    np.testing.assert_array_equal(codes[:, WORD_BEFORE], [0, 2, 4, 0, 8, 10, 12])
    np.testing.assert_array_equal(codes[:, WORD_AFTER], [4, 6, 0, 10, 12, 14, 0])
    assert context_codes(FORMS[:0], TAGS[:0], [0]).shape == (0, codes.shape[1])
    assert not context_codes(FORMS[:1], TAGS[:1], [0, 1])[0, TAG_BEFORE:].any()


def test_gradients_are_those_of_a_linear_model(rng):
    model = layer(rng)
    codes = context_codes(FORMS, TAGS, OFFSETS)
    arcs = np.array([[0, 1], [2, 1], [5, 4]])
    scores, backprop = model.begin_update((codes, arcs))
    direction = rng.normal(size=scores.shape).astype("f")
    backprop(direction)
    gradient = model.get_grad("T")
    assert_slopes(
        lambda: float((model.predict((codes, arcs)) * direction).sum()),
        model.get_param("T"),
        gradient,
        1.0,
        map(tuple, np.argwhere(gradient)),
        rel=1e-3,
        abs=1e-3,
    )


def test_likely_arcs_alone_have_templates(rng):
    vectors = rng.normal(size=(7, 3)).astype("f")
    dense = BiaffineLabels(5, nI=3, nO=6)
    dense.initialize()
    model = layer(rng)
    codes = context_codes(FORMS, TAGS, OFFSETS)
    sizes = np.diff(OFFSETS)
    scores = [rng.normal(scale=2 * LIKELY, size=(n, n + 1)).astype("f") for n in sizes]
    for of_arcs in scores:
        np.fill_diagonal(of_arcs[:, 1:], -np.inf)
    found = label_arcs(dense, vectors, OFFSETS, scores, (model, codes))
    for start, end, of_arcs, (marked, some) in zip(
        OFFSETS, OFFSETS[1:], scores, found, strict=False
    ):
        n = end - start
        arcs = np.array([[h, m] for m in range(start, end) for h in range(start, end)])
        more = model.predict((codes, arcs)).reshape(n, n, 6)
        likely = of_arcs[:, 1:] >= of_arcs.max(axis=1, keepdims=True) - LIKELY
        assert likely.any()
        assert not likely.all()
        plain = dense.predict((vectors, arcs)).reshape(n, n, 6)
        wanted = plain + np.where(likely[:, :, None], more, 0)
        wanted -= np.log(np.exp(wanted).sum(axis=2, keepdims=True))
        logged, labels = np.full((n, n, 6), -np.inf), np.empty((n, n, 6), "i")
        some.fill(logged, labels, np.arange(6))
        assert (labels == np.arange(6)).all()
        np.testing.assert_array_equal(marked.labels[1:, 1:], logged.argmax(axis=2))
        np.testing.assert_allclose(marked.logs[1:, 1:], logged.max(axis=2), atol=1e-4)
        np.testing.assert_allclose(logged.transpose(1, 0, 2), wanted, atol=1e-4)


def test_beside_a_score_that_is_no_number_nothing_is_likely(rng):
    for _ in range(50):
        arcs = rng.normal(scale=2 * LIKELY, size=(4, 5)).astype("f")
        arcs[rng.random((4, 5)) < 0.2] = rng.choice([np.nan, np.inf, -np.inf])
        likely, squares = np.empty(16, bool), np.empty((2, 25), "f")
        offsets = np.array([0, 4])
        counts = lay_out(arcs.ravel(), offsets, np.float32(LIKELY), *squares, likely)
        with np.errstate(invalid="ignore"):
            expected = arcs[:, 1:] >= arcs.max(axis=1, keepdims=True) - LIKELY
        np.testing.assert_array_equal(likely.reshape(4, 4), expected)
        np.testing.assert_array_equal(counts, expected.sum(axis=1))
