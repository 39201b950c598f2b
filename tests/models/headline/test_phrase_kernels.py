"""Phrases and their features against readable definitions."""

import math
from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders.models.headline.corpus_counts import CorpusCounts
from spacy_decoders.models.headline.laid_out import LaidOut, ReadText
from spacy_decoders.models.headline.phrase_features import (
    OF_TEXTS,
    OF_WORDS,
    PHRASE_FEATURES,
    TAGS,
    features_of,
    phrase_features,
)
from spacy_decoders.models.headline.phrases import Phrases, Traits
from spacy_decoders.models.headline.title_counts import TitleCounts
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
    own = found.occurrences
    for column, keys in ((own.phrase, words.keys), (own.stemmed, words.stems)):
        runs = [tuple(keys[low:high].tolist()) for low, high in spans]
        numbers = {run: number for number, run in enumerate(dict.fromkeys(runs))}
        assert column.tolist() == [numbers[run] for run in runs]
    phrases = own.phrase.tolist()
    assert own.first.tolist() == [phrases.index(number) for number in range(len(found))]
    assert own.counts.tolist() == [phrases.count(number) for number in range(len(found))]
    for number, place in enumerate(own.first.tolist()):
        units = words.stems[slice(*spans[place])][traits.unit[slice(*spans[place])]].tolist()
        assert own.repeats[number] == (len(set(units)) < len(units))


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


def test_texts_that_are_read_together_have_the_features_they_have_alone():
    counts = CorpusCounts.empty(), TitleCounts.empty()
    texts = [read(*random_text(seed)) for seed in range(12)]
    texts[3] = texts[3]._replace(traits=replace(texts[3].traits, parsed=False))
    texts[5] = texts[5]._replace(chosen=texts[5].chosen[:0])
    for text, table in zip(texts, phrase_features(texts, *counts), strict=True):
        (alone,) = phrase_features([text], *counts)
        assert table == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_features_are_those_of_the_definition(seed):
    words, traits = random_text(seed)
    phrases, n = Phrases.of(words, traits), len(words.keys)
    rng = np.random.default_rng(seed)
    scores = {name: rng.normal(size=n) for name in OF_WORDS}
    laid = LaidOut.of([read(words, traits)])
    table = features_of(laid, scores, TitleCounts.empty())
    spans = spans_of(words, traits)
    stems = [tuple(words.stems[low:high].tolist()) for low, high in spans]
    forms = [tuple(words.keys[low:high].tolist()) for low, high in spans]
    breaks = ~(traits.word | traits.glue)
    sentence = words.sentences

    def beside(at: int, inner: int) -> int | None:
        outside = at < 0 or at >= n or breaks[at] or sentence[at] != sentence[inner]
        return None if outside else at

    for number, place in enumerate(phrases.first.tolist()):
        (low, high), same = (
            spans[place],
            [s for s, k in zip(spans, stems, strict=True) if k == stems[place]],
        )
        alike = [s for s, k in zip(spans, forms, strict=True) if k == forms[place]]
        units = [i for i in range(low, high) if traits.unit[i]]
        before = [beside(start - 1, start) for start, _ in same]
        after = [beside(end, end - 1) for _, end in same]
        first = min(start for start, _ in same)
        sides = {
            name: [
                stems.count(stems[spans.index(span)])
                for start, end in same
                for step in (1, 2)
                for span in [(start - step, end) if name == "left" else (start, end + step)]
                if span in spans
            ]
            for name in ("left", "right")
        }
        times = len(same)

        def share(of, where, times=times):
            return sum(i is not None and bool(of[i]) for i in where) / times

        def outward(span):
            heads = traits.heads[slice(*span)].tolist()
            own = range(*span)
            return sum(h not in own or h == i for i, h in zip(own, heads, strict=True))

        expected = {
            "occurrences": math.log(len(same)),
            "density": math.log(len(same) / n * 500),
            "after_break": before.count(None) / len(same),
            "before_break": after.count(None) / len(same),
            "after_auxiliary": share(traits.auxiliary, before),
            "before_function": share(traits.stop, after),
            "first_sentence_index": math.log1p(sentence[first]),
            "relative_position": first / n,
            "spread": (max(start for start, _ in same) - first) / n,
            "sentence_share": len({sentence[s] for s, _ in same}) / (sentence[-1] + 1),
            "form_share": math.log(len(alike) / len(same)),
            "words": traits.word[low:high].sum(),
            "units": len(units),
            "function_words": (traits.stop & traits.word)[low:high].sum(),
            "other_edges": (traits.edge & ~traits.unit)[low:high].sum(),
            "opener": traits.opener[low],
            "words_1": traits.word[low:high].sum() == 1,
            "words_3": traits.word[low:high].sum() == 3,
            "mean_rarity": np.mean([scores["rarity"][i] for i in units]),
            "least_count": min(scores["count"][i] for i in units),
            "most_chance": max(scores["chance"][i] for i in units),
            "first_after_article": scores["after_article"][low],
            "last_ends_titles": scores["ends_titles"][high - 1],
            "first_noun": np.mean([traits.tags[s] == TAGS["noun"] for s, _ in alike]),
            "last_verb": np.mean([traits.tags[e - 1] == TAGS["verb"] for _, e in alike]),
            "share_noun": np.mean([(traits.tags[s:e] == TAGS["noun"]).mean() for s, e in alike]),
            "constituent": np.mean([outward(span) == 1 for span in alike]),
        }  # fmt: skip
        row = dict(zip(PHRASE_FEATURES, table[number].tolist(), strict=True))
        for name, value in expected.items():
            assert row[name] == pytest.approx(float(value), abs=1e-12), name
        for side, counts in sides.items():  # the most frequent one that is longer there
            assert row[f"maximal_{side}"] == pytest.approx(max(counts, default=0) / times)
    for name in ("occurrences", "mean_chance"):
        own = table[:, PHRASE_FEATURES.index(name)]
        behind = table[:, PHRASE_FEATURES.index(f"{name}_behind")]
        if len(own):
            assert behind.tolist() == pytest.approx((own.max() - own).tolist())
    inside = [i for i in range(n) if traits.unit[i]]
    whole = {
        "sentence_words": math.log(n) - math.log1p(sentence[-1]),
        "text_rarity": np.mean([scores["rarity"][i] for i in inside]) if inside else 0.0,
        "text_function_words": np.mean(traits.stop[traits.word]) if traits.word.any() else 0.0,
        "text_repetition": max((math.log(stems.count(stem)) for stem in stems), default=0.0),
    }
    for row in table:
        by_name = dict(zip(PHRASE_FEATURES, row.tolist(), strict=True))
        for name, value in whole.items():
            assert by_name[name] == pytest.approx(value, abs=1e-12), name
            expected = (value - OF_TEXTS[name]) * by_name["words"]
            assert by_name[f"{name}_by_words"] == pytest.approx(expected, abs=1e-12), name
