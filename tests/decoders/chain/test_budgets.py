"""Limits of time on chains: on small problems, with a clock that counts how often it is read."""

from itertools import product

import numpy as np
import pytest

from spacy_decoders import budget as budgets
from spacy_decoders.budget import Budget
from spacy_decoders.decoders.chain import (
    ChainModel,
    ColumnGeneration,
    ForwardDominance,
    PrunedViterbi,
    Viterbi,
    alternatives,
    k_best,
)
from spacy_decoders.decoders.chain import decoder as chain_decoder
from spacy_decoders.decoders.chain.problem import Sentences
from spacy_decoders.errors import InfeasibleError, ProblemError, UndecidedError
from tests.oracles import all_label_trees

DECODERS = [Viterbi(), PrunedViterbi(), ForwardDominance(), ColumnGeneration()]
each_decoder = pytest.mark.parametrize("decoder", DECODERS, ids=lambda d: type(d).__name__)


@pytest.fixture
def ticking(monkeypatch):
    """A second passes whenever the clock is read, and every problem lacks time."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(budgets, "perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(chain_decoder, "TOKEN", 1e9)
    monkeypatch.setattr(chain_decoder, "PAIRS_PER_CHECK", 0)
    return ticks


def drawn(rng, size, n, forbidden):
    def scores(*shape):
        found = rng.normal(size=shape)
        found[rng.random(shape) < forbidden] = -np.inf
        return found

    model = ChainModel(scores(size, size), scores(size), scores(size))
    return model, scores(n, size).astype(np.float32)


def best_of_all(model, emissions):
    labellings = product(range(model.size), repeat=len(emissions))
    return max(model.score(emissions, list(labels)) for labels in labellings)


@each_decoder
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_an_answer_in_time_is_legal_and_its_bound_true(decoder, forbidden, ticking):
    rng = np.random.default_rng(int(100 * forbidden))
    ends = set()
    for trial in range(24):
        size, n = (3, 5) if trial % 2 else (20, 2)
        model, emissions = drawn(rng, size, n, forbidden)
        best = best_of_all(model, emissions)
        for seconds in (0.5, 1.5, 3.5, 8.5, 20.5, 1000.5):
            budget = Budget(seconds=seconds)
            try:
                found = decoder.decode(model, emissions, budget=budget)
            except (InfeasibleError, UndecidedError) as error:
                assert isinstance(error, UndecidedError) or (
                    best == -np.inf and "by token" in str(error)
                )
                ends.add(type(error))
                continue
            certificate = found.certificate
            assert model.score(emissions, found.labels) == certificate.score > -np.inf
            assert certificate.bound >= best - 1e-12
            assert certificate.decoder == type(decoder).__name__
            if certificate.is_optimal:
                assert certificate.score == pytest.approx(best, abs=1e-6)
            else:
                assert certificate.status == "bounded"
            ends.add(certificate.status)
    wanted = {"bounded", "optimal"}
    assert ends == (wanted | {InfeasibleError, UndecidedError} if forbidden else wanted)


@each_decoder
def test_batches_are_solved_sentence_by_sentence(decoder, ticking, rng):
    model = ChainModel(rng.normal(size=(20, 20)))
    emissions = rng.normal(size=(9, 20)).astype(np.float32)
    usual = decoder.decode_batch(model, emissions, [4, 0, 5])
    found = decoder.decode_batch(model, emissions, [4, 0, 5], budget=Budget(seconds=1e6))
    assert [f.labels.tolist() for f in found] == [u.labels.tolist() for u in usual]
    assert [f.certificate.status for f in found] == ["optimal"] * 3
    emissions[5] = -np.inf
    with pytest.raises(InfeasibleError, match=r"sentence 2: .* by token 1 of 5"):
        decoder.decode_batch(model, emissions, [4, 0, 5], budget=Budget(seconds=1e6))
    emissions[7, 3] = np.nan
    with pytest.raises(ProblemError, match=r"emissions.*7, 3"):
        decoder.decode_batch(model, emissions, [4, 0, 5], budget=Budget(seconds=2.5))


@pytest.mark.parametrize("wrong", [0.0, -3.0, 1.0], ids=["no continuations", "low", "greedy"])
def test_wrong_continuations_are_not_called_optimal(ticking, monkeypatch, rng, wrong):
    """The labels come from the right: what is wrong there meets the bound from the left."""
    true, wrongs = chain_decoder._messages, 0

    def lying(given_model, table, entry, sentence, values, clock):
        found = true(given_model, table, entry, sentence, values, clock)
        if entry is model.start_scores:  # from the left
            return found
        values *= wrong
        return (1, True) if wrong == 1.0 else found

    monkeypatch.setattr(chain_decoder, "_messages", lying)
    for _ in range(10):
        model, emissions = drawn(rng, 6, 4, 0.0)
        best = best_of_all(model, emissions)
        found = Viterbi().decode(model, emissions, budget=Budget(seconds=1e6))
        right = found.certificate.score == pytest.approx(best, abs=1e-9)
        assert found.certificate.is_optimal == right
        assert found.certificate.bound >= best - 1e-12
        wrongs += not right
    assert wrongs


@pytest.mark.parametrize(
    ("size", "tokens", "seconds", "lacks"),
    [
        (500, 3000, 0.05, True),  # a decoder takes up to .2 seconds
        (500, 400, 0.05, False),
        (500, 3000, 1.0, False),
        (100, 20000, 0.05, True),
        (100, 20000, 1.0, False),
        (2, 10**6, 0.2, True),
        (2, 10**4, 0.01, False),
        (3500, 1, 0.05, True),  # for its tables
    ],
)
def test_time_is_foreseen(size, tokens, seconds, lacks):
    model = ChainModel(np.zeros((size, size), dtype=np.float32))
    sentences = Sentences.of(model, np.zeros((tokens, size), dtype=np.float32))
    assert chain_decoder.lacks_time(model, sentences, Budget(seconds=seconds)) == lacks
    if size == 3500:
        _ = model.padded
        assert not chain_decoder.lacks_time(model, sentences, Budget(seconds=seconds))


@each_decoder
def test_tables_are_made_where_there_is_time_for_them(decoder, ticking, monkeypatch, rng):
    model, emissions = drawn(rng, 20, 3, 0.0)
    budget = Budget(seconds=1e3)
    monkeypatch.setattr(chain_decoder, "TABLES", 1.0)
    assert decoder.decode(model, emissions[:1], budget=budget).certificate.is_optimal
    assert decoder.decode(model, emissions, budget=Budget(seconds=350)).certificate.gap > 0.0
    assert "padded" not in vars(model)
    assert decoder.decode(model, emissions, budget=budget).certificate.is_optimal


@pytest.mark.parametrize("decoder", [Viterbi(), ColumnGeneration()], ids=["dense", "columns"])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_a_tree_in_time_is_legal_and_its_bound_true(decoder, forbidden, ticking):
    rng = np.random.default_rng(int(100 * forbidden))
    ends = set()
    for _ in range(60):
        model, emissions = drawn(rng, 3, 5, forbidden)
        parents = [-1, *(int(rng.integers(-1, node)) for node in range(1, 5))]
        given = model.transitions, model.start, model.end, emissions, parents
        worth = {labels: score for score, labels in all_label_trees(*given)}
        best = max(worth.values())
        for seconds in (0.5, 2.5, 6.5, 9.5, 15.5, 1000.5):
            begun = next(ticking)
            try:
                found = decoder.decode_tree(
                    model, emissions, parents, budget=Budget(seconds=seconds)
                )
            except (InfeasibleError, UndecidedError) as error:
                assert isinstance(error, UndecidedError) or best == -np.inf
                ends.add(type(error))
                continue
            certificate = found.certificate
            assert certificate.score == pytest.approx(worth[tuple(found.labels.tolist())])
            assert certificate.bound >= best - 1e-12
            assert next(ticking) - begun < seconds + 9  # the clock is read at every node
            if certificate.is_optimal:
                assert certificate.score == pytest.approx(best, abs=1e-6)
            ends.add(certificate.status)
    wanted = {"bounded", "optimal"}
    assert ends == (wanted | {InfeasibleError, UndecidedError} if forbidden else wanted)


def test_a_ranking_in_time_begins_with_the_best(monkeypatch, rng):
    model, emissions = drawn(rng, 20, 4, 0.0)
    best, *others = k_best(model, emissions, 4)
    monkeypatch.setattr(alternatives, "PAIR", 1e9)
    (found,) = k_best(model, emissions, 4, budget=Budget(seconds=1e3))
    assert found.labels.tolist() == best.labels.tolist()
    assert found.certificate == best.certificate
    assert len(k_best(model, emissions, 4)) == len(others) + 1
    monkeypatch.setattr(chain_decoder, "TOKEN", 1e9)
    (found,) = k_best(model, emissions, 4, budget=Budget(seconds=1e-9))
    assert found.certificate.score <= best.certificate.score <= found.certificate.bound + 1e-9
