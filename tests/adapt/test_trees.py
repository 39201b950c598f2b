"""Trees and probabilities from arrays of arc scores."""

import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.adapt.trees import ArcParser
from spacy_decoders.decoders.tree import exact_decoder


def worth(arcs, heads):
    return arcs[heads, np.arange(1, len(heads) + 1)].sum()


@pytest.mark.parametrize("projective", [False, True])
def test_a_labelled_tree_is_the_best_of_its_problem(rng, projective):
    parser = ArcParser("heads", projective=projective, normalize=False)
    for _ in range(15):
        n = int(rng.integers(1, 5))
        arcs, labels = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1, n + 1, 3))
        found = parser.decode(arcs, labels)
        assert found.certificate.status == "optimal"
        own = worth(arcs, found.heads)
        own += labels[found.heads, np.arange(1, n + 1), found.labels].sum()
        assert found.certificate.score == pytest.approx(own)
        problem = parser.problem(arcs, labels)
        assert exact_decoder(problem).decode(problem).certificate.score == pytest.approx(own)


def test_arrays_of_other_parsers_have_dependents_first(rng):
    arcs, labels = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 2))
    theirs = ArcParser().decode(arcs, labels)
    ours = ArcParser("heads").decode(arcs.T, labels.transpose(1, 0, 2))
    assert theirs.heads.tolist() == ours.heads.tolist()
    assert theirs.labels.tolist() == ours.labels.tolist()
    assert ArcParser().probabilities(arcs) == pytest.approx(
        ArcParser("heads").probabilities(arcs.T).T
    )


def test_arcs_are_ruled_out(rng):
    ruled = rng.normal(size=(6, 6))
    ruled[1, :4] = -np.inf  # token 1 hangs on 4 or 5
    assert ArcParser().decode(ruled).heads[0] in (4, 5)
    ruled[1, 4:], ruled[2, [0, 2, 3, 4, 5]] = -np.inf, -np.inf  # a cycle of 1 and 2
    ruled[1, 2] = 0.0
    with pytest.raises(InfeasibleError):
        ArcParser().decode(ruled)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"arcs": np.zeros((2, 3))}, "arcs"),
        ({}, {"arcs": np.full((2, 2), np.nan)}, "arcs"),
        ({}, {"labels": np.zeros((2, 2))}, "labels"),
        ({"normalize": "x"}, {}, "normalize"),
        ({"rows": "columns"}, {}, "rows"),
    ],
)
def test_what_is_no_problem_is_refused_by_its_argument(options, given, message):
    with pytest.raises(ProblemError, match=message):
        ArcParser(**options).decode(**{"arcs": np.zeros((2, 2)), **given})
