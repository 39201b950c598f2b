"""Lies that the check of promises notices."""

import numpy as np
import pytest

from tests.test_verify import PROBLEM, claim

from .judge import Chain, Judge
from .promises import check_solution


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
        ([0, 1], {"status": "bounded", "confidence": 1.0}),
    ],
)
def test_a_lie_about_a_labelling_is_noticed(labels, changes):
    links, rows = np.eye(2, dtype=np.float32), np.array(PROBLEM[1], dtype=np.float32)
    judge = Judge(Chain(links, None, None, rows))
    check_solution(judge, judge.best, claim())
    with pytest.raises(AssertionError):
        check_solution(judge, judge.best, claim(labels, **changes))
