"""Word clusters: the table, and the files it is read from."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language

from spacy_decoders.errors import ProblemError, StorageError
from spacy_decoders.models.clusters.sources import (
    WordClusters,
    clusters_of_paths,
    path_number,
)
from spacy_decoders.models.clusters.table import FOLDER, ClusterTable
from spacy_decoders.models.saved import packed

PATHS = "0010\tMonday\t4\n0010\tTuesday\t2\n01\truns\t10\n\n111\tthe\t90\n"


def test_a_word_is_found_in_other_cases():
    table = ClusterTable.of({"Monday": 5, "nasa": 3}, {"monday": 300})
    assert table.lookup(["Monday", "monday", "MONDAY", "Nasa", "x"]).tolist() == [
        [5, 300], [5, 300], [5, 300], [3, 0], [0, 0]
    ]  # fmt: skip
    assert ClusterTable.of({}).lookup(["x"]).tolist() == [[0, 0]]


def test_a_table_survives_bytes():
    rng = random.Random(0)
    words = {f"w{i}": rng.randrange(1 << 31) for i in range(500)}
    table = ClusterTable.of(words, {"w3": 65535})
    back = ClusterTable.from_bytes(table.to_bytes())
    np.testing.assert_array_equal(back.lookup([*words, "no"]), table.lookup([*words, "no"]))
    assert back.lookup(list(words))[:, 0].tolist() == list(words.values())
    assert (np.diff(back.keys.astype(np.int64)) > 0).all()


@pytest.mark.parametrize(
    "changes",
    [
        {1: np.full(3, 60000, np.uint16)},
        {1: np.zeros(1, np.uint16)},
        {3: np.zeros(1, np.uint16)},
        {2: np.zeros(0, np.uint32)},
        {0: np.arange(1, 3000, dtype=np.uint32)},
        {0: np.array([4, 0, 3], np.uint32)},
    ],
)
def test_damaged_tables_are_refused(changes):
    columns = srsly.msgpack_loads(ClusterTable.of({"a": 3, "b": 5, "c": 3}).to_bytes())
    for place, column in changes.items():
        columns[place] = packed(column)
    with pytest.raises(StorageError, match=r"clusters.*: the saved model is damaged"):
        ClusterTable.from_bytes(srsly.msgpack_dumps(columns))


def test_damaged_bytes_of_tables_are_refused():
    data = ClusterTable.of({f"w{i}": i for i in range(99)}).to_bytes()
    cut = [data[:length] for length in range(len(data))]
    columns = srsly.msgpack_loads(data)
    short = [*columns[:2], zlib.compress(b"12345"), columns[3]]
    for damaged in (*cut, *map(srsly.msgpack_dumps, (columns[:3], {}, [1, 2, 3, 4], short))):
        with pytest.raises(StorageError, match="the saved model is damaged"):
            ClusterTable.from_bytes(damaged)


def test_paths_are_read_with_the_root_in_the_lowest_bit(tmp_path: Path):
    (tmp_path / "paths").write_text(PATHS)
    table = clusters_of_paths(tmp_path / "paths")
    monday, tuesday, runs, the = table.lookup(["Monday", "tuesday", "runs", "the"]).tolist()
    assert monday[0] == tuesday[0] == path_number("0010") == 0b10100
    assert runs[0] & 1 == monday[0] & 1 == 0 and the[0] & 1 == 1
    # frequency classes: the rarer, the higher
    assert the[1] >> 8 < runs[1] >> 8 <= monday[1] >> 8
    assert WordClusters(path=tmp_path / "paths").read().lookup(["the"]).tolist() == [the]


@pytest.mark.parametrize("line", ["12\tword\t3", "01", "0" * 32 + "\tword", "\tword\t1"])
def test_files_of_other_kinds_are_refused(line, tmp_path: Path):
    (tmp_path / "paths").write_text(PATHS + line + "\n")
    with pytest.raises(ProblemError, match="paths, line 6: expected bits"):
        clusters_of_paths(tmp_path / "paths")


def test_a_source_is_one_of_two():
    for given in ({}, {"lang": "en", "path": "paths"}):
        with pytest.raises(ProblemError, match="either a language, lang, or a file"):
            WordClusters(**given)
    with pytest.raises(ProblemError, match="clusters: none ship for 'xx'"):
        WordClusters("xx").read()
    with pytest.raises(ProblemError, match="65,536 paths"):
        ClusterTable.of({str(i): i for i in range(70_000)})


def test_english_clusters():
    table = WordClusters("en").read()
    words = ["Monday", "Friday", "Paris", "vietnam", "house"]
    (monday, friday, paris, *_), classes = table.lookup(words).T.tolist()
    assert monday == friday != paris
    # "vietnam" is mostly written in title case
    assert classes[3] % 16 > classes[4] % 16


class Source:
    """Clusters as a config's source gives them."""

    def read(self) -> ClusterTable:
        return ClusterTable.of({"Rome": 0b101, "Oslo": 0b101, "runs": 0b10}, {"rome": 300})


def cluster_pipeline() -> Language:
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    build = spacy.registry.architectures.get
    attributes = {"attrs": ["NORM"], "rows": [50], "include_static_vectors": False}
    hashed = build("spacy.MultiHashEmbed.v2")(width=8, **attributes)
    embed = build("spacy-decoders.ClusterEmbed.v1")(hashed, Source(), width=16, cluster_width=4)
    encode = build("spacy.MaxoutWindowEncoder.v2")(16, 1, 2, 1)
    nlp.add_pipe("tok2vec").model = build("spacy.Tok2Vec.v2")(embed, encode)
    return nlp


def test_a_network_knows_clusters_and_keeps_them():
    nlp = cluster_pipeline()
    nlp.initialize()
    model = nlp.get_pipe("tok2vec").model
    layer = next(node for node in model.walk() if node.name == "word_clusters")
    memory = layer.shims[0]
    (rows,) = memory.features([nlp.make_doc("Rome Oslo runs fast")])
    rome, oslo, runs, other = rows.tolist()
    assert rome[:4] == oslo[:4] == [5, 5, 5, 5] and rome[4:] == [1, 44]
    assert runs[:4] == [2, 2, 2, 2] and other == [0] * 6
    docs = [nlp.make_doc("Rome runs ."), nlp.make_doc("")]
    vectors, backprop = model.begin_update(docs)
    assert [of_doc.shape for of_doc in vectors] == [(3, 16), (0, 16)]
    backprop([np.ones_like(of_doc) for of_doc in vectors])
    tables = [node for node in model.walk() if node.name == "hashembed"]
    assert len(tables) >= 6 and all(table.has_grad("E") for table in tables)
    loaded = cluster_pipeline().from_bytes(nlp.to_bytes()).get_pipe("tok2vec").model
    np.testing.assert_array_equal(loaded.predict(docs)[0], model.predict(docs)[0])


def test_groups_of_english_ship():
    table = WordClusters("en", kind="groups").read()
    iraq, also_iraq, city = table.lookup(["Fallujah", "basra", "Toronto"])[:, 0].tolist()
    assert iraq & 63 == also_iraq & 63
    assert iraq != city
    assert len(table) > 150_000
    # a saved model names the table, it has no copy
    assert table.to_bytes().startswith(b"table:")
    assert next(FOLDER.glob("groups-en-*")).name.split("-")[-1].encode() in table.to_bytes()
    with pytest.raises(ProblemError, match="groups: none ship for 'de'"):
        WordClusters("de", kind="groups").read()
