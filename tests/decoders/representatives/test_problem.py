"""What a problem takes, refuses and charges."""

import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.decoders.representatives import ExactRepresentatives, RepresentativesProblem
from spacy_decoders.graph import ConceptGraph


def test_defaults_for_shared_and_unreachable_vertices():
    graph = ConceptGraph.from_edges([[0, 1], [1, 2], [5, 6]])
    problem = RepresentativesProblem.from_graph(graph, [[0, 2], [2, 5]])
    # 0-2 is the farthest pair: sharing 2 costs as much, and 5 one more
    assert problem.vertices.tolist() == [0, 2, 5]
    assert problem.distances.tolist() == [[2, 2, 3], [2, 2, 3], [3, 3, 2]]
    with pytest.raises(ProblemError, match="connection"):
        RepresentativesProblem.from_graph(graph, [[0]], "full")
    with pytest.raises(ProblemError, match="9 at index 0"):
        RepresentativesProblem.from_graph(graph, [[9]])
    for wrong in (np.nan, "x", [1], 1j, True, 10**400):
        for name in ("same_vertex", "unreachable"):
            with pytest.raises(ProblemError, match=f"^{name}: expected a number"):
                RepresentativesProblem.from_graph(graph, [[0]], **{name: wrong})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]], []), "square"),
        (([[0, 1], [2, 0]], []), "symmetric"),
        (([[0, 0.5], [0.7, 0]], []), r"got 0\.5 at \(0, 1\) but 0\.7 at"),
        (([[0.0, np.nan], [np.nan, 0.0]], []), "distances"),
        (([[0, 1], [1, 0]], [[0, 2]]), r"sets\[0\]"),
        (([[0, 1], [1, 0]], [[0], []]), r"sets\[1\]"),
        (([[0, 1], [1, 0]], [[0]], [[1.0, 2.0]]), r"local\[0\]"),
        (([[0, 1], [1, 0]], [[0]], []), "local"),
        (([[0, 1], [1, 0]], [[0]], [[-np.inf]]), r"local\[0\]"),
        (([[0, 1], [1, 0]], [[0]], [np.array([1j])]), r"local\[0\]: .* dtype complex128"),
        (([[0, 1], [1, 0]], [[0]], None, -1.0), "weight"),
        (([[0, 1], [1, 0]], [[0]], None, "much"), "weight"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ProblemError, match=message):
        RepresentativesProblem(*arguments)


def test_a_set_without_allowed_candidates_is_named():
    problem = RepresentativesProblem([[0, 1], [1, 0]], [[0, 1], [0, 1]], [[0, 0], [np.inf] * 2])
    with pytest.raises(InfeasibleError, match=r"sets\[1\]: all 2 candidates are forbidden"):
        ExactRepresentatives().decode(problem)


def test_marks_of_pairs_without_a_path_are_no_costs():
    apart = np.array([[0, 2.5, -1, -1], [2.5, 0, -1, -1], [-1, -1, 0, 1], [-1, -1, 1, 0]])
    with pytest.raises(ProblemError, match=r"distances: -1 at \(0, 2\).*no path"):
        RepresentativesProblem(apart, [[0, 2], [1, 3]])
    for costs in (
        np.where(apart < 0, -1.5, apart),
        apart + np.eye(4),
        -apart,
        np.array([[0, -1.0], [-1, 0]]),
        np.array([[0, -1.0, 2], [-1, 0, 2], [2, 2, 0]]),  # a path over the last one
    ):
        assert RepresentativesProblem(costs, [[0], [1]]).cost([0, 0]) == costs[0, 1]
