"""Beam search: legal, honest about what it does not know, exact when wide enough."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.chain import Beam, Viterbi
from spacy_decoders.errors import InfeasibleError

from ..cases import large_problem, random_problems, ranked


@pytest.mark.parametrize("width", [1, 2, 64])
def test_is_legal_wherever_a_legal_labelling_exists(width):
    for model, emissions in random_problems(320, seed=2):
        every = ranked(model, emissions)
        if not every:
            with pytest.raises(InfeasibleError):
                Beam(width).decode(model, emissions)
            continue
        solution = Beam(width).decode(model, emissions)
        certificate = solution.certificate
        assert certificate.status == "heuristic"
        assert certificate.bound is None
        assert certificate.score == model.score(emissions, solution.labels)
        assert -np.inf < certificate.score <= every[0][0]
        if width >= model.size:
            exact = Viterbi().decode(model, emissions).certificate
            assert certificate.score >= every[0][0] - exact.tolerance


def greedy(model, emissions):
    """The best label at each token, given the one before it."""
    labels = [int(np.argmax(model.start_scores + emissions[0]))]
    for i, row in enumerate(emissions[1:], start=1):
        worth = model.transitions[labels[-1]] + row
        labels.append(int(np.argmax(worth + (i == len(emissions) - 1) * model.end_scores)))
    return labels


def test_width_one_is_greedy_decoding():
    model, emissions = large_problem(5, 37, [60])
    assert Beam(1).decode(model, emissions).labels.tolist() == greedy(model, emissions)
