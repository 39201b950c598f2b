"""Limits of time on chains: on small problems, with a clock that counts how often it is read."""

from functools import partial

import numpy as np
import pytest

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

from .cases import ranked

DECODERS = [Viterbi(), PrunedViterbi(), ForwardDominance(), ColumnGeneration()]
each_decoder = pytest.mark.parametrize("decoder", DECODERS, ids=lambda d: type(d).__name__)


@pytest.fixture
def ticking(monkeypatch, ticks):
    """Every problem lacks time."""
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


EVERY_END = {"bounded", "optimal", InfeasibleError, UndecidedError}


def end_of(decode, best, said):
    """How a limit of time ends, and with what, whose bound is true; `best` is the best score."""
    try:
        found = decode()
    except (InfeasibleError, UndecidedError) as error:
        assert isinstance(error, UndecidedError) or (best == -np.inf and said in str(error))
        return type(error), None
    certificate = found.certificate
    assert -np.inf < certificate.score <= best + 1e-6 and certificate.bound >= best - 1e-12
    if certificate.is_optimal:
        assert certificate.score == pytest.approx(best, abs=1e-6)
    return certificate.status, found


@each_decoder
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_an_answer_in_time_is_legal_and_its_bound_true(decoder, forbidden, ticking):
    rng = np.random.default_rng(int(100 * forbidden))
    ends = set()
    for trial in range(24):
        size, n = (3, 5) if trial % 2 else (20, 2)
        model, emissions = drawn(rng, size, n, forbidden)
        best = max((score for score, _ in ranked(model, emissions)), default=-np.inf)
        for seconds in (0.5, 1.5, 3.5, 8.5, 20.5, 1000.5):
            decode = partial(decoder.decode, model, emissions, budget=Budget(seconds=seconds))
            end, found = end_of(decode, best, "by token")
            if found is not None:
                assert model.score(emissions, found.labels) == found.certificate.score
                assert found.certificate.decoder == type(decoder).__name__
            ends.add(end)
    assert ends == (EVERY_END if forbidden else {"bounded", "optimal"})


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
        if entry is model.start:  # from the left
            return found
        values *= wrong
        return (1, True) if wrong == 1.0 else found

    monkeypatch.setattr(chain_decoder, "_messages", lying)
    for _ in range(10):
        model, emissions = drawn(rng, 6, 4, 0.0)
        best = ranked(model, emissions)[0][0]
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
            budget, begun = Budget(seconds=seconds), next(ticking)
            decode = partial(decoder.decode_tree, model, emissions, parents, budget=budget)
            end, found = end_of(decode, best, "no legal labelling of the tree")
            if found is not None:
                labels = tuple(found.labels.tolist())
                assert found.certificate.score == pytest.approx(worth[labels])
                assert next(ticking) - begun < seconds + 9  # the clock is read at every node
            ends.add(end)
    assert ends == (EVERY_END if forbidden else {"bounded", "optimal"})


def test_a_ranking_in_time_begins_with_the_best(monkeypatch, rng):
    model, emissions = drawn(rng, 20, 4, 0.0)
    best, *others = k_best(model, emissions, 4)
    # so many would have to be moved, and certified
    assert len(k_best(model, emissions, 10_000, budget=Budget(seconds=0.1))) == 1
    monkeypatch.setattr(alternatives, "PAIR", 1e9)
    (found,) = k_best(model, emissions, 4, budget=Budget(seconds=1e3))
    assert found.labels.tolist() == best.labels.tolist()
    assert found.certificate == best.certificate
    assert len(k_best(model, emissions, 4)) == len(others) + 1
    monkeypatch.setattr(chain_decoder, "TOKEN", 1e9)
    (found,) = k_best(model, emissions, 4, budget=Budget(seconds=1e-9))
    assert found.certificate.score <= best.certificate.score <= found.certificate.bound + 1e-9
