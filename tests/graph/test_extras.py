"""Lengths and directions of edges, against networkx."""

import networkx
import numpy as np
import pytest

from spacy_decoders.decoders.representatives import (
    Degree,
    ExactRepresentatives,
    PageRank,
    RepresentativesProblem,
    SpanningTree,
)
from spacy_decoders.errors import ProblemError
from spacy_decoders.graph import ConceptGraph


def drawn(seed, size=14, count=22):
    rng = np.random.default_rng(seed)
    return rng.integers(size, size=(count, 2)) * 3 - 5, rng.uniform(0.1, 4.0, count)


def weighted(edges, lengths):
    graph = networkx.Graph()
    for (a, b), length in zip(edges.tolist(), lengths.tolist(), strict=True):
        if a != b:
            known = graph.get_edge_data(a, b, {"weight": np.inf})["weight"]
            graph.add_edge(a, b, weight=min(length, known))
    return graph


@pytest.mark.parametrize("seed", range(10))
def test_lengths_of_shortest_paths(seed, tmp_path):
    edges, lengths = drawn(seed)
    graph = ConceptGraph.from_edges(edges, weights=lengths)
    reference = dict(networkx.all_pairs_dijkstra_path_length(weighted(edges, lengths)))
    vertices = graph.vertices.tolist()
    expected = [
        [0.0 if a == b else reference.get(a, {}).get(b, -1.0) for b in vertices] for a in vertices
    ]
    graph.save(tmp_path / "graph")
    for one in (graph, ConceptGraph.open(tmp_path / "graph")):
        assert one.distances(vertices) == pytest.approx(np.array(expected))
        found = one.hitting([vertices[:3], vertices[3:5]])
        block = np.array(expected)[:3, 3:5]
        block[block < 0] = np.inf
        nearest = np.where(np.isinf(block.min(axis=1)), -1.0, block.min(axis=1))
        assert found[0][:, 1] == pytest.approx(nearest)


@pytest.mark.parametrize("seed", range(10))
def test_ranks_follow_directions(seed, tmp_path):
    edges, _ = drawn(seed)
    graph = ConceptGraph.from_edges(edges, directed=True)
    reference = networkx.DiGraph()
    reference.add_nodes_from(graph.vertices.tolist())
    reference.add_edges_from((a, b) for a, b in edges.tolist() if a != b)
    ranks = networkx.pagerank(reference, tol=1e-12, max_iter=1000)
    graph.save(tmp_path / "graph")
    for one in (graph, ConceptGraph.open(tmp_path / "graph")):
        assert one.directed
        assert one.in_degree.tolist() == [reference.in_degree(v) for v in one.vertices.tolist()]
        assert one.pagerank() == pytest.approx([ranks[v] for v in one.vertices.tolist()], abs=1e-8)
    undirected = ConceptGraph.from_edges(edges)
    assert (graph.distances(graph.vertices) == undirected.distances(graph.vertices)).all()
    assert not undirected.directed
    assert (undirected.in_degree == undirected.degree).all()


def test_from_networkx_takes_lengths():
    given = networkx.Graph([("a", "b", {"km": 2.5}), ("b", "c")])
    graph = ConceptGraph.from_networkx(given, weight="km")
    assert graph.distances([0, 2]).tolist() == [[0.0, 3.5], [3.5, 0.0]]
    with pytest.raises(ProblemError, match="weight: no edge has the attribute 'typo'"):
        ConceptGraph.from_networkx(given, weight="typo")
    with pytest.raises(ProblemError, match="expected a networkx graph; got list"):
        ConceptGraph.from_networkx([(0, 1)])


def test_decoders_on_lengths_and_directions():
    edges = [[0, 4], [1, 4], [2, 5], [4, 5], [3, 1], [2, 1]]
    graph = ConceptGraph.from_edges(edges, weights=[0.1, 5.0, 0.2, 0.3, 1.0, 1.0], directed=True)
    problem = RepresentativesProblem.from_graph(graph, [[0, 1], [2, 3]])
    solution = ExactRepresentatives().decode(problem)
    assert solution.vertices.tolist() == [0, 2]
    assert solution.certificate.is_optimal
    assert solution.certificate.score == pytest.approx(0.6)
    # nothing leads to 0, 2 and 3
    assert Degree().decode(problem).vertices[0] == 1
    assert PageRank().decode(problem).vertices[0] == 1
    with pytest.raises(ProblemError, match="counts edges"):
        SpanningTree().decode(problem)
    with pytest.raises(ProblemError, match="connection"):
        RepresentativesProblem.from_graph(graph, [[0, 1], [2, 3]], "maximal")


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, np.nan], [1e308, 1e308]])
def test_bad_lengths_are_refused(weights):
    with pytest.raises(ProblemError, match="weights"):
        ConceptGraph.from_edges([[0, 1], [1, 2]], weights=weights)


def test_no_hubs_for_lengths():
    graph = ConceptGraph.from_edges([[0, 1]], weights=[2.0])
    with pytest.raises(ProblemError, match="index_hubs"):
        graph.index_hubs(1)


def test_unsigned_edges():
    edges = np.array([[0, 1], [1, 2]], np.uint64)
    graph = ConceptGraph.from_edges(edges, weights=[1.0, 2.0], directed=True)
    assert graph.distances([0, 2])[0, 1] == 3.0
    assert graph.in_degree.tolist() == [0, 1, 1]


@pytest.mark.parametrize("weights", [None, [1.0, 2.0]])
def test_no_vertices_at_all(weights):
    graph = ConceptGraph.from_edges([[0, 1], [1, 2]], weights=weights)
    if weights is None:
        graph.index_hubs(1)
    assert graph.distances([]).shape == (0, 0)
    assert graph.hitting([]) == []
    assert RepresentativesProblem.from_graph(graph, []).size == 0
