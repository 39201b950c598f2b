"""Words of texts in numbers: how they are joined, counted, weighed and chosen."""

from functools import partial

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.models.headline.bigrams import BOUNDARY, BigramModel, word_graph
from spacy_decoders.models.headline.knowledge import HeadlineKnowledge, TitledText
from spacy_decoders.models.headline.selection import build_phrase_selection
from spacy_decoders.models.headline.words import TextTokens, Vertices
from tests.models.headline.texts import tokens_of


def keys(*numbers) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def text(*tokens: int, cuts=(), stems=None, sentences=None) -> TextTokens:
    """Tokens below 100 are content words; the places in `cuts` are punctuation."""
    of = keys(*tokens)
    plain = np.ones(len(of), dtype=bool)
    plain[list(cuts)] = False
    return tokens_of(
        of,
        stems=of if stems is None else keys(*stems),
        content=(of < 100) & plain,
        plain=plain,
        sentences=np.zeros(len(of), "l") if sentences is None else np.array(sentences),
    )


def random_text(rng, size: int = 60) -> TextTokens:
    tokens = np.where(rng.random(size) < 0.3, rng.integers(100, 104, size), 0)
    tokens = np.where(tokens == 0, rng.integers(1, 15, size), tokens)
    cuts = np.flatnonzero(rng.random(size) < 0.1)
    sentences = np.cumsum(rng.random(size) < 0.1)
    stems = np.where(tokens < 100, tokens // 2 + 1, tokens)
    return text(*tokens, cuts=cuts, stems=stems, sentences=sentences - sentences[0])


def test_runs_end_at_punctuation_and_sentences():
    words = text(1, 2, 9, 3, 4, cuts=[2], sentences=[0, 0, 0, 0, 1])
    assert [run.tolist() for run in words.runs()] == [[1, 2], [3], [4]]
    assert text().runs() == []


def test_vertices_are_the_different_content_words_in_order():
    vertices = Vertices.of(text(5, 100, 3, 5, 4, stems=[7, 100, 8, 7, 7]))
    assert vertices.keys.tolist() == [5, 3, 4]
    assert vertices.first.tolist() == [0, 2, 4]
    assert vertices.classes[0] == vertices.classes[2] != vertices.classes[1]
    assert vertices.of_token.tolist() == [0, -1, 1, 0, 2]
    part = vertices.restrict(np.array([0, 2]))
    assert part.keys.tolist() == [5, 4]
    assert part.of_token.tolist() == [0, -1, -1, 0, 1]


def test_joined_pairs_by_definition(rng):
    auxiliaries = keys(101, 100)
    for _ in range(50):
        words = random_text(rng)
        vertices = Vertices.of(words)
        expected = set()
        of = vertices.of_token
        for i in range(len(of)):
            for step in (1, 2):
                j = i + step
                if j >= len(of) or of[i] < 0 or of[j] < 0:
                    continue
                inside = range(i, j + 1)
                if not all(words.plain[t] for t in inside):
                    continue
                if words.sentences[i] != words.sentences[j]:
                    continue
                if step == 1:
                    expected.add((of[i], -1, of[j]))
                elif words.keys[i + 1] in auxiliaries:
                    place = auxiliaries.tolist().index(words.keys[i + 1])
                    expected.add((of[i], place, of[j]))
        found = {tuple(row) for row in vertices.joined(words, auxiliaries).tolist()}
        assert found == expected


def log_probability(model, first, second):
    return model.log_probabilities(keys(first), keys(second))[0, 0]


def test_edges_by_definition(rng):
    auxiliaries = keys(100, 101, 102)
    for _ in range(20):
        words = random_text(rng)
        vertices = Vertices.of(words)
        model = BigramModel.count(words.runs()[:4])
        selection = rng.normal(size=len(vertices))
        problem, via = word_graph(
            words, vertices, selection, model, auxiliaries, ordering=0.3, contiguity=0.7
        )
        joined = {tuple(row) for row in vertices.joined(words, auxiliaries).tolist()}

        log = partial(log_probability, model)
        for v, first in enumerate(vertices.keys.tolist()):
            assert problem.start[v] == pytest.approx(
                selection[v] + 0.3 * log(BOUNDARY, first), abs=1e-4
            )
            assert problem.end[v] == pytest.approx(0.3 * log(first, BOUNDARY), abs=1e-4)
            for u, second in enumerate(vertices.keys.tolist()):
                ways = {-1: log(first, second)}
                for x, between in enumerate(auxiliaries.tolist()):
                    ways[x] = log(first, between) + log(between, second)
                worth = {x: 0.3 * p + 0.7 * ((v, x, u) in joined) for x, p in ways.items()}
                best = max(worth.values())
                assert problem.weights[v, u] == pytest.approx(selection[u] + best, abs=1e-4)
                assert worth[via[v, u]] == pytest.approx(best, abs=1e-4)


def test_probabilities_after_each_word_add_up_to_one(rng):
    runs = [rng.integers(1, 30, rng.integers(1, 12)).astype(np.uint64) for _ in range(300)]
    model = BigramModel.count(runs)
    unknown = 10**6
    for first in (*range(1, 30), BOUNDARY):
        total = sum(
            np.exp(log_probability(model, first, int(second)))
            for second in (*model.keys.tolist(), unknown)
        )
        assert total == pytest.approx(1.0, abs=1e-4)


def test_counts_of_texts_and_titles():
    titles = [[("why", False), ("two", True)], [("three", True)]]
    bodies = [text(1, 2, 2), text(2, 3)]
    texts = [
        TitledText(body, title, of)
        for body, title, of in zip(bodies, titles, [keys(200, 2), keys(3)], strict=True)
    ]
    knowledge = HeadlineKnowledge.count(texts, "en")
    found, titled = knowledge.look_up(keys(1, 2, 3, 9))
    assert found.tolist() == [1, 2, 1, 0]
    assert titled.tolist() == [0, 1, 1, 0]
    assert (knowledge.size, knowledge.title_words, knowledge.lengths) == (2, 1.5, (1, 1))
    found, titled = HeadlineKnowledge().look_up(keys(5))
    assert not found.any()
    assert not titled.any()


def test_the_model_knows_its_features():
    with pytest.raises(ProblemError, match="features"):
        build_phrase_selection(["nonsense"])
