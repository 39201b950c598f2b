"""A concept graph, however its edges are given, against networkx."""

import networkx
import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.graph import ConceptGraph


def test_degrees_neighbours_and_ranks_are_those_of_networkx(network):
    looped = network.copy()
    looped.add_edge(5, 5)
    graph = ConceptGraph.from_networkx(looped)
    assert len(graph) == len(network) and graph.n_edges == network.number_of_edges()
    assert graph.degree.tolist() == [network.degree[v] for v in range(60)]
    for vertex in network:
        assert graph.neighbours(vertex).tolist() == sorted(network[vertex])
    expected = networkx.pagerank(network, tol=1e-12)
    np.testing.assert_allclose(graph.pagerank(), [expected[v] for v in range(60)], atol=1e-8)
    # inside, vertices go by degree
    assert (np.diff(np.diff(graph.arrays.indptr)) <= 0).all()


def test_largest_component(network):
    whole = ConceptGraph.from_networkx(network)
    part = ConceptGraph.from_edges(list(network.edges), largest_component=True)
    largest = max(networkx.connected_components(network), key=len)
    assert part.vertices.tolist() == sorted(largest)
    some = sorted(largest)[::3]
    np.testing.assert_array_equal(part.distances(some), whole.distances(some))


def test_parquet_gives_the_same_graph(tmp_path, rng):
    edges = rng.integers(0, 40, (80, 2))
    graph = ConceptGraph.from_edges(edges)
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    table = pyarrow.table({"from": edges[:, 0], "to": edges[:, 1]})
    parquet.write_table(table, tmp_path / "edges.parquet")
    for same in (
        ConceptGraph.from_parquet(tmp_path / "edges.parquet"),
        ConceptGraph.from_edges(edges[::-1, ::-1].astype(np.int32)),
    ):
        assert same.vertices.tolist() == graph.vertices.tolist()
        np.testing.assert_array_equal(
            same.distances(graph.vertices), graph.distances(graph.vertices)
        )

    with pytest.raises(ProblemError, match=r"columns: expected two of .'from', 'to'.*got"):
        ConceptGraph.from_parquet(tmp_path / "edges.parquet", columns=("from", "until"))
    (tmp_path / "text.parquet").write_text("1 2", encoding="utf8")
    with pytest.raises(ProblemError, match=r"path: .*text.parquet can't be read as parquet"):
        ConceptGraph.from_parquet(tmp_path / "text.parquet")


@pytest.mark.parametrize("edges", [[[1, 2, 3]], [[0.5, 1.0]]])
def test_bad_edges_are_refused(edges):
    with pytest.raises(ProblemError, match="edges"):
        ConceptGraph.from_edges(edges)


def test_unknown_vertices_and_bad_options_are_named():
    graph = ConceptGraph.from_edges([[1, 2]])
    with pytest.raises(ProblemError, match="7 at index 1"):
        graph.distances([1, 7])
    with pytest.raises(ProblemError, match=r"sets\[1\]"):
        graph.hitting([[1], []])
    for count in (0, 2.5):
        with pytest.raises(ProblemError, match="count"):
            graph.index_hubs(count)
    assert graph.contains([1, 7, 0]).tolist() == [True, False, False]
    ends = [-(2**63), 2**63 - 1]  # whose difference is no int64
    assert ConceptGraph.from_edges([ends]).contains([*ends, 0]).tolist() == [True, True, False]
