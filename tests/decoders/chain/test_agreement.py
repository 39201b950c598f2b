"""Documents whose entities are tied together: exact against enumeration, certified, in budget."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders import Budget, InfeasibleError, ProblemError, verify
from spacy_decoders.decoders.chain import (
    ChainModel,
    DocumentAgreement,
    DocumentProblem,
    EntityLabels,
    agreement_costs,
)


def bio(kinds: int) -> EntityLabels:
    """O, then B and I of each kind."""
    return EntityLabels([-1, *np.repeat(range(kinds), 2)], [False, *([False, True] * kinds)])


def legal_model(rng, entities):
    """Random scores under which an I follows only what is of its kind."""
    size = len(entities.kinds)
    transitions = rng.normal(size=(size, size)).astype("f")
    kinds, goes_on = entities.kinds, entities.goes_on
    transitions[:, goes_on] = np.where(
        kinds[:, None] == kinds[goes_on], transitions[:, goes_on], -np.inf
    )
    start = np.where(goes_on, -np.inf, rng.normal(size=size)).astype("f")
    return ChainModel(transitions, start, rng.normal(size=size).astype("f"))


def drawn(seed, lengths=(2, 3), kinds=2, *, weights=(math.inf, 1.5), evidence=True, masks=0.1):
    """A random problem: mentions of one or two tokens, nested ones too, in several factors."""
    rng = np.random.default_rng(seed)
    entities = bio(kinds)
    total = sum(lengths)
    emissions = 2 * rng.normal(size=(total, 2 * kinds + 1)).astype("f")
    emissions[rng.random(emissions.shape) < masks] = -np.inf
    emissions[:, 0] = np.where(np.isneginf(emissions[:, 0]), -3, emissions[:, 0])
    offsets = np.cumsum([0, *lengths])
    every = [
        (i, j)
        for begin, stop in itertools.pairwise(offsets.tolist())
        for i, j in itertools.combinations(range(begin, stop + 1), 2)
    ]
    chosen = rng.permutation(len(every))[: rng.integers(2, len(every) + 1)]
    mentions = [every[m] for m in chosen]
    members = [
        rng.permutation(len(mentions))[: rng.integers(1, len(mentions) + 1)]
        for _ in range(rng.integers(0, 4))
    ]
    costs = np.zeros((len(members), kinds + 1, kinds + 1))
    for f in range(len(members)):
        missing = rng.choice([0.0, 0.5])
        costs[f] = agreement_costs(kinds, weight=rng.choice(weights), missing=missing)
    worth = rng.normal(size=(len(mentions), kinds)) * (rng.random((len(mentions), 1)) < 0.3)
    return DocumentProblem(
        legal_model(rng, entities),
        emissions,
        lengths,
        entities,
        mentions,
        worth if evidence else None,
        members,
        costs,
    )


def value(problem, labels):
    """The score of a labelling, told from its entities, as plainly as possible."""
    model, emissions = problem.model, problem.emissions
    kinds, goes_on = problem.entities.kinds.tolist(), problem.entities.goes_on.tolist()
    score, entities, begin = 0.0, {}, 0
    for n in problem.lengths.tolist():
        score += model.score(emissions[begin : begin + n], labels[begin : begin + n]) if n else 0.0
        i = begin
        while i < begin + n:
            j = i + 1
            if kinds[labels[i]] >= 0:
                while j < begin + n and goes_on[labels[j]]:
                    j += 1
                entities[i, j] = kinds[labels[i]]
            i = j
        begin += n
    states = [entities.get(tuple(span), -1) for span in problem.mentions.tolist()]
    score += sum(problem.evidence[m, kind] for m, kind in enumerate(states) if kind >= 0)
    for of, costs in zip(problem.members, problem.costs, strict=True):
        score -= min(sum(hub[states[m]] for m in of) for hub in costs)
    return score


def best(problem):
    size = problem.model.size
    every = itertools.product(range(size), repeat=len(problem.emissions))
    return max(value(problem, np.array(labels, dtype=np.int32)) for labels in every)


@pytest.mark.parametrize("seed", range(80))
def test_the_best_labels_of_small_documents(seed):
    problem = drawn(seed, lengths=[(2, 3), (5,), (1, 1, 2), (2, 0, 2)][seed % 4])
    found = DocumentAgreement().decode(problem)
    score = value(problem, found.labels)
    assert problem.score(found.labels) == pytest.approx(score, abs=1e-9)
    assert found.certificate.score == pytest.approx(score, abs=1e-9)
    assert score == pytest.approx(best(problem), abs=1e-6)
    assert found.certificate.status == "optimal"
    assert verify(problem, found)


def test_it_branches_where_exchanging_leaves_a_gap():
    nodes = []
    for seed in range(30):
        problem = drawn(seed, lengths=(5,), evidence=False)
        found = DocumentAgreement(updates=1).decode(problem)
        assert found.certificate.status == "optimal"
        assert found.certificate.score == pytest.approx(best(problem), abs=1e-6)
        nodes.append(found.certificate.iterations)
    assert max(nodes) > 1


def test_a_budget_leaves_an_honest_bound():
    bounded = 0
    for seed in range(30):
        problem = drawn(seed, lengths=(5,), evidence=False)
        found = DocumentAgreement(updates=1).decode(problem, budget=Budget(iterations=1))
        optimum = best(problem)
        certificate = found.certificate
        assert certificate.score == pytest.approx(value(problem, found.labels), abs=1e-9)
        assert certificate.score <= optimum + 1e-6 <= certificate.bound + 2e-6
        if certificate.status == "optimal":
            assert certificate.score == pytest.approx(optimum, abs=1e-6)
        bounded += certificate.status == "bounded"
    assert bounded


def test_a_budget_never_hides_a_labelling_that_satisfies_all():
    feasible = 0
    for seed in range(60):
        problem = drawn(seed, lengths=(3,), kinds=1, evidence=False, masks=0.3)
        costs = np.random.default_rng(seed).exponential(size=problem.costs.shape)
        # the first hub has a price for every kind, and no hub forbids "no entity"
        hubs = costs[:, 1:, :-1]
        hubs[np.random.default_rng(seed + 1).random(hubs.shape) < 0.6] = np.inf
        optimum = best(problem := replace(problem, costs=costs))
        if optimum == -math.inf:
            with pytest.raises(InfeasibleError):
                DocumentAgreement(nodes=1).decode(problem)
        else:
            feasible += 1
            certificate = DocumentAgreement(nodes=1).decode(problem).certificate
            assert certificate.score <= optimum + 1e-6 <= certificate.bound + 2e-6
    assert feasible > 30


def test_rules_hold_in_longer_documents():
    for seed in range(5):
        problem = drawn(seed, lengths=(8, 12, 9, 11), kinds=3, weights=(math.inf,), masks=0.0)
        found = DocumentAgreement().decode(problem)
        assert found.certificate.status == "optimal"
        assert math.isfinite(value(problem, found.labels))


#: What a kernel of the search may return instead of what is right.
LIES = {
    "best_paths": lambda rng, *given: given[5].fill(0) or -1,
    "max_marginals": lambda rng, *given: given[6].__setitem__(
        slice(None), rng.normal(size=given[6].shape) - 5
    ),
}


@pytest.mark.parametrize("kernel", LIES)
def test_a_lying_search_is_never_called_optimal(kernel, monkeypatch):
    from spacy_decoders.decoders.chain.kernels import spans

    rng = np.random.default_rng(0)
    true = getattr(spans, kernel)

    def lie(*given):
        result = true(*given)
        told = LIES[kernel](rng, *given)
        return result if told is None else told

    monkeypatch.setattr(spans, kernel, lie)
    wrong = 0
    for seed in range(30):
        problem = drawn(seed, masks=0.0)
        try:
            found = DocumentAgreement().decode(problem, budget=Budget(iterations=1))
        except InfeasibleError:
            continue
        optimum = best(problem)
        score = value(problem, found.labels)
        assert found.certificate.score == pytest.approx(score, abs=1e-9)
        wrong += found.certificate.status != "optimal"
        if score < optimum - 1e-6:
            assert found.certificate.status != "optimal"
            assert found.certificate.bound is None or found.certificate.bound >= optimum - 1e-6
    assert wrong


@pytest.mark.parametrize("change", [-1e-3, 1e-3, -math.inf, math.inf, math.nan])
def test_a_wrong_bound_is_no_proof(change, monkeypatch):
    from spacy_decoders.decoders.chain.kernels import span_bounds

    true = span_bounds.span_bounds

    def lie(*given):
        true(*given)
        given[-1][:] += change

    monkeypatch.setattr(span_bounds, "span_bounds", lie)
    searched = 0
    for seed in range(40):
        problem = drawn(seed, masks=0.0)
        budget = Budget(iterations=20)
        try:
            certificate = DocumentAgreement().decode(problem, budget=budget).certificate
        except ProblemError:  # a bound that is no number
            assert math.isnan(change)
            continue
        monkeypatch.undo()
        alone = DocumentAgreement().decode(problem).certificate.iterations == 1
        monkeypatch.setattr(span_bounds, "span_bounds", lie)
        searched += certificate.status != "optimal"
        assert certificate.status != "optimal" or alone
    assert searched


def test_what_contradicts_is_named():
    problem = drawn(3, lengths=(2, 2), evidence=False, masks=0.0)
    emissions = problem.emissions.copy()
    emissions[0, [0, 2, 3, 4]] = -np.inf  # a B of the first kind
    emissions[1, [0, 1, 2, 4]] = -np.inf  # a B of the second kind
    tied = DocumentProblem(
        problem.model,
        emissions,
        [2, 2],
        problem.entities,
        [[0, 1], [1, 2], [2, 3]],
        None,
        [[0, 2], [0, 1]],
        [agreement_costs(2)] * 2,
    )
    with pytest.raises(InfeasibleError, match="the factor 1 of the document"):
        DocumentAgreement().decode(tied)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mentions": [[0, 3]]}, r"mentions\[0\]: \[0, 3\] goes beyond its sentence"),
        ({"mentions": [[1, 1]]}, r"mentions\[0\]: expected start < end"),
        ({"mentions": [[0, 1], [0, 1]]}, "two of them are the same span"),
        ({"evidence": [[0.0, math.inf]]}, "evidence: expected finite numbers of shape"),
        ({"members": [[0, 0]]}, r"members\[0\]: a mention is there twice"),
        ({"members": [[1]]}, r"members\[0\]"),
        ({"costs": [np.full((3, 3), -1.0)]}, "costs: expected numbers that are not negative"),
        ({"costs": [np.full((3, 3), np.inf)]}, "costs: inf is not allowed in the last column"),
        ({"costs": [np.zeros((2, 2))]}, "costs: expected the shape"),
        ({"entities": EntityLabels([-1, 0, 0, 1, 1], [False] * 5)}, None),
        ({"model": ChainModel(np.zeros((5, 5)))}, "transitions: label 2 continues an entity"),
    ],
)
def test_what_is_wrong_is_named(changes, message):
    problem = drawn(0)
    given = {
        "model": problem.model,
        "emissions": np.zeros((4, 5)),
        "lengths": [2, 2],
        "entities": problem.entities,
        "mentions": [[0, 1]],
        "members": [[0]],
        "costs": [agreement_costs(2)],
    }
    if message is None:
        DocumentProblem(**{**given, **changes})
        return
    with pytest.raises(ProblemError, match=message):
        DocumentProblem(**{**given, **changes})


def test_verify_refutes_what_is_wrong():
    refuted = 0
    for seed in range(20):
        problem = drawn(seed, masks=0.0)
        found = DocumentAgreement().decode(problem)
        assert verify(problem, found)
        worse = np.zeros_like(found.labels)  # all outside
        if value(problem, worse) < found.certificate.score - 1e-6:
            assert verify(problem, replace(found, labels=worse)).outcome == "refuted"
            refuted += 1
        higher = replace(
            found.certificate, score=found.certificate.score + 1, bound=found.certificate.bound + 1
        )
        assert verify(problem, replace(found, certificate=higher)).outcome == "refuted"
    assert refuted
    with pytest.raises(ProblemError, match="expected a DocumentProblem"):
        verify((problem.model, problem.emissions), found)
