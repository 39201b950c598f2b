"""The graph of a headline, by definition."""

import pytest

from spacy_decoders.models.headline.bigrams import BOUNDARY, BigramModel
from spacy_decoders.models.headline.word_graph import word_graph
from spacy_decoders.models.headline.words import Vertices
from tests.models.headline.texts import keys, random_text


def test_edges_by_definition(rng):
    auxiliaries = keys(100, 101, 102)
    for _ in range(20):
        words = random_text(rng)
        vertices = Vertices.of(words)
        model = BigramModel.count(words.runs()[:4])
        selection = rng.normal(size=len(vertices))
        graph = word_graph(
            words, vertices, selection, model, auxiliaries, ordering=0.3, contiguity=0.7,
            edge_ordering=0.2,
        )  # fmt: skip
        joined = {tuple(row) for row in vertices.joined(words, auxiliaries).tolist()}

        def log(first, second, model=model):
            return model.log_probabilities(keys(first), keys(second))[0, 0]

        for v, first in enumerate(vertices.keys.tolist()):
            assert graph.problem.start[v] == pytest.approx(
                selection[v] + 0.2 * log(BOUNDARY, first), abs=1e-4
            )
            assert graph.problem.end[v] == pytest.approx(0.2 * log(first, BOUNDARY), abs=1e-4)
            for u, second in enumerate(vertices.keys.tolist()):
                ways = {-1: log(first, second)}
                for x, between in enumerate(auxiliaries.tolist()):
                    ways[x] = log(first, between) + log(between, second)
                worth = {x: 0.3 * p + 0.7 * ((v, x, u) in joined) for x, p in ways.items()}
                best = max(worth.values())
                assert graph.problem.weights[v, u] == pytest.approx(selection[u] + best, abs=1e-4)
                assert worth[graph.via[v, u]] == pytest.approx(best, abs=1e-4)
