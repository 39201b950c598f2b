"""Word clusters: the table, and the files it is read from."""

import random
import zlib
from pathlib import Path

import numpy as np
import pytest
import srsly

from spacy_decoders.errors import ProblemError, StorageError
from spacy_decoders.models.clusters.sources import WordClusters, clusters_of_paths, path_number
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


def test_english_clusters():
    table = WordClusters("en").read()
    words = ["Monday", "Friday", "Paris", "vietnam", "house"]
    (monday, friday, paris, *_), classes = table.lookup(words).T.tolist()
    assert monday == friday != paris
    # "vietnam" is mostly written in title case
    assert classes[3] % 16 > classes[4] % 16


def test_groups_of_english_ship():
    table = WordClusters("en", kind="groups").read()
    iraq, also_iraq, city = table.lookup(["Fallujah", "basra", "Toronto"])[:, 0].tolist()
    assert iraq & 63 == also_iraq & 63
    assert iraq != city
    assert len(table) > 150_000
    assert next(FOLDER.glob("groups-en-*")).name.split("-")[-1].encode() in table.to_bytes()
    with pytest.raises(ProblemError, match="groups: none ship for 'de'"):
        WordClusters("de", kind="groups").read()
