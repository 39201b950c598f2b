"""A problem stays what it was checked as, whatever the caller does with its arrays."""

import copy
import pickle

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.decoders.path import ExactPath, PathProblem, SubtreeProblem, TreeKnapsack
from spacy_decoders.decoders.representatives import ExactRepresentatives, RepresentativesProblem
from spacy_decoders.decoders.tree import BranchAndBound, Factors, TreeProblem

#: What makes each problem, the shapes of its arrays, and what else it takes.
PROBLEMS = {
    "chain": (ChainModel, {"transitions": (3, 3), "start": (3,), "end": (3,)}, {}),
    "path": (PathProblem, {"start": (3,), "weights": (3, 3), "end": (3,)}, {"classes": [0, 1, 2]}),
    "tree": (TreeProblem, {"arcs": (3, 3), "grandparents": (3, 3, 3), "siblings": (3, 3, 3)}, {}),
    "factors": (Factors, {"scores": (1,)}, {"arcs": [[0, 1]], "offsets": [0, 1]}),
    "representatives": (RepresentativesProblem, {"distances": (3, 3)}, {"sets": [[0], [1, 2]]}),
    "subtree": (SubtreeProblem, {"scores": (2,)}, {"parents": [-1, 0], "sizes": [1, 1]}),
}
#: What decodes some of them, with what else it takes, and the array of the solution.
DECODED = {
    "path": (ExactPath(), (2,), "vertices"),
    "tree": (BranchAndBound(), (), "heads"),
    "representatives": (ExactRepresentatives(), (), "choices"),
    "subtree": (TreeKnapsack(), (2,), "nodes"),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_the_caller_changes_later_changes_no_problem(name, dtype):
    make, shapes, others = PROBLEMS[name]
    arrays = {of: np.zeros(shape, dtype=dtype) for of, shape in shapes.items()}
    problem = make(**arrays, **others)
    for of, array in arrays.items():
        array[...] = 7
        assert (getattr(problem, of) != 7).all(), of


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))]
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_copies_are_as_immutable(name, copied):
    make, shapes, others = PROBLEMS[name]
    problem = copied(make(**{of: np.zeros(shape) for of, shape in shapes.items()}, **others))
    assert not any(getattr(problem, of).flags.writeable for of in shapes)
    if name in DECODED:
        decoder, more, of = DECODED[name]
        solution = copied(decoder.decode(problem, *more))
        assert not getattr(solution, of).flags.writeable
