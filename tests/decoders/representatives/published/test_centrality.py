"""Spanning tree, degree and PageRank on small graphs, by hand."""

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.decoders import representatives as core
from spacy_decoders.graph import ConceptGraph


def test_degree_and_pagerank_choose_the_most_central():
    graph = ConceptGraph.from_edges([[0, 1], [0, 2], [0, 3], [3, 4], [4, 5], [4, 6], [6, 7]])
    problem = core.RepresentativesProblem.from_graph(graph, [[1, 0, 3], [5, 4], [7]])
    for decoder in (core.Degree(), core.PageRank()):
        solution = decoder.decode(problem)
        assert solution.vertices.tolist() == [0, 4, 7]
        assert solution.certificate.status == "heuristic"
        assert solution.certificate.score == problem.cost(solution.choices)
    bare = core.RepresentativesProblem(problem.distances, problem.sets)
    for decoder in (core.Degree(), core.PageRank(), core.SpanningTree(), core.Decomposable()):
        with pytest.raises(ProblemError, match="from_graph"):
            decoder.decode(bare)


def test_spanning_tree_worked_by_hand():
    # sets {0, 1} and {4, 5} over the path 1 - 2 - 3 - 4: the near ends win
    graph = ConceptGraph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    problem = core.RepresentativesProblem.from_graph(graph, [[0, 1], [5, 4], [4, 5]])
    solution = core.SpanningTree().decode(problem)
    # the second and third overlap, are merged, and each takes the near end
    assert solution.vertices.tolist() == [1, 4, 4]
