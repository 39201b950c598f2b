"""Phrases and their features against readable definitions."""

import math

import numpy as np
import pytest

from spacy_decoders.models.headline.knowledge import HeadlineKnowledge
from spacy_decoders.models.headline.phrase_features import (
    PHRASE_FEATURES,
    TAGS,
    ReadText,
    phrase_features,
)
from spacy_decoders.models.headline.phrases import Phrases, Traits
from spacy_decoders.models.headline.words import Vertices, Words

MOST = 3


@pytest.fixture(autouse=True)
def short_phrases(monkeypatch):
    monkeypatch.setattr("spacy_decoders.models.headline.phrases.MOST_WORDS", MOST)


def random_text(seed: int) -> tuple[Words, Traits]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    flag = {name: rng.random(n) < 0.5 for name in ("edge", "opener", "auxiliary", "stop", "unit")}
    word = rng.random(n) < 0.8
    glue = ~word & (rng.random(n) < 0.5)
    keys = rng.integers(1, 7, size=n).astype(np.uint64)
    nothing = np.zeros(n, dtype=bool)
    words = Words(
        keys, (keys + 1) // 2, flag["unit"], word, np.cumsum(rng.random(n) < 0.1), nothing,
        nothing, np.zeros(n, dtype=np.int8),
    )  # fmt: skip
    traits = Traits(
        word, glue, glue & (rng.random(n) < 0.5), flag["unit"], flag["unit"],
        flag["edge"] & word, flag["opener"], flag["auxiliary"], flag["stop"],
        rng.choice([0, *TAGS.values()], size=n), rng.integers(0, n, size=n), True,
    )  # fmt: skip
    return words, traits


def is_phrase(words: Words, traits: Traits, start: int, end: int) -> bool:
    inside = slice(start, end)
    hyphens = [False, *traits.hyphen.tolist(), False]  # at i + 1 for token i
    return bool(
        (traits.word | traits.glue)[inside].all()
        and len(set(words.sentences[inside].tolist())) == 1
        and traits.word[inside].sum() <= MOST
        and end - start < 2 * MOST
        and traits.meaning[inside].any()
        and (traits.edge[start] or traits.opener[start])
        and traits.edge[end - 1]
        and not (hyphens[start] or hyphens[end + 1])
    )


def spans_of(words: Words, traits: Traits) -> list[tuple[int, int]]:
    n = len(words.keys)
    spans = [(low, high) for low in range(n) for high in range(low + 1, n + 1)]
    return [span for span in spans if is_phrase(words, traits, *span)]


@pytest.mark.parametrize("seed", range(60))
def test_phrases_are_those_of_the_definition(seed):
    words, traits = random_text(seed)
    found = Phrases.of(words, traits)
    spans = spans_of(words, traits)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == spans
    for column, keys in ((found.phrase, words.keys), (found.stemmed, words.stems)):
        runs = [tuple(keys[low:high].tolist()) for low, high in spans]
        numbers = {run: number for number, run in enumerate(dict.fromkeys(runs))}
        assert column.tolist() == [numbers[run] for run in runs]
    phrases = found.phrase.tolist()
    assert found.first.tolist() == [phrases.index(number) for number in range(len(found))]
    assert found.counts.tolist() == [phrases.count(number) for number in range(len(found))]
    for number, place in enumerate(found.first.tolist()):
        units = words.stems[slice(*spans[place])][traits.unit[slice(*spans[place])]].tolist()
        assert found.repeats[number] == (len(set(units)) < len(units))


def read(words: Words, traits: Traits) -> ReadText:
    phrases, vertices = Phrases.of(words, traits), Vertices.of(words)
    return ReadText(
        words,
        traits,
        vertices,
        phrases,
        np.arange(len(phrases)),
        np.linspace(-1, 1, len(vertices)),
    )


@pytest.mark.parametrize("seed", range(30))
def test_features_are_those_of_the_definition(seed):
    words, traits = random_text(seed)
    text = read(words, traits)
    phrases, n, sentence = text.phrases, len(words.keys), words.sentences
    others = [read(*random_text(100 + seed)), read(*random_text(200 + seed))]
    _, table, _ = phrase_features([others[0], text, others[1]], HeadlineKnowledge())
    spans = spans_of(words, traits)
    stems = [tuple(words.stems[low:high].tolist()) for low, high in spans]
    forms = [tuple(words.keys[low:high].tolist()) for low, high in spans]
    of_token = text.vertices.of_token
    odds = np.append(text.odds, math.log(0.02 / 0.98))[of_token]  # the last where there is none
    chance = 1 / (1 + np.exp(-odds))
    count = [math.log((words.stems == stem).sum()) for stem in words.stems]
    for row, place in zip(table.tolist(), phrases.first.tolist(), strict=True):
        low, high = spans[place]
        same = [s for s, k in zip(spans, stems, strict=True) if k == stems[place]]
        units = [i for i in range(low, high) if traits.unit[i]]
        said = traits.word[low:high].sum()
        first = min(start for start, _ in same)
        outward = [
            head for at, head in enumerate(traits.heads[low:high].tolist(), low)
            if head == at or not low <= head < high
        ]  # fmt: skip
        expected = {
            "occurrences": math.log(len(same)),
            "form_share": math.log(forms.count(forms[place]) / len(same)),
            "first_position": math.log1p(first),
            "at_start": first == 0,
            "spread": (max(start for start, _ in same) - first) / n,
            "sentence_share": len({sentence[s] for s, _ in same}) / (sentence[-1] + 1),
            "words": said,
            "words_1": said == 1,
            "words_3": said == 3,
            "function_words": (traits.stop & traits.word)[low:high].sum(),
            "other_edges": (traits.edge & ~traits.unit)[low:high].sum(),
            "opener": traits.opener[low],
            "expected_overlap": 2 * (chance * traits.word)[low:high].sum() / (said + 4),
            "mean_chance": np.mean(chance[units]),
            "least_count": min(count[i] for i in units),
            "most_noun": max(traits.tags[i] == TAGS["noun"] for i in units),
            "last_verb": traits.tags[high - 1] == TAGS["verb"],
            "first_sentences": len(set(sentence[words.stems == words.stems[low]].tolist()))
            / (sentence[-1] + 1),
            "constituent": len(outward) == 1,
            "text_words_by_words": (math.log(n) - 5) * said,
        }
        by_name = dict(zip(PHRASE_FEATURES, row, strict=True))
        for name, value in expected.items():
            assert by_name[name] == pytest.approx(float(value), abs=1e-12), name
