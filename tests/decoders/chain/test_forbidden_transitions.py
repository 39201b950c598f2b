"""Forward dominance where transitions are forbidden: BIO, and any pattern."""

import numpy as np

from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
    k_best,
    max_marginal_margins,
)


def test_golden_example():
    # O, B-x, I-x, B-y, I-y: token by token B-x, I-y is worth 5, but is illegal
    model = ChainModel(
        np.where(bio_of_two_types(), -np.inf, 0.0), start=[0, 0, -np.inf, 0, -np.inf]
    )
    emissions = [[0, 2, 0, 1, 0], [0, 0, 1.5, 0, 3], [1, 0, 0, 0, 0.5]]
    # by hand: B-y I-y O = 1 + 3 + 1 = 5; the best that begins with B-x is 2 + 1.5 + 1 = 4.5
    solution = ForwardDominance().decode(model, emissions)
    assert solution.labels.tolist() == [3, 4, 0]
    assert solution.certificate.score == 5.0
    second = k_best(model, emissions, 2)[1]
    # and as good: B-y I-y I-y = 1 + 3 + 0.5
    assert second.labels.tolist() in ([1, 2, 0], [3, 4, 4])
    assert second.certificate.score == 4.5


def bio_of_two_types():
    forbidden = np.zeros((5, 5), dtype=bool)
    forbidden[[0, 3, 4], 2] = True
    forbidden[[0, 1, 2], 4] = True
    return forbidden


def test_no_reference_path_but_a_legal_one():
    # the best six labels of the first token lead nowhere
    size = 20
    transitions = np.full((size, size), -np.inf)
    transitions[19, 19] = 0.0
    emissions = np.zeros((3, size), dtype=np.float32)
    emissions[0, :19] = 10.0
    model = ChainModel(transitions)
    assert ForwardDominance().decode(model, emissions).labels.tolist() == [19, 19, 19]
    (only,) = k_best(model, emissions, 3)
    assert only.labels.tolist() == [19, 19, 19]
    assert np.isposinf(max_marginal_margins(model, emissions)).all()
