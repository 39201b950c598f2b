"""Vectors of words: kept with a model, and shipped."""

import numpy as np
import pytest
import spacy
import srsly

from spacy_decoders.errors import StorageError
from spacy_decoders.models.clusters.sources import WordClusters, WordVectors
from spacy_decoders.models.clusters.table import VectorTable, words_by_key


def table_of(words: dict[str, list[float]]) -> VectorTable:
    """A table in which each word has a centroid of its own; the width is that of the parts."""
    keys = words_by_key(words)
    rows = np.array([words[word] for word in keys.values()])
    centroids = np.zeros((rows.shape[1], 256, 1), dtype=np.float16)
    centroids[:, : len(rows), 0] = rows.T
    codes = np.repeat(np.arange(len(rows), dtype=np.uint8)[:, None], rows.shape[1], axis=1)
    return VectorTable(np.array(list(keys), dtype=np.uint32), codes, centroids)


def test_words_have_their_vectors_or_those_of_their_lower_case(tmp_path):
    table = table_of({"Rome": [1.0, 0.5], "oslo": [0.0, 2.0]})
    found = table.features(["Rome", "rome", "OSLO", "unheard"])
    assert found.tolist() == [[1.0, 0.5], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    (tmp_path / "table").write_bytes(table.content())
    again = WordVectors(path=tmp_path / "table").read()
    assert again.features(["Rome"]).tolist() == [[1.0, 0.5]]
    assert again.to_bytes() == table.to_bytes()


@pytest.mark.parametrize("field", ["words", "codes", "centroids"])
def test_damaged_vectors_are_refused(field):
    table = table_of({"Rome": [1.0, 0.0], "Oslo": [0.0, 1.0]})
    saved = srsly.msgpack_loads(table.to_bytes())
    for value in (None, b"", saved["words"][:-3], np.full((2, 256, 1), np.nan, np.float16)):
        with pytest.raises(StorageError, match="word vectors"):
            VectorTable.from_bytes(srsly.msgpack_dumps({**saved, field: value}))
    with pytest.raises(StorageError, match="word vectors"):
        VectorTable.from_bytes(None)


@pytest.mark.parametrize("source", [WordClusters(lang="en"), WordVectors(lang="en")])
def test_shipped_tables_are_named_in_saved_models(source):
    table = source.read()
    name = table.to_bytes()
    assert len(name) < 40 and type(table).from_bytes(name) is type(table).from_bytes(name)
    with pytest.raises(StorageError, match="has no table 'unheard'"):
        type(table).from_bytes(b"table:unheard")


def test_a_network_knows_vectors_and_keeps_them(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(table_of({"Rome": [1, 0], "oslo": [0, 1], "runs": [0, 2]}).content())
    (tmp_path / "paths").write_text("01\tRome\n10\tOslo\n")
    build = spacy.registry.architectures.get

    def pipeline(vectors):
        nlp = spacy.blank("en")
        spacy.util.fix_random_seed(0)
        attributes = {"attrs": ["SHAPE"], "rows": [50], "include_static_vectors": False}
        hashed = build("spacy.MultiHashEmbed.v2")(width=8, **attributes)
        clusters = WordClusters(path=tmp_path / "paths")
        embed = build("spacy-decoders.ClusterEmbed.v1")(
            hashed, clusters, width=8, cluster_width=4, vectors=vectors
        )
        encode = build("spacy.MaxoutWindowEncoder.v2")(8, 1, 2, 1)
        nlp.add_pipe("tok2vec").model = build("spacy.Tok2Vec.v2")(embed, encode)
        return nlp

    nlp = pipeline(WordVectors(path=path))
    nlp.initialize()
    model = nlp.get_pipe("tok2vec").model
    docs = [nlp.make_doc("fast runs"), nlp.make_doc("")]
    vectors, backprop = model.begin_update(docs)
    assert [of_doc.shape for of_doc in vectors] == [(2, 8), (0, 8)]
    assert not np.array_equal(vectors[0][0], vectors[0][1])  # of one shape, without clusters
    backprop([np.ones_like(of_doc) for of_doc in vectors])
    assert any(node.name == "linear" and node.has_grad("W") for node in model.walk())
    clusters = next(node for node in model.walk() if node.name == "word_clusters").shims[0]
    rome, other = clusters.features([nlp.make_doc("Rome fast")])[0].tolist()
    assert any(rome) and not any(other)
    path.write_bytes(table_of({"fast": [3, 1]}).content())  # another word
    nlp.initialize()
    memory = next(node for node in model.walk() if node.name == "word_vectors").shims[0]
    assert memory.features(docs)[0].tolist() == [[3, 1], [0, 0]]
    path.unlink()
    loaded = pipeline(WordVectors(path=path)).from_bytes(nlp.to_bytes())
    np.testing.assert_array_equal(
        loaded.get_pipe("tok2vec").model.predict(docs)[0], model.predict(docs)[0]
    )
