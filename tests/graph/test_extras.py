"""PageRank against networkx, and what is read from its graphs."""

import networkx
import numpy as np
import pytest

from spacy_decoders.decoders.representatives import RepresentativesProblem
from spacy_decoders.errors import ProblemError
from spacy_decoders.graph import ConceptGraph


@pytest.mark.parametrize("seed", range(25))
def test_page_ranks_are_those_of_networkx(seed):
    edges = np.random.default_rng(seed).integers(14, size=(22, 2)) * 3 - 5
    graph = ConceptGraph.from_edges(edges)
    reference = networkx.Graph()
    reference.add_nodes_from(graph.vertices.tolist())
    reference.add_edges_from((a, b) for a, b in edges.tolist() if a != b)
    ranks = networkx.pagerank(reference, tol=1e-12, max_iter=1000)
    expected = [ranks[v] for v in graph.vertices.tolist()]
    assert graph.pagerank() == pytest.approx(expected, abs=1e-8)


def test_unsigned_edges():
    graph = ConceptGraph.from_edges(np.array([[0, 1], [1, 2]], np.uint64))
    assert graph.distances([0, 2])[0, 1] == 2


def test_what_is_no_graph_of_networkx():
    with pytest.raises(ProblemError, match="expected a networkx graph; got list"):
        ConceptGraph.from_networkx([(0, 1)])


def test_no_vertices_at_all():
    graph = ConceptGraph.from_edges([[0, 1], [1, 2]])
    graph.index_hubs(1)
    assert graph.distances([]).shape == (0, 0)
    assert graph.hitting([]) == []
    assert RepresentativesProblem.from_graph(graph, []).size == 0
