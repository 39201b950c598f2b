"""The best set of spans: against all sets of small problems, and against itself on large ones."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
import spacy
from spacy.tokens import SpanGroup

from spacy_decoders import Budget, ProblemError
from spacy_decoders.adapt.spans import BestSpans, SpanProblem, best_entities, best_spans, log_odds
from spacy_decoders.adapt.spans.kernels import proof, schedule


def best_by_enumeration(problem: SpanProblem) -> float:
    """What the best of all sets is worth, by the plain definition."""
    numbers = range(len(problem))
    sets = chain.from_iterable(combinations(numbers, size) for size in range(len(problem) + 1))
    return max(
        (problem.score(chosen) for chosen in sets if problem.fault(chosen) is None), default=0.0
    )


def random_problem(rng, size, tokens=8, **rules):
    begins = rng.integers(0, tokens, size)
    spans = np.stack([begins, begins + rng.integers(1, 5, size)], axis=1)
    # rounded, so that there are ties
    scores = np.round(rng.normal(0.6, 1.0, size), 1)
    scores[rng.random(size) < 0.1] = -np.inf
    return SpanProblem(spans, scores, rng.choice(["A", "B", "C"], size).tolist(), **rules)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("once", [(), ("A",), ("A", "B", "C")])
def test_no_set_is_better(rng, nested, apart, once):
    for _ in range(60):
        problem = random_problem(rng, rng.integers(0, 9), nested=nested, apart=apart, once=once)
        solution = BestSpans().decode(problem)
        assert problem.fault(solution.chosen) is None
        assert solution.certificate.status == "optimal"
        assert solution.certificate.score == pytest.approx(problem.score(solution.chosen))
        assert solution.certificate.score == pytest.approx(best_by_enumeration(problem))


def test_a_kind_with_a_price_may_be_missing_from_the_best_set():
    spans, scores = [(3, 4), (1, 2), (4, 5), (3, 5)], [6.0, 4.0, 9.0, 7.0]
    problem = SpanProblem(spans, scores, ["A", "A", "A", None], once=["A"])
    solution = BestSpans().decode(problem)
    assert solution.chosen.tolist() == [1, 3]
    assert solution.certificate.status == "optimal"


@pytest.mark.parametrize("nested", [False, True])
def test_no_set_is_better_where_prices_leave_a_gap(rng, nested):
    for _ in range(400):
        size = int(rng.integers(3, 7))
        begins = rng.integers(0, 5, size)
        spans = np.stack([begins, rng.integers(begins + 1, 7)], axis=1)
        scores = rng.integers(1, 12, size).astype(float)
        labels = [("A", "B", None)[k] for k in rng.integers(0, 3, size)]
        problem = SpanProblem(spans, scores, labels, nested=nested, once=["A", "B"])
        solution = BestSpans().decode(problem)
        assert problem.fault(solution.chosen) is None
        assert solution.certificate.status == "optimal"
        assert solution.certificate.score == best_by_enumeration(problem)


@pytest.mark.parametrize("nested", [False, True])
def test_large_problems_are_proven(rng, nested):
    problem = random_problem(rng, 800, tokens=400, nested=nested)
    assert BestSpans().decode(problem).certificate.status == "optimal"


def test_rare_kinds_in_a_long_text(rng):
    spans = [(3 * i, 3 * i + 4) for i in range(60)]
    labels = [f"K{i % 7}" for i in range(60)]
    problem = SpanProblem(spans, rng.random(60) + 0.1, labels, once=labels)
    solution = BestSpans().decode(problem)
    assert solution.certificate.status == "optimal"
    assert problem.fault(solution.chosen) is None
    assert len(solution.chosen) == 7


def test_a_budget_leaves_an_honest_bound(rng):
    problem = random_problem(rng, 60, tokens=40, once=("A", "B", "C"))
    best = BestSpans().decode(problem).certificate
    hurried = BestSpans().decode(problem, budget=Budget(iterations=1)).certificate
    assert best.status == "optimal"
    assert hurried.score <= best.score + 1e-9 <= hurried.bound + 2e-9


@pytest.mark.parametrize("nested", [False, True])
def test_a_corrupted_search_is_not_called_optimal(monkeypatch, rng, nested):
    def without_the_best(begins, ends, scores, *rest):
        chosen = genuine(begins, ends, scores, *rest)
        chosen[np.argmax(np.where(chosen, scores, -1.0))] = False
        return chosen

    genuine = schedule.schedule
    problem = random_problem(rng, 30, tokens=20, nested=nested)
    monkeypatch.setattr(schedule, "schedule", without_the_best)
    solution = BestSpans().decode(problem)
    assert solution.certificate.status == "bounded"


def test_the_bound_of_a_row_by_hand():
    begins, ends = np.arange(5), np.arange(5) + 2
    scores = np.ones(5)
    assert proof.bound(begins, ends, scores, 0, False, np.arange(5)) == 3.0
    assert proof.bound(begins, ends, scores, 1, False, np.arange(5)) == 2.0


def test_one_by_hand():
    # 1.5 in the middle is less than 1 on each side; nested, all three of the last fit
    spans, scores = [(0, 2), (1, 3), (2, 4)], [1.0, 1.5, 1.0]
    assert BestSpans().decode(SpanProblem(spans, scores)).chosen.tolist() == [0, 2]
    apart = BestSpans().decode(SpanProblem(spans, scores, apart=True))
    assert apart.chosen.tolist() == [1]
    nest = [(0, 4), (0, 2), (1, 2), (0, 4)]
    assert BestSpans().decode(SpanProblem(nest, [1, 1, 1, 2], nested=True)).chosen.tolist() == [
        3, 1, 2,
    ]  # fmt: skip


def test_nothing_is_chosen_of_nothing():
    assert BestSpans().decode(SpanProblem([], [])).certificate.score == 0.0
    solution = BestSpans().decode(SpanProblem([(0, 1)], [-1.0]))
    assert solution.chosen.tolist() == [] and solution.certificate.status == "optimal"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(0, 0)], [1.0]), "no token"),
        (([(0, 1)], [np.nan]), "scores"),
        (([(0, 1)], [1.0, 2.0]), "scores"),
        (([(-1, 1)], [1.0]), "spans"),
        (([(0, 1)], [1.0], ["A", "B"]), "labels"),
    ],
)
def test_what_is_no_problem_is_refused(arguments, message):
    with pytest.raises(ProblemError, match=message):
        SpanProblem(*arguments)
    with pytest.raises(ProblemError, match="once"):
        SpanProblem([(0, 1)], [1.0], once=["A"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nested", "no"),
        ("nested", None),
        ("apart", 2),
        ("once", 3),
        ("once", [["A"]]),
        ("labels", 5),
        ("labels", [["A"]]),
        ("spans", 5),
    ],
)
def test_arguments_of_another_type_are_named(name, value):
    arguments = {"spans": [(0, 1)], "scores": [1.0], "labels": ["A"], name: value}
    with pytest.raises(ProblemError, match=f"^{name}: "):
        SpanProblem(**arguments)


def test_in_place_of_filter_spans(rng):
    doc = spacy.blank("en")(" ".join("abcdefghij"))
    for _ in range(50):
        begins, lengths = rng.integers(0, 8, 6), rng.integers(1, 4, 6)
        spans = [doc[a : a + n] for a, n in zip(begins, lengths, strict=True)]
        chosen, certificate = best_spans(spans)
        assert certificate.status == "optimal"
        kept = spacy.util.filter_spans(spans)
        assert sum(map(len, chosen)) >= sum(map(len, kept))
        assert not any(
            max(a.start, b.start) < min(a.end, b.end) for a, b in combinations(chosen, 2)
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
    assert best_entities(given, once=["A"])[0] == [given[0]]
    assert best_entities(given, threshold=0.2)[0] == [given[0], given[2], given[3]]
    assert best_entities([])[0] == []
