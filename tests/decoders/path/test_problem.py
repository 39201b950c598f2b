"""The problem: what it accepts, refuses and computes."""

import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.decoders.path import PathProblem

GOOD = {"start": [0, 1], "weights": [[0, 1], [2, 0]], "end": [0, 0], "classes": [0, 1]}


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("start", [0, np.nan], r"start: every score must be .* index \(1,\)"),
        ("weights", [[0, 1]], r"weights: expected shape \(2, 2\)"),
        ("classes", [0.5, 1.5], r"classes: expected whole numbers"),
    ],
)
def test_bad_arguments_are_named(argument, value, message):
    with pytest.raises(ProblemError, match=message):
        PathProblem(**{**GOOD, argument: value})


def test_lengths_and_vertices_that_no_path_can_have():
    problem = PathProblem(**GOOD)
    with pytest.raises(InfeasibleError, match=r"length: .* 2 classes .* Ask for no more"):
        problem.checked_length(3)
    for wrong in (0, 1.5):
        with pytest.raises(ProblemError, match="length: expected a whole number from 1 on"):
            problem.checked_length(wrong)
    for wrong in ([9], [], [-1, 0], [0, 0], np.array([-1])):
        with pytest.raises(ProblemError, match="vertices: expected one or more numbers below 2"):
            problem.score(wrong)
    with pytest.raises(InfeasibleError):
        PathProblem([], np.zeros((0, 0)), [], np.zeros(0, int)).checked_length(1)
