"""Rankings, margins, rivals and trees of labels whose kernels return what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacy_decoders.decoders import chain
from spacy_decoders.decoders.chain.published.label_trees import LabelTree
from spacy_decoders.errors import DecodersError

from .faults import IMPOSSIBLE, LENGTHS, Case, home_of, lie, no_repair
from .promises import check_solution


def lose_the_best(monkeypatch) -> None:
    """Let a ranking begin with the second best."""
    lattice = home_of("kernels.lattice")
    true = lattice.k_best

    def later(*given: Any) -> Any:
        *rest, k, most = given
        return true(*rest, k + 1, most)[1:]

    monkeypatch.setattr(lattice, "k_best", later)


@pytest.mark.parametrize("size", [4, 70])
def test_a_ranking_without_the_best_is_not_led_by_an_optimal_one(monkeypatch, size):
    case = Case.drawn(size)
    lose_the_best(monkeypatch)
    found = chain.k_best(case.model, case.emissions[:4], 4)
    for solution in found:
        check_solution(case.judges[0], case.judges[0].best, solution)
    assert [solution.certificate.status for solution in found] == ["bounded"] * 4


@pytest.mark.parametrize("size", [4, 70])
def test_a_rival_that_is_not_the_best_is_not_optimal(monkeypatch, size):
    case, rows = Case.drawn(size), slice(0, 4)
    judge = case.judges[0]
    gold = chain.Viterbi().decode(case.model, case.emissions[rows]).labels
    lose_the_best(monkeypatch)
    found = chain.zero_one_oracle(case.model, case.emissions[rows], (gold + 1) % size)
    rival = judge.best_but(tuple(((gold + 1) % size).tolist()))
    check_solution(judge, rival, found)
    assert not found.certificate.is_optimal


@pytest.mark.parametrize("wrong", IMPOSSIBLE)
@pytest.mark.parametrize("size", [4, 70])
def test_labels_that_are_none_lead_no_ranking(monkeypatch, wrong, size):
    case = Case.drawn(size)
    labels = IMPOSSIBLE[wrong](chain.Viterbi().decode(case.model, case.emissions[:4]).labels, size)
    monkeypatch.setattr(chain.ForwardDominance, "_search", lambda *_: labels)
    no_repair(monkeypatch)
    # the kernel would read beyond its arrays
    monkeypatch.setattr("spacy_decoders.decoders.chain.kernels.lattice.k_best", None)
    with pytest.raises(DecodersError, match="no legal labelling"):
        chain.k_best(case.model, case.emissions[:4], 2)
    with pytest.raises(DecodersError, match="no legal labelling"):
        chain.zero_one_oracle(case.model, case.emissions[:4], [0, 0, 0, 0])
    assert np.isnan(chain.max_marginal_margins(case.model, case.emissions[:4])).all()


@pytest.mark.parametrize("size", [4, 70])
@pytest.mark.parametrize("is_legal", [True, False])
def test_margins_beside_labels_that_are_not_proven_are_none(monkeypatch, size, is_legal):
    case = Case.drawn(size)
    labels = (
        chain.ForwardDominance().decode_batch(case.model, case.emissions, LENGTHS).labels.copy()
    )
    labels[0] = (labels[0] + 1) % size
    if not is_legal:
        case.emissions[0, labels[0]] = -np.inf
    right = chain.max_marginal_margins(case.model, case.emissions, LENGTHS)
    no_repair(monkeypatch)
    monkeypatch.setattr(chain.ForwardDominance, "_search", lambda *_: labels)
    found = chain.max_marginal_margins(case.model, case.emissions, LENGTHS)
    assert np.isnan(found[: LENGTHS[0]]).all()
    assert np.array_equal(found[LENGTHS[0] :], right[LENGTHS[0] :])


@pytest.mark.parametrize("kept", [[], [0], [0, 0, 0]])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_labellings_that_are_lost_are_missed(monkeypatch, kept, forbidden):
    case = Case.drawn(4, forbidden)
    rows = case.emissions[:3]
    gold = chain.Viterbi().decode(case.model, rows).labels
    lie(monkeypatch, "kernels.lattice.k_best", lambda _, paths: paths[kept])
    with pytest.raises(DecodersError, match="there are more"):
        chain.k_best(case.model, rows, 3)
    with pytest.raises(DecodersError, match="there are more"):
        chain.zero_one_oracle(case.model, rows, gold)


def test_rivals_are_bounded_though_the_best_is_lost(monkeypatch):
    case = Case.drawn(4)
    first, second = chain.k_best(case.model, case.emissions[:4], 2)
    lose_the_best(monkeypatch)
    found = chain.zero_one_oracle(case.model, case.emissions[:4], second.labels)
    assert found.certificate.bound >= first.certificate.score


def test_a_false_bound_on_others_makes_none_optimal(monkeypatch):
    case = Case.drawn(4)
    gold = chain.Viterbi().decode(case.model, case.emissions[:4]).labels
    lie(monkeypatch, "published.zero_one._bound_on_others", lambda _, bound: bound - 1.0)
    found = chain.zero_one_oracle(case.model, case.emissions[:4], gold)
    assert not found.certificate.is_optimal


@pytest.mark.parametrize(
    "decoder", [chain.Viterbi(), chain.ColumnGeneration()], ids=["dense", "columns"]
)
def test_trees_with_wrong_labels_or_false_bounds(monkeypatch, decoder):
    case, parents = Case.drawn(4), [-1, 0, 0, 1, 1, 2, -1, 6]
    right = decoder.decode_tree(case.model, case.emissions, parents)
    assert right.certificate.is_optimal
    with monkeypatch.context() as patched:
        patched.setattr(LabelTree, "_bound", lambda tree: right.certificate.score - 1.0)
        found = decoder.decode_tree(case.model, case.emissions, parents)
        assert not found.certificate.is_optimal
    true = LabelTree._labels
    monkeypatch.setattr(LabelTree, "_labels", lambda *given: (true(*given) + 1) % 4)
    found = decoder.decode_tree(case.model, case.emissions, parents)
    assert found.certificate.status == "bounded"
