"""What a batch gives back: a sequence whose items are made when first asked for."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from spacy_decoders.certificate import Certificate
from spacy_decoders.decoders.chain import ChainModel, ChainSolution, ChainSolutions, Viterbi


def batch() -> ChainSolutions:
    """Sentences of two tokens: the first is not optimal."""
    return ChainSolutions(
        decoder="X",
        labels=np.arange(6, dtype=np.int32),
        offsets=np.arange(0, 7, 2),
        scores=np.arange(3, dtype=np.float64),
        bounds=np.array([1.0, 1.0, 2.0]),
        tolerances=np.full(3, 1e-9),
        scales=np.arange(3, dtype=np.float64),
        iterations=np.ones(3, dtype=np.int64),
    )


def test_items_are_what_the_columns_say():
    first, second, third = batch()
    assert type(second) is ChainSolution and type(second.certificate) is Certificate
    assert first.labels.tolist() == [0, 1] and third.labels.tolist() == [4, 5]
    assert first.certificate == Certificate.from_bound("X", 0.0, 1.0, tolerance=1e-9, iterations=1)
    assert second.certificate.is_optimal
    solutions = batch()
    assert len(solutions) == 3 and solutions[-1] is list(solutions)[2] is solutions[1:][1]


def test_items_are_frozen_and_travel():
    solutions = Viterbi().decode_batch(ChainModel([[1, 0], [0, 1]]), np.eye(2), [1, 1])
    for made in (
        pickle.loads(pickle.dumps(solutions)),
        copy.deepcopy(solutions),
        list(map(copy.copy, solutions)),
        [replace(solution) for solution in solutions],
    ):
        for one, other in zip(made, solutions, strict=True):
            assert np.array_equal(one.labels, other.labels)
            assert one.certificate == other.certificate
            assert hash(one.certificate) == hash(other.certificate)
    with pytest.raises(FrozenInstanceError):
        solutions[0].labels = None
