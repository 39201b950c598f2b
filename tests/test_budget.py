"""Budgets allow something, and end."""

import math

import numpy as np
import pytest

from spacy_decoders import Budget, ProblemError
from spacy_decoders.budget import Compiling


def test_a_budget_in_seconds_ends():
    clock = Budget(seconds=1e-9).start()
    assert clock.exhausted()
    assert clock.seconds_left == 0.0
    assert not Budget().start().exhausted(10**9)


@pytest.mark.parametrize(
    ("name", "values"), [("seconds", [0, math.nan, "1", True]), ("iterations", [0, 1.5, math.inf])]
)
def test_a_budget_of_nothing_or_no_number_is_refused(name, values):
    for value in values:
        with pytest.raises(ProblemError, match=f"budget: {name}"):
            Budget(**{name: value})
    assert type(Budget(seconds=np.float32(2)).seconds) is float


def test_the_clock_stands_still_while_code_is_compiled(monkeypatch, ticks):
    clock = Budget(seconds=2.5).start()
    monkeypatch.setattr(Compiling, "seconds", Compiling.seconds + 60.0)
    assert [clock.seconds_left for _ in range(3)] == [61.5, 60.5, 59.5]
    monkeypatch.setattr(Compiling, "seconds", Compiling.seconds - 60.0)
    assert clock.exhausted()
