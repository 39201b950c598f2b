"""Scoring phrases by token vectors."""

import numpy as np
import pytest
import spacy
from thinc.api import Model

from spacy_decoders.errors import ProblemError
from spacy_decoders.models.headline.phrase_context import WEIGHTS, TextPhrases
from spacy_decoders.models.headline.phrase_features import PHRASE_FEATURES
from spacy_decoders.models.headline.phrase_scorer import build_phrase_selection, context_scorer_of
from spacy_decoders.models.headline.risk import fit_context

WIDTH = 5
DOC = spacy.blank("en")("a b c d e f g")


def given(vectors: dict) -> Model:
    """Token vectors that are kept in `vectors`, where gradients go too."""

    def forward(model, docs, is_train):
        def backprop(gradients):
            vectors["gradients"] = gradients
            return docs

        return [vectors[doc.text] for doc in docs], backprop

    return Model("given", forward, dims={"nO": WIDTH})


def scorer_of(vectors: dict, rng) -> Model:
    scorer = context_scorer_of(build_phrase_selection(4, tok2vec=given(vectors)))
    scorer.initialize()
    scorer.set_param("output", rng.normal(size=96).astype("f"))
    return scorer


def phrases_of(unit, rng) -> TextPhrases:
    table = rng.normal(size=(3, len(PHRASE_FEATURES))).astype("f")
    places = np.array([0, 2, 1, 3]), np.array([2, 3, 4, 5])
    return TextPhrases(unit, table, *places, np.array([0, 1, 3]))


def test_the_score_is_that_of_the_phrases_one_by_one():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, WIDTH)).astype("f")
    scorer = scorer_of({DOC.text: rows}, rng)
    text = phrases_of(DOC, rng)
    weights = {name: scorer.get_param(name) for name in (*WEIGHTS, "bias", "output")}
    places = {0: [(0, 2)], 1: [(2, 3), (1, 4)], 2: [(3, 5)]}
    whole, wanted = rows.mean(axis=0), []
    for phrase, occurrences in places.items():
        mean = np.mean([rows[a:b].mean(axis=0) for a, b in occurrences], axis=0)
        units = (
            text.table[phrase].clip(-5, 5) @ weights["features"]
            + np.mean([rows[a] for a, _ in occurrences], axis=0) @ weights["first"]
            + np.mean([rows[b - 1] for _, b in occurrences], axis=0) @ weights["last"]
            + mean @ weights["mean"]
            + (mean * whole) @ weights["product"]
            + whole @ weights["text"]
            + weights["bias"]
        )
        wanted.append(units.clip(0, None) @ weights["output"])
    (features,) = scorer.get_ref("features").predict([text.table])
    (scores,) = scorer.predict([text])
    np.testing.assert_allclose(scores, features + np.array(wanted), rtol=1e-4, atol=1e-4)
    (some,) = scorer.predict([text.take(np.array([2, 1]))])
    np.testing.assert_allclose(some, scores[[2, 1]], rtol=1e-5, atol=1e-5)
    (none,) = scorer.predict([text.take(np.empty(0, dtype=np.int64))])
    assert len(none) == 0


def test_gradients_are_those_of_differences():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(7, WIDTH)).astype("f")
    vectors = {DOC.text: rows}
    scorer, text = scorer_of(vectors, rng), phrases_of(DOC, rng)
    outer = rng.normal(size=3).astype("f")
    _, backprop = scorer.begin_update([text])
    backprop([outer])

    def slope(change) -> float:
        ends = []
        for sign in (1, -1):
            change(sign * 1e-3)
            ends.append(float(scorer.predict([text])[0] @ outer))
        change(0.0)
        return (ends[0] - ends[1]) / 2e-3

    for name in (*WEIGHTS, "bias", "output"):
        value = scorer.get_param(name).copy()
        way = rng.normal(size=value.shape).astype("f") * (0.02 if name == "features" else 0.1)
        got = slope(lambda step, v=value, w=way, n=name: scorer.set_param(n, v + step * w))
        assert got == pytest.approx(float((scorer.get_grad(name) * way).sum()), abs=5e-3), name
    way = rng.normal(size=rows.shape).astype("f")
    got = slope(lambda step: vectors.update({DOC.text: rows + step * way}))
    assert got == pytest.approx(float((vectors["gradients"][0] * way).sum()), abs=5e-3)


def test_a_span_has_the_vectors_of_its_tokens():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(7, WIDTH)).astype("f")
    span = DOC[1:7].as_doc()
    vectors = {DOC.text: rows, span.text: rows[1:]}
    scorer = scorer_of(vectors, rng)
    text = phrases_of(DOC[1:7], rng)
    in_doc, alone = scorer.predict([text, text._replace(unit=span)])
    np.testing.assert_allclose(in_doc, alone, rtol=1e-5, atol=1e-5)


def test_fitting_finds_what_only_vectors_tell():
    rng = np.random.default_rng(3)
    docs = [spacy.blank("en")(f"text {i} has these words here") for i in range(120)]
    vectors = {doc.text: rng.normal(size=(len(doc), WIDTH)).astype("f") for doc in docs}
    scorer = context_scorer_of(build_phrase_selection(4, tok2vec=given(vectors)))
    scorer.initialize()
    table = np.zeros((3, len(PHRASE_FEATURES)), dtype="f")
    places = np.array([0, 2, 4]), np.array([1, 3, 5])
    texts = [TextPhrases(doc, table, *places, np.arange(3)) for doc in docs]
    rewards = [
        (vectors[doc.text][[0, 2, 4], 1] == vectors[doc.text][[0, 2, 4], 1].max()).astype("f")
        for doc in docs
    ]
    fit_context(scorer, texts[:100], rewards[:100], epochs=60)
    scores = scorer.predict(texts[100:])
    found = [r[int(s.argmax())] for s, r in zip(scores, rewards[100:], strict=True)]
    assert np.mean(found) >= 0.8


def test_the_step_is_a_share():
    with pytest.raises(ProblemError, match="rate"):
        build_phrase_selection(tok2vec=given({}), rate=-1.0)


def test_the_scale_of_vectors_does_not_count():
    rows = np.random.default_rng(4).normal(size=(7, WIDTH)).astype("f")
    found = []
    for vectors in (rows, 100.0 * rows + 3.0):
        rng = np.random.default_rng(5)
        scorer, text = scorer_of({DOC.text: vectors}, rng), phrases_of(DOC, rng)
        output = scorer.get_param("output")
        scorer.initialize(X=[text])
        scorer.set_param("output", output)
        found.append(scorer.predict([text])[0])
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-3)
