"""What is particular to column generation: bounds, gaps, budgets, reduced costs."""

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.chain import ColumnGeneration

from ..cases import large_problem, random_problems, ranked

COSTS = ["both", "left", "split"]


@pytest.mark.parametrize("reduced_cost", COSTS)
def test_every_iteration_has_a_legal_labelling_and_a_proven_bound(reduced_cost):
    decoder = ColumnGeneration(reduced_cost=reduced_cost)
    stopped = 0
    for model, emissions in random_problems(200, seed=3):
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
    assert stopped > 30


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
