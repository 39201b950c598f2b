"""The best labelling that is not gold, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, zero_one_oracle
from spacy_decoders.errors import InfeasibleError, ProblemError

from ..cases import random_problems, ranked

METHODS = pytest.mark.parametrize("method", ["dominance", "columns"])


@METHODS
def test_agrees_with_brute_force(method):
    rng = np.random.default_rng(7)
    seconds = 0
    for trial, (model, emissions) in enumerate(random_problems(480, seed=5)):
        every = ranked(model, emissions)
        if every and trial % 4:
            gold = every[0][1]
        else:
            gold = tuple(rng.integers(0, model.size, len(emissions)).tolist())
        others = [pair for pair in every if pair[1] != gold]
        if not others:
            with pytest.raises(InfeasibleError):
                zero_one_oracle(model, emissions, gold, method=method)
            continue
        solution = zero_one_oracle(model, emissions, gold, method=method)
        certificate = solution.certificate
        assert tuple(solution.labels) != gold
        assert certificate.score == pytest.approx(model.score(emissions, solution.labels))
        assert certificate.score >= others[0][0] - certificate.tolerance
        assert certificate.bound >= others[0][0] - 1e-12 * abs(others[0][0])
        assert certificate.is_optimal
        seconds += gold == every[0][1]
    assert seconds > 150


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
