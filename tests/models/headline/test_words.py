"""Texts in numbers and their different words, by definition."""

import numpy as np

from spacy_decoders.models.headline.words import Vertices
from tests.models.headline.texts import keys, random_text, text


def test_runs_end_at_punctuation_and_sentences():
    words = text(1, 2, 9, 3, 4, cuts=[2], sentences=[0, 0, 0, 0, 1])
    assert [run.tolist() for run in words.runs()] == [[1, 2], [3], [4]]
    assert text().runs() == []


def test_vertices_are_the_different_content_words_in_order():
    vertices = Vertices.of(text(5, 100, 3, 5, 4, stems=[7, 100, 8, 7, 7]))
    assert vertices.keys.tolist() == [5, 3, 4]
    assert vertices.first.tolist() == [0, 2, 4]
    assert vertices.counts.tolist() == [2, 1, 1]
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
