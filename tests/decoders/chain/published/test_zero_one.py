"""The best labelling that is not gold; brute force is in `promises`."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, zero_one_oracle
from spacy_decoders.errors import InfeasibleError, ProblemError


def test_golden_example():
    # by hand: 0 1 is worth 3 + 1.5 + 0, then come 0 0 with 3 + 0 + 1 and 1 1 with 0 + 1.5 + 1
    model = ChainModel([[1, 0], [0, 1]])
    emissions = np.array([[3, 0], [0, 1.5]], dtype=np.float32)
    assert zero_one_oracle(model, emissions, [1, 1]).labels.tolist() == [0, 1]
    other = zero_one_oracle(model, emissions, [0, 1])
    assert (other.labels.tolist(), other.certificate.score) == ([0, 0], 4.0)


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


@pytest.mark.parametrize("n, labels", [(1, 2), (1, 3), (3, 18)])
def test_columns_find_another_where_all_scores_tie(n, labels):
    model = ChainModel(np.zeros((labels, labels)))
    other = zero_one_oracle(model, np.zeros((n, labels)), [0] * n, method="columns")
    assert other.labels.any() and other.certificate.score == 0.0
