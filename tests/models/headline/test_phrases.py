"""Phrases and their learning, as parts."""

import numpy as np
import pytest

from spacy_decoders.components.headline.reading import read_traits, read_words, word_keys
from spacy_decoders.components.headline.rouge import rouge, rouge_of_spans
from spacy_decoders.models.headline.corpus_counts import CorpusCounts
from spacy_decoders.models.headline.laid_out import ReadText
from spacy_decoders.models.headline.phrase_features import (
    COMPARED,
    PHRASE_FEATURES,
    phrase_features,
)
from spacy_decoders.models.headline.phrase_scorer import (
    build_phrase_selection,
    phrase_scorer_of,
)
from spacy_decoders.models.headline.phrases import Phrases
from spacy_decoders.models.headline.risk import expected_reward, fit_phrases
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.title_counts import TitleCounts
from spacy_decoders.models.headline.words import Vertices
from tests.components.headline.titled import blank


def phrases_of(text: str) -> set[str]:
    doc = blank().make_doc(text)
    words = read_words(doc, Stemmer("en"))
    nothing = np.empty(0, dtype=np.uint64)
    found = Phrases.of(words, read_traits(doc, words, nothing, nothing))
    first = found.first
    spans = zip(found.starts[first].tolist(), found.ends[first].tolist(), strict=True)
    return {doc[low:high].text for low, high in spans}


def test_phrases_keep_inner_function_words_numbers_and_hyphens():
    found = phrases_of("The depth-first search of 2-4 trees, in C++ halves Python's lists.")
    assert {"depth-first search of 2-4 trees", "2-4 trees", "C++", "Python's lists"} <= found
    assert not {"search of", "first search", "The depth", "2", "in C++"} & found


def test_phrases_end_with_the_sentence():
    found = phrases_of("Heaps sort. Trees grow")
    assert found == {"Heaps", "Heaps sort", "sort", "Trees", "Trees grow", "grow"}


def test_broken_formulas_are_no_words():
    found = phrases_of("Compute A(mu and x^2 of heaps")
    assert not any("mu" in phrase or "x^2" in phrase for phrase in found)
    assert {"Compute", "heaps"} <= found


def test_features_compare_with_the_best_phrase_of_the_text():
    doc = blank().make_doc("Heaps sort. Heaps are trees, and trees grow. Heaps win.")
    words, nothing = read_words(doc, Stemmer("en")), np.empty(0, dtype=np.uint64)
    traits = read_traits(doc, words, nothing, nothing)
    phrases, titles = Phrases.of(words, traits), TitleCounts.empty()
    vertices = Vertices.of(words)
    odds = np.zeros(len(vertices))
    every = np.arange(len(phrases))
    text = ReadText(words, traits, vertices, phrases, every, odds)
    (table,) = phrase_features([text], CorpusCounts.empty(), titles)
    for name in COMPARED:
        own, behind = (table[:, PHRASE_FEATURES.index(each)] for each in (name, f"{name}_behind"))
        assert (own + behind).tolist() == pytest.approx([own.max()] * len(phrases))


def test_rouge_of_spans_is_that_of_their_texts():
    text, title = "the binary search of a sorted array", "Sorted array and binary search"
    keys = word_keys(text.split())
    spans = [(low, high) for low in range(7) for high in range(low + 1, 8)]
    starts, ends = (np.array(of) for of in zip(*spans, strict=True))
    given = rouge_of_spans(word_keys(title.split()), keys, np.ones(7, dtype=bool), starts, ends)
    for row, (low, high) in zip(given, spans, strict=True):
        assert row.tolist() == pytest.approx(rouge(title, " ".join(text.split()[low:high])))


def test_the_gradient_of_the_risk():
    rng = np.random.default_rng(0)
    scores, rewards = rng.normal(size=6).astype("f"), rng.random(6).astype("f")
    value, gradient = expected_reward(scores, rewards)
    chances = np.exp(scores) / np.exp(scores).sum()
    assert value == pytest.approx(float(chances @ rewards), rel=1e-5)
    assert float(gradient.sum()) == pytest.approx(0.0, abs=1e-5)
    better, _ = expected_reward(scores - 0.01 * gradient, rewards)
    assert better > value


def test_fitting_finds_what_is_rewarded():
    rng = np.random.default_rng(0)
    size = len(PHRASE_FEATURES)
    tables = [rng.normal(size=(12, size)).astype("f") for _ in range(160)]
    rewards = [(table[:, 3] > 0.8).astype("f") for table in tables]
    scorer = phrase_scorer_of(build_phrase_selection())
    fit_phrases(scorer, tables[:150], rewards[:150], epochs=60)
    scores = scorer.predict(tables[150:])
    found = [float(r[int(s.argmax())]) for s, r in zip(scores, rewards[150:], strict=True)]
    usual = float(np.mean(np.concatenate(rewards)))
    assert usual < 0.3
    assert np.mean(found) >= 0.8
