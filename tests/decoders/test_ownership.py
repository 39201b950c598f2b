"""A problem stays what it was checked as, whatever the caller does with its arrays."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.decoders.path import PathProblem
from spacy_decoders.decoders.representatives import RepresentativesProblem
from spacy_decoders.decoders.tree import Factors, TreeProblem


def chain(zeros):
    arrays = {"transitions": zeros(3, 3), "start": zeros(3), "end": zeros(3)}
    return ChainModel(**arrays), arrays


def path(zeros):
    arrays = {"start": zeros(3), "weights": zeros(3, 3), "end": zeros(3)}
    return PathProblem(**arrays, classes=[0, 1, 2]), arrays


def tree(zeros):
    arrays = {"arcs": zeros(3, 3), "grandparents": zeros(3, 3, 3), "siblings": zeros(3, 3, 3)}
    return TreeProblem(**arrays), arrays


def factors(zeros):
    arrays = {"scores": zeros(1)}
    return Factors([[0, 1]], [0, 1], **arrays), arrays


def representatives(zeros):
    arrays = {"distances": zeros(3, 3)}
    return RepresentativesProblem(**arrays, sets=[[0], [1, 2]]), arrays


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [chain, path, tree, factors, representatives])
def test_what_the_caller_changes_later_changes_no_problem(make, dtype):
    problem, arrays = make(lambda *shape: np.zeros(shape, dtype=dtype))
    before = {name: getattr(problem, name).copy() for name in arrays}
    for array in arrays.values():
        array[...] = 7
    for name, values in before.items():
        assert np.array_equal(getattr(problem, name), values), name
