"""What is particular to column generation: bounds, gaps, budgets, reduced costs."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.chain import ChainModel, ColumnGeneration, Viterbi
from spacy_decoders.decoders.chain.proof import decode_densely as true_decoding
from spacy_decoders.errors import ProblemError

from ..cases import large_problem, random_problems, ranked

COSTS = ["both", "left", "split"]


@pytest.mark.parametrize("reduced_cost", COSTS)
def test_every_iteration_has_a_legal_labelling_and_a_proven_bound(reduced_cost):
    decoder = ColumnGeneration(reduced_cost=reduced_cost)
    stopped = 0
    for model, emissions in random_problems(320, seed=3):
        every = ranked(model, emissions)
        if not every:
            continue
        last = -np.inf
        for limit in range(1, 12):
            solution = decoder.decode(model, emissions, budget=Budget(iterations=limit))
            certificate = solution.certificate
            assert certificate.score == pytest.approx(model.score(emissions, solution.labels))
            assert certificate.iterations <= limit
            assert certificate.score >= last - certificate.tolerance
            last = certificate.score
            assert certificate.bound >= every[0][0] - 1e-12 * abs(every[0][0])
            if certificate.is_optimal:
                assert certificate.score >= every[0][0] - certificate.tolerance
                break
            stopped += 1
        else:
            pytest.fail("column generation did not end")
    assert stopped > 50


@pytest.mark.parametrize("gap", [0.5, 3.0, 1e9])
def test_stops_within_the_gap(gap):
    lengths = [30] * 30
    model, emissions = large_problem(2, 40, lengths, peaked=0.7)
    exact = ColumnGeneration().decode_batch(model, emissions, lengths)
    early = ColumnGeneration(gap=gap).decode_batch(model, emissions, lengths)
    for best, near in zip(exact, early, strict=True):
        assert near.certificate.gap <= gap + near.certificate.tolerance
        assert near.certificate.score >= best.certificate.score - gap
        assert near.certificate.bound >= best.certificate.score
        assert near.certificate.iterations <= best.certificate.iterations
    if gap == 1e9:
        assert {near.certificate.iterations for near in early} == {1}
        assert any(near.certificate.status == "bounded" for near in early)


def test_options_are_checked():
    for gap in (-1.0, np.nan, np.inf):
        with pytest.raises(ProblemError, match="gap"):
            ColumnGeneration(gap=gap)
    with pytest.raises(ProblemError, match="reduced_cost"):
        ColumnGeneration(reduced_cost="right")


def test_flat_scores_are_decoded_densely(rng, monkeypatch):
    """Where nothing can be priced out, domains would grow to all labels."""
    home = import_module("spacy_decoders.decoders.chain.published.column_generation")
    left = []

    def decode_densely(model, sentences, chosen, labels):
        left.extend(chosen.tolist())
        true_decoding(model, sentences, chosen, labels)

    monkeypatch.setattr(home, "decode_densely", decode_densely)
    size, lengths = 80, [6, 1, 4]
    model = ChainModel(rng.normal(size=(size, size)))
    emissions = 0.1 * rng.normal(size=(sum(lengths), size))
    emissions[7:] *= 1000  # and nothing is doubtful in the last sentence
    found = ColumnGeneration().decode_batch(model, emissions, lengths)
    best = Viterbi().decode_batch(model, emissions, lengths)
    assert left == [0]
    for one, other in zip(found, best, strict=True):
        assert one.certificate.is_optimal
        assert one.certificate.score == pytest.approx(other.certificate.score, abs=1e-9)
