"""Beam search of width one; what wider ones promise is in `promises`."""

from __future__ import annotations

import numpy as np

from spacy_decoders.decoders.chain import Beam

from ..cases import large_problem


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
