"""Lies that the check of promises notices."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders.certificate import Certificate
from spacy_decoders.decoders.chain import ChainSolution

from .judge import Chain, Judge
from .promises import check_solution

#: 0 1 is worth 4.5, 0 0 is worth 4, 1 1 is worth 2.5 and 1 0 nothing.
ROWS = np.array([[3, 0], [0, 1.5]], dtype=np.float32)
CHAIN = Chain(np.eye(2, dtype=np.float32), None, None, ROWS)
TRUE = Certificate("X", "optimal", 4.5, 4.5, 0.0, 1e-9, 1.0)


@pytest.mark.parametrize(
    ("labels", "changes"),
    [
        ([0, 0], {}),  # another structure's score
        ([0, 0], {"score": 4.0, "gap": 0.5}),  # optimal with a gap
        ([0, 0], {"score": 4.0, "bound": 4.0}),  # a bound below the optimum
        ([0, 0], {"score": 4.0, "gap": 0.5, "tolerance": 1.0}),  # a tolerance of its own
        ([0, 1], {"tolerance": 1.0}),
        ([0, 1], {"score": 4.5 + 1e-12}),
        ([0, 1], {"bound": 4.5 - 1e-12, "gap": 1e-12}),
        ([0, 1], {"gap": 1e-10}),
        ([0, 1], {"confidence": None}),
        ([0, 1], {"status": "bounded"}),
    ],
)
def test_a_lie_about_a_labelling_is_noticed(labels, changes):
    judge = Judge(CHAIN)
    check_solution(judge, judge.best, ChainSolution(np.array([0, 1], np.int32), TRUE))
    lie = ChainSolution(np.array(labels, np.int32), replace(TRUE, **changes))
    with pytest.raises(AssertionError):
        check_solution(judge, judge.best, lie)
