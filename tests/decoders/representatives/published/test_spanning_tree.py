"""The spanning-tree heuristic, against the exact decoders."""

from spacy_decoders.decoders.representatives import (
    RepresentativesProblem,
    SpanningTree,
)
from spacy_decoders.graph import ConceptGraph


def test_spanning_tree_worked_by_hand():
    # sets {0, 1} and {4, 5} over the path 1 - 2 - 3 - 4: the near ends win
    graph = ConceptGraph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    problem = RepresentativesProblem.from_graph(graph, [[0, 1], [5, 4], [4, 5]])
    solution = SpanningTree().decode(problem)
    # the second and third overlap, are merged, and each takes the near end
    assert solution.vertices.tolist() == [1, 4, 4]
