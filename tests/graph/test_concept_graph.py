"""Building, keeping and ranking a concept graph."""

from __future__ import annotations

import gzip
import json

import networkx
import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.graph import ConceptGraph, milne_witten, pointwise_mutual_information


@pytest.fixture
def network() -> networkx.Graph:
    graph = networkx.gnp_random_graph(60, 0.05, seed=3)
    graph.add_edge(5, 5)
    return graph


def plain(network: networkx.Graph) -> networkx.Graph:
    graph = network.copy()
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    return graph


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


def test_named_nodes_become_labels():
    graph = ConceptGraph.from_networkx(networkx.Graph([("köln", "rhine"), ("rhine", "basel")]))
    assert list(graph.labels) == ["köln", "rhine", "basel"]
    assert graph.labels[1:] == ["rhine", "basel"]
    assert graph.distances([0, 2])[0, 1] == 2


def test_files_give_the_same_graph(tmp_path, rng):
    edges = rng.integers(0, 40, (80, 2))
    graph = ConceptGraph.from_edges(edges)
    np.save(tmp_path / "edges.npy", edges)
    lines = "# from\tto\n" + "".join(f"{u}\tlinks\t{v}\n" for u, v in edges)
    with gzip.open(tmp_path / "edges.tsv.gz", "wt") as file:
        file.write(lines)
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    table = pyarrow.table({"from": edges[:, 0], "to": edges[:, 1]})
    parquet.write_table(table, tmp_path / "edges.parquet")
    for same in (
        ConceptGraph.from_npy(tmp_path / "edges.npy"),
        ConceptGraph.from_tsv(tmp_path / "edges.tsv.gz", columns=(0, 2)),
        ConceptGraph.from_parquet(tmp_path / "edges.parquet"),
        ConceptGraph.from_edges(edges[::-1, ::-1].astype(np.int32), progress=False),
    ):
        assert same.vertices.tolist() == graph.vertices.tolist()
        np.testing.assert_array_equal(
            same.distances(graph.vertices), graph.distances(graph.vertices)
        )


def test_names_in_a_file_become_labels(tmp_path):
    (tmp_path / "named.tsv").write_text("a\tb\nb\tc\n", encoding="utf-8")
    graph = ConceptGraph.from_tsv(tmp_path / "named.tsv")
    assert list(graph.labels) == ["a", "b", "c"] and graph.distances([0, 2])[0, 1] == 2
    (tmp_path / "short.tsv").write_text("a\n", encoding="utf-8")
    with pytest.raises(ProblemError, match="line 1"):
        ConceptGraph.from_tsv(tmp_path / "short.tsv")


def test_saved_and_opened_it_is_the_same(tmp_path, network):
    graph = ConceptGraph.from_networkx(networkx.relabel_nodes(network, str))
    graph.index_hubs(4)
    graph.save(tmp_path / "graph")
    opened = ConceptGraph.open(tmp_path / "graph", verify=True)
    assert list(opened.labels) == list(graph.labels)
    assert repr(opened) == repr(graph)
    for method in ("hubs", "multi_source", "bfs"):
        np.testing.assert_array_equal(
            opened.distances(opened.vertices, method=method), graph.distances(graph.vertices)
        )
    # saving again, over what is mapped
    opened.save(tmp_path / "graph")
    assert repr(ConceptGraph.open(tmp_path / "graph", verify=True)) == repr(graph)


def test_an_empty_graph_can_be_kept(tmp_path):
    graph = ConceptGraph.from_edges(np.empty((0, 2), dtype=int))
    graph.save(tmp_path)
    assert len(ConceptGraph.open(tmp_path)) == 0 and graph.pagerank().shape == (0,)


def test_damaged_folders_are_refused(tmp_path, network):
    def saved():
        folder = tmp_path / "graph"
        ConceptGraph.from_networkx(network).save(folder)
        return folder

    with pytest.raises(ProblemError, match="no concept graph"):
        ConceptGraph.open(tmp_path / "nowhere")
    indices = saved() / "indices.npy"
    whole = indices.read_bytes()
    indices.write_bytes(whole[:-4])
    with pytest.raises(ProblemError, match="cut short"):
        ConceptGraph.open(tmp_path / "graph")
    indices.write_bytes(b"x" * len(whole))
    with pytest.raises(ProblemError, match="no array file"):
        ConceptGraph.open(tmp_path / "graph")
    indices.write_bytes(whole[:-1] + b"\x7f")
    with pytest.raises(ProblemError, match="checksum"):
        ConceptGraph.open(tmp_path / "graph", verify=True)
    indices.unlink()
    with pytest.raises(ProblemError, match="missing"):
        ConceptGraph.open(tmp_path / "graph")
    header = saved() / "graph.json"
    for text, message in [
        ("[]", "not the header"),
        ("{", "damaged"),
        (json.dumps({**json.loads(header.read_text()), "version": 99}), "version 99"),
    ]:
        header.write_text(text, encoding="utf-8")
        with pytest.raises(ProblemError, match=message):
            ConceptGraph.open(tmp_path / "graph")


def test_bad_edges_are_refused():
    with pytest.raises(ProblemError, match="edges"):
        ConceptGraph.from_edges([[1, 2, 3]])
    with pytest.raises(ProblemError, match="edges"):
        ConceptGraph.from_edges([[0.5, 1.0]])
    with pytest.raises(ProblemError, match="count"):
        ConceptGraph.from_edges([[1, 2]]).index_hubs(0)


def test_relatedness_follows_its_formula(network):
    graph = ConceptGraph.from_networkx(network)
    network = plain(network)
    chosen = list(range(0, 60, 5))
    costs = milne_witten(graph, chosen)
    information = pointwise_mutual_information(graph, chosen)
    for i, u in enumerate(chosen):
        for j, v in enumerate(chosen):
            a, b = set(network[u]), set(network[v])
            shared = len(a & b)
            if u == v or not shared:
                assert costs[i, j] == (0 if u == v else 1)
                assert information[i, j] == (1 if u == v else -1)
                continue
            small, large = sorted((len(a), len(b)))
            cost = (np.log(large) - np.log(shared)) / (np.log(60) - np.log(small))
            assert costs[i, j] == pytest.approx(min(1, cost))
            gain = np.log(60 * shared / (small * large)) / -np.log(shared / 60)
            assert information[i, j] == pytest.approx(gain)
