"""A concept graph, against networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.graph import ConceptGraph
from tests.graph.networks import network as network
from tests.graph.networks import plain


def test_degrees_neighbours_and_ranks_are_those_of_networkx(network):
    graph = ConceptGraph.from_networkx(network)
    network = plain(network)
    assert len(graph) == len(network) and graph.n_edges == network.number_of_edges()
    assert graph.degree.tolist() == [network.degree[v] for v in range(60)]
    for vertex in network:
        assert graph.neighbours(vertex).tolist() == sorted(network[vertex])
    expected = networkx.pagerank(network, tol=1e-12)
    np.testing.assert_allclose(graph.pagerank(), [expected[v] for v in range(60)], atol=1e-8)
    assert graph.pagerank().sum() == pytest.approx(1)
    rough = graph.pagerank(tolerance=0.5)
    assert not np.array_equal(rough, graph.pagerank())


def test_inside_vertices_go_by_degree_and_lists_are_sorted(network):
    arrays = ConceptGraph.from_networkx(network).arrays
    assert (np.diff(np.diff(arrays.indptr)) <= 0).all()
    for v in range(len(arrays.ids)):
        assert (np.diff(arrays.indices[arrays.indptr[v] : arrays.indptr[v + 1]]) > 0).all()


def test_largest_component(network):
    whole = ConceptGraph.from_networkx(network)
    part = ConceptGraph.from_networkx(network, largest_component=True)
    largest = max(networkx.connected_components(network), key=len)
    assert part.vertices.tolist() == sorted(largest)
    some = sorted(largest)[::3]
    np.testing.assert_array_equal(part.distances(some), whole.distances(some))


def test_bad_edges_are_refused():
    with pytest.raises(ProblemError, match="edges"):
        ConceptGraph.from_edges([[1, 2, 3]])
    with pytest.raises(ProblemError, match="edges"):
        ConceptGraph.from_edges([[0.5, 1.0]])
    with pytest.raises(ProblemError, match="count"):
        ConceptGraph.from_edges([[1, 2]]).index_hubs(0)
