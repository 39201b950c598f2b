"""The best set of spans: against all sets of small problems, and proven for large ones."""

from itertools import chain, combinations

import numpy as np
import pytest
import spacy
from spacy.tokens import SpanGroup

from spacy_decoders import ProblemError
from spacy_decoders.adapt import spans as rooms
from spacy_decoders.adapt.spans import best_entities, best_spans, log_odds, select


def overlap(one, other) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def best_by_enumeration(borders, scores) -> float:
    """What the best of all sets is worth, by the plain definition."""
    numbers = range(len(scores))
    sets = chain.from_iterable(combinations(numbers, size) for size in range(len(scores) + 1))
    return max(
        float(scores[list(chosen)].sum())
        for chosen in sets
        if not any(overlap(borders[a], borders[b]) for a, b in combinations(chosen, 2))
    )


def random_spans(rng, size, tokens=8):
    begins = rng.integers(0, tokens, size)
    borders = np.stack([begins, begins + rng.integers(1, 5, size)], axis=1)
    # rounded, so that there are ties
    scores = np.round(rng.normal(0.6, 1.0, size), 1)
    scores[rng.random(size) < 0.1] = -np.inf
    return borders, scores


def test_no_set_is_better(rng):
    for _ in range(300):
        borders, scores = random_spans(rng, rng.integers(0, 9))
        chosen, certificate = select(borders, scores)
        assert not any(overlap(borders[a], borders[b]) for a, b in combinations(chosen, 2))
        assert chosen == sorted(chosen, key=lambda span: borders[span][0])
        assert certificate.status == "optimal"
        assert certificate.score == pytest.approx(scores[chosen].sum())
        assert certificate.score == pytest.approx(best_by_enumeration(borders, scores))


def test_a_corrupted_search_is_not_called_optimal(monkeypatch, rng):
    def without_the_best(borders, scores):
        chosen = genuine(borders, scores)
        return [span for span in chosen if scores[span] < max(scores[k] for k in chosen)]

    genuine = rooms._scheduled
    monkeypatch.setattr(rooms, "_scheduled", without_the_best)
    assert select(*random_spans(rng, 30, tokens=20))[1].status == "bounded"


@pytest.mark.parametrize(
    ("borders", "scores", "message"),
    [
        ([(0, 0)], [1.0], "no token"),
        ([(0, 1)], [np.nan], "scores"),
        ([(0, 1)], [1.0, 2.0], "scores"),
        ([(-1, 1)], [1.0], "spans"),
        (5, [1.0], "spans"),
    ],
)
def test_what_is_no_problem_is_refused(borders, scores, message):
    with pytest.raises(ProblemError, match=message):
        select(borders, scores)


def test_in_place_of_filter_spans(rng):
    doc = spacy.blank("en")(" ".join("abcdefghij"))
    for _ in range(50):
        begins, lengths = rng.integers(0, 8, 6), rng.integers(1, 4, 6)
        spans = [doc[a : a + n] for a, n in zip(begins, lengths, strict=True)]
        chosen, certificate = best_spans(spans)
        assert certificate.status == "optimal"
        assert sum(map(len, chosen)) >= sum(map(len, spacy.util.filter_spans(spans)))
        assert not any(
            overlap((a.start, a.end), (b.start, b.end)) for a, b in combinations(chosen, 2)
        )


def test_a_span_group_brings_its_probabilities():
    doc = spacy.blank("en")("a b c d")
    group = SpanGroup(doc, spans=[doc[0:2], doc[1:3], doc[3:4]], attrs={"scores": [0.9, 0.8, 0.2]})
    assert best_spans(group)[0] == [doc[0:2]]
    with pytest.raises(ProblemError, match="probabilities"):
        log_odds([1.5])
    with pytest.raises(ProblemError, match="threshold"):
        log_odds([0.5], threshold=1.0)


def test_entities_as_dicts():
    given = [
        {"start": 0, "end": 5, "entity_group": "A", "score": 0.9},
        {"start": 3, "end": 8, "entity_group": "B", "score": 0.8},
        {"start": 6, "end": 9, "entity_group": "A", "score": 0.7},
        {"start": 20, "end": 22, "entity_group": "A", "score": 0.3},
    ]
    assert best_entities(given)[0] == [given[0], given[2]]
    assert best_entities(given, threshold=0.2)[0] == [given[0], given[2], given[3]]
    assert best_entities([])[0] == []
    for field in ("start", "end", "score"):
        lacking = {name: value for name, value in given[1].items() if name != field}
        with pytest.raises(ProblemError, match=rf"entities\[1\]: has no {field}"):
            best_entities([given[0], lacking])
