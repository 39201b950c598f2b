"""What comes after the best labelling: the k best, and margins; more of both in `promises`."""

from itertools import pairwise

import numpy as np
import pytest

from spacy_decoders.decoders import chain

from .cases import large_problem


def test_k_best_golden_example():
    # transitions reward staying: 0 0 = 3+1, 0 1 = 3+1.5, 1 1 = 0+1+1.5, 1 0 = 0
    model = chain.ChainModel([[1, 0], [0, 1]])
    found = chain.k_best(model, [[3, 0], [0, 1.5]], 9)
    assert [solution.labels.tolist() for solution in found] == [[0, 1], [0, 0], [1, 1], [1, 0]]
    assert [solution.certificate.score for solution in found] == [4.5, 4.0, 2.5, 0.0]
    assert [s.certificate.gap for s in found] == pytest.approx([0.0, 0.5, 2.0, 4.5])


@pytest.mark.parametrize(("forbidden", "peaked"), [(0.0, 9.0), (0.0, 0.5), (0.3, 3.0)])
def test_margins_of_a_batch(forbidden, peaked):
    lengths = [9, 0, 1, 30, 4]
    model, emissions = large_problem(7, 50, lengths, peaked=peaked, forbidden=forbidden)
    margins = chain.max_marginal_margins(model, emissions, lengths)
    starts = np.cumsum([0, *lengths])
    wanted = [
        chain.max_marginal_margins(model, emissions[a:b]) for a, b in pairwise(starts) if b > a
    ]
    np.testing.assert_array_equal(margins, np.concatenate(wanted))


def test_no_reference_path_but_a_legal_one():
    # the best six labels of the first token lead nowhere
    size = 20
    transitions = np.full((size, size), -np.inf)
    transitions[19, 19] = 0.0
    emissions = np.zeros((3, size), dtype=np.float32)
    emissions[0, :19] = 10.0
    model = chain.ChainModel(transitions)
    assert chain.ForwardDominance().decode(model, emissions).labels.tolist() == [19, 19, 19]
    (only,) = chain.k_best(model, emissions, 3)
    assert only.labels.tolist() == [19, 19, 19]
    assert np.isposinf(chain.max_marginal_margins(model, emissions)).all()
