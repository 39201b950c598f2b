"""Phrases, their features and the fit of their weights against readable definitions."""

import math

import numpy as np
import pytest

from spacy_decoders.components.headline.reading import Texts
from spacy_decoders.models.headline import features as headline_features
from spacy_decoders.models.headline.features import (
    PHRASE_FEATURES,
    TAGS,
    Phrases,
    phrase_features,
    token_features,
)
from spacy_decoders.models.headline.knowledge import HeadlineKnowledge
from spacy_decoders.models.headline.selection import fit_phrases, reward_loss
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.words import TextTokens
from tests.components.headline.titled import blank
from tests.gradients import assert_slopes
from tests.models.headline.texts import tokens_of

MOST = 3


@pytest.fixture
def short_phrases(monkeypatch):
    monkeypatch.setattr(headline_features, "MOST_WORDS", MOST)


def random_texts(seed: int) -> TextTokens:
    """One to three texts end to end."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 50))
    flag = {name: rng.random(n) < 0.5 for name in ("stop", "unit", "hyphen", "capital")}
    word = rng.random(n) < 0.8
    glue = ~word & (rng.random(n) < 0.5)
    keys = rng.integers(1, 9, size=n).astype(np.uint64)
    text = np.sort(rng.integers(0, 3, size=n))
    text -= text[0]
    text = np.cumsum(np.diff(text, prepend=text[0]) > 0)
    begins = (rng.random(n) < 0.1) | (np.diff(text, prepend=-1) > 0)
    unit = flag["unit"] & word
    return tokens_of(
        keys, stems=(keys + 1) // 2, text=text, sentences=np.cumsum(begins) - 1, plain=word,
        word=word, glue=glue, hyphen=glue & flag["hyphen"], content=unit, meaning=unit, unit=unit,
        stop=flag["stop"] & ~unit, capital=flag["capital"],
        tags=rng.choice([0, *TAGS.values()], size=n),
    )  # fmt: skip


def is_phrase(tokens: TextTokens, start: int, end: int) -> bool:
    inside = slice(start, end)
    hyphens = [False, *tokens.hyphen.tolist(), False]  # at i + 1 for token i
    units = tokens.stems[inside][tokens.unit[inside]].tolist()
    return bool(
        (tokens.word | tokens.glue)[inside].all()
        and len(set(tokens.sentences[inside].tolist())) == 1
        and tokens.word[inside].sum() <= MOST
        and tokens.meaning[inside].any()
        and all(tokens.word[i] and not tokens.stop[i] for i in (start, end - 1))
        and not (hyphens[start] or hyphens[end + 1])
        and len(set(units)) == len(units)
    )


def spans_of(tokens: TextTokens) -> list[tuple[int, int]]:
    n = len(tokens)
    spans = [(low, high) for low in range(n) for high in range(low + 1, n + 1)]
    return [span for span in spans if is_phrase(tokens, *span)]


def stems_of(tokens: TextTokens, span: tuple[int, int]) -> tuple[int, ...]:
    """The text of a span and its stems."""
    return (int(tokens.text[span[0]]), *tokens.stems[slice(*span)].tolist())


@pytest.mark.usefixtures("short_phrases")
@pytest.mark.parametrize("seed", range(60))
def test_phrases_are_those_of_the_definition(seed):
    tokens = random_texts(seed)
    found = Phrases.of(tokens)
    spans = spans_of(tokens)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == spans
    runs = [stems_of(tokens, span) for span in spans]
    numbers = {run: number for number, run in enumerate(dict.fromkeys(runs))}
    assert found.numbers.tolist() == [numbers[run] for run in runs]
    assert found.first.tolist() == [runs.index(run) for run in numbers]
    assert found.counts.tolist() == [runs.count(run) for run in numbers]
    whole = np.random.default_rng(seed).random(len(spans)) < 0.7
    first = {runs[place]: place for place in np.flatnonzero(whole)[::-1].tolist()}
    assert found.candidates(whole).tolist() == sorted(first.values())


@pytest.mark.usefixtures("short_phrases")
@pytest.mark.parametrize("seed", range(30))
def test_features_are_those_of_the_definition(seed):
    tokens = random_texts(seed)
    found, n = Phrases.of(tokens), len(tokens)
    chances = np.random.default_rng(seed).random(n)
    features = token_features(tokens, HeadlineKnowledge())
    every = np.arange(len(found.starts))
    table = phrase_features(tokens, found, every, features, chances, HeadlineKnowledge())
    spans = spans_of(tokens)
    runs = [stems_of(tokens, span) for span in spans]
    for row, (low, high), run in zip(table.tolist(), spans, runs, strict=True):
        own = np.flatnonzero(tokens.text == tokens.text[low])
        same = [span for span, other in zip(spans, runs, strict=True) if other == run]
        units = [i for i in range(low, high) if tokens.unit[i]]
        said = tokens.word[low:high].sum()

        def alike(place: int, own=own) -> np.ndarray:
            return own[tokens.stems[own] == tokens.stems[place]]

        first = min(start for start, _ in same) - own[0]
        sentences = len(set(tokens.sentences[own].tolist()))
        last = len(set(tokens.sentences[alike(high - 1)].tolist())) / sentences
        expected = {
            "words": said,
            "words_1": said == 1,
            "words_3": said == 3,
            "function_words": (tokens.stop & tokens.word)[low:high].sum(),
            "occurrences": math.log(len(same)),
            "first_place": math.log1p(first),
            "at_start": first == 0,
            "expected_overlap": 2 * (chances * tokens.word)[low:high].sum() / (said + 4),
            "mean_chance": np.mean(chances[units]),
            "mean_frequency": np.mean([math.log1p(len(alike(i))) for i in units]),
            "mean_capital": np.mean(tokens.capital[units]),
            "last_first_position": math.log1p(alike(high - 1)[0] - own[0]) / 5,
            "last_spread": last,
            "last_verb": tokens.tags[high - 1] == TAGS["verb"],
            "text_words_by_words": (math.log(len(own)) - 5) * said,
            "text_sentences_by_words": (math.log(sentences) - 2) * said,
        }
        by_name = dict(zip(PHRASE_FEATURES, row, strict=True))
        for name, value in expected.items():
            assert by_name[name] == pytest.approx(float(value), abs=1e-12), name


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
    _, gradient = reward_loss(scores, rewards)
    assert_slopes(lambda: reward_loss(scores, rewards)[0], scores, gradient, 1e-6, abs=1e-4)


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
