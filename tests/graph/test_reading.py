"""Edges from files and from networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from spacy_decoders.graph import ConceptGraph


def test_named_nodes_become_labels():
    graph = ConceptGraph.from_networkx(networkx.Graph([("köln", "rhine"), ("rhine", "basel")]))
    assert list(graph.labels) == ["köln", "rhine", "basel"]
    assert graph.labels[1:] == ["rhine", "basel"]
    assert graph.distances([0, 2])[0, 1] == 2


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
