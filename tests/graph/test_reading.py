"""Edges from files and from networkx."""

from __future__ import annotations

import gzip

import networkx
import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.graph import ConceptGraph


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


def test_a_byte_order_mark_is_no_name(tmp_path):
    (tmp_path / "edges.tsv").write_text("0\t1\n1\t2\n", encoding="utf-8-sig")
    graph = ConceptGraph.from_tsv(tmp_path / "edges.tsv")
    assert graph.vertices.tolist() == [0, 1, 2] and graph.labels is None
