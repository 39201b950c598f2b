"""Vectors of words: quantised, kept with a model, and shipped."""

import gzip

import numpy as np
import pytest
import spacy
import srsly

from spacy_decoders.errors import ProblemError, StorageError
from spacy_decoders.models.clusters.sources import WordClusters
from spacy_decoders.models.clusters.table import FOLDER, hash_of
from spacy_decoders.models.clusters.vectors import (
    VectorTable,
    WordVectors,
    quantise,
    read_vectors,
)

TEXT = "3 4\nRome 1 0 0.5 0\noslo 0 1 0.5 0\nruns 0 0 0 2\n"


def test_few_vectors_are_kept_as_they_are(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(TEXT)
    table = WordVectors(path=path, parts=3).read()
    found = table.lookup(["Rome", "rome", "OSLO", "runs", "unheard"])
    zeros = [0.0] * 6  # two columns a part
    wanted = [[1, 0, 0.5, 0, 0, 0], zeros, [0, 1, 0.5, 0, 0, 0], [0, 0, 0, 2, 0, 0], zeros]
    np.testing.assert_array_equal(found, np.array(wanted, dtype=np.float32))
    again = VectorTable.from_bytes(table.to_bytes())
    np.testing.assert_array_equal(again.lookup(["Rome"]), found[:1])
    assert again.to_bytes() == table.to_bytes()
    path.with_suffix(".gz").write_bytes(gzip.compress(TEXT.encode()))
    assert len(WordVectors(path=path.with_suffix(".gz"), words=2).read()) == 2


def test_many_vectors_are_near_what_they_were():
    vectors = np.random.default_rng(0).normal(size=(3000, 24)).astype(np.float32)
    errors = []
    for parts in (3, 6, 12):
        found = quantise(vectors, parts).rows(np.arange(3000))
        errors.append(float(((found - vectors) ** 2).mean()))
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.02
    assert not quantise(vectors, 6).rows(np.array([-1])).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no vectors"),
        ("Rome 1 2\nOslo 1\n", "line 2"),
        ("Rome 1 x\n", "line 1"),
        ("Rome 1 nan\n", "line 1"),
    ],
)
def test_files_that_are_none_of_vectors(tmp_path, text, message):
    (tmp_path / "vectors.txt").write_text(text)
    with pytest.raises(ProblemError, match=message):
        WordVectors(path=tmp_path / "vectors.txt").read()


@pytest.mark.parametrize("line", ["c 1.0", "c 1.0 x", "c 1.0 nan", "c", "c 1.0 2.0 3.0"])
def test_lines_that_are_no_vectors_are_refused(line, tmp_path):
    (tmp_path / "v").write_text(f"a 1.0 2.0\nb 1.0 0.5\n{line}\n", encoding="utf8")
    with pytest.raises(ProblemError, match="v, line 3: expected a word and 2 numbers"):
        read_vectors(tmp_path / "v")


def test_a_first_line_of_counts_is_left_out(tmp_path):
    for head in ("", "2 3\n"):
        (tmp_path / "v").write_text(f"{head}a 1 2 3\nb 4 5 6\na 0 0 0\n", encoding="utf8")
        words, rows = read_vectors(tmp_path / "v")
        assert (words, rows.tolist()) == (["a", "b"], [[1, 2, 3], [4, 5, 6]])


def test_sources_are_checked():
    with pytest.raises(ProblemError, match="either"):
        WordVectors()
    with pytest.raises(ProblemError, match="words >= 1"):
        WordVectors(lang="en", parts=0)
    with pytest.raises(ProblemError, match="none of 'xx' ship"):
        WordVectors(lang="xx").read()
    with pytest.raises(ProblemError, match="same length"):
        VectorTable.of({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(ProblemError, match="finite"):
        VectorTable.of({"a": [np.inf]})
    with pytest.raises(ProblemError, match="up to 60,000"):
        VectorTable.of({"a": [1e5]})
    with pytest.raises(ProblemError, match="none of '\\*' ship"):
        WordVectors(lang="*").read()


@pytest.mark.parametrize("field", ["words", "codes", "centroids"])
def test_damaged_vectors_are_refused(field):
    table = VectorTable.of({"Rome": [1.0, 0.0], "Oslo": [0.0, 1.0]}, parts=2)
    saved = srsly.msgpack_loads(table.to_bytes())
    for value in (None, b"", saved["words"][:-3], np.full((2, 256, 1), np.nan, np.float16)):
        with pytest.raises(StorageError, match="word vectors"):
            VectorTable.from_bytes(srsly.msgpack_dumps({**saved, field: value}))
    with pytest.raises(StorageError, match="expected bytes"):
        VectorTable.from_bytes(None)


@pytest.mark.parametrize("source", [WordClusters(lang="en"), WordVectors(lang="en")])
def test_shipped_tables_are_named_in_saved_models(source):
    table = source.read()
    name = table.to_bytes()
    assert len(name) < 40 and type(table).from_bytes(name) is type(table).from_bytes(name)
    with pytest.raises(StorageError, match="has no table 'unheard'"):
        type(table).from_bytes(b"table:unheard")


def test_names_of_shipped_tables_are_hashes_of_their_numbers():
    files = list(FOLDER.glob("*-*-*"))
    assert len(files) >= 2
    for file in files:
        kind, _, name = file.name.split("-")
        source = WordVectors("en") if kind == "vectors" else WordClusters("en", kind=kind)
        assert source.read().to_bytes() == f"table:{name}".encode()
    assert hash_of([np.arange(3)]) != hash_of([np.arange(4)])


def test_vectors_know_words_of_a_kind():
    cities = WordVectors(lang="en").read().lookup(["Boston", "Seattle", "quickly"])
    assert cities[0] @ cities[1] > 2 * abs(cities[0] @ cities[2])


def test_a_network_knows_vectors_and_keeps_them(tmp_path):
    (tmp_path / "vectors.txt").write_text(TEXT)
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

    nlp = pipeline(WordVectors(path=tmp_path / "vectors.txt", parts=2))
    nlp.initialize()
    model = nlp.get_pipe("tok2vec").model
    docs = [nlp.make_doc("fast runs"), nlp.make_doc("")]
    vectors, backprop = model.begin_update(docs)
    assert [of_doc.shape for of_doc in vectors] == [(2, 8), (0, 8)]
    assert not np.array_equal(vectors[0][0], vectors[0][1])  # of one shape, without clusters
    backprop([np.ones_like(of_doc) for of_doc in vectors])
    assert any(node.name == "linear" and node.has_grad("W") for node in model.walk())
    (tmp_path / "vectors.txt").write_text("fast 3 1 0 0\n")  # other words, in other places
    nlp.initialize()
    memory = next(node for node in model.walk() if node.name == "word_vectors").shims[0]
    assert memory.of_tokens(docs[0]) == [0, -1]
    (tmp_path / "vectors.txt").unlink()
    loaded = pipeline(WordVectors(path=tmp_path / "vectors.txt")).from_bytes(nlp.to_bytes())
    np.testing.assert_array_equal(
        loaded.get_pipe("tok2vec").model.predict(docs)[0], model.predict(docs)[0]
    )
