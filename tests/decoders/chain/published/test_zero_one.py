"""The best labelling that is not gold; brute force is in `promises`."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, zero_one_oracle
from spacy_decoders.errors import InfeasibleError, ProblemError


def test_nothing_but_gold():
    with pytest.raises(InfeasibleError, match="other than gold"):
        zero_one_oracle(ChainModel([[0.0]]), np.zeros((3, 1)), [0, 0, 0])
    with pytest.raises(InfeasibleError, match="other than gold"):
        zero_one_oracle(ChainModel([[0.0]]), np.zeros((0, 1)), [])


def test_bad_gold_is_named():
    model = ChainModel(np.zeros((2, 2)))
    for gold in ([0], [0, 2], [0, -1], [0.5, 1]):
        with pytest.raises(ProblemError, match="gold"):
            zero_one_oracle(model, np.zeros((2, 2)), gold)
