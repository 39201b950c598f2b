"""A folder from elsewhere is read or refused: it crashes nothing, and nothing outside is read."""

import json
import shutil

import numpy as np
import pytest

from spacy_decoders import ProblemError
from spacy_decoders.errors import StorageError
from spacy_decoders.graph import ConceptGraph
from spacy_decoders.graph.storage import _seal

EDGES = [[10, 20], [20, 30], [40, 50], [20, 50]]


@pytest.fixture
def folder(tmp_path):
    graph = ConceptGraph.from_edges(EDGES)
    graph.index_hubs(2)
    graph.save(tmp_path / "graph")
    return tmp_path / "graph"


def rewritten(folder, name, change):
    """Change an array, and the header such that sizes and checksums fit."""
    array = change(np.load(folder / f"{name}.npy"))
    np.save(folder / f"{name}.npy", array)
    entry = {f"{name}.npy": _seal(folder / f"{name}.npy")}
    header_with(folder, lambda header: header["files"].update(entry))


def with_entry(at, value):
    def change(array):
        array = array.copy()
        array[at] = value
        return array

    return change


def header_with(folder, change):
    path = folder / "graph.json"
    header = json.loads(path.read_text())
    change(header)
    header.pop("sha256")
    path.write_text(json.dumps(header))


def test_saved_and_opened_it_is_the_same(tmp_path, network):
    graph = ConceptGraph.from_networkx(network)
    graph.index_hubs(4)
    graph.save(tmp_path / "graph")
    opened = ConceptGraph.open(tmp_path / "graph", verify=True)
    assert repr(opened) == repr(graph)
    np.testing.assert_array_equal(
        opened.distances(opened.vertices), graph.distances(graph.vertices)
    )
    # saving again, over what is mapped
    opened.save(tmp_path / "graph")
    assert repr(ConceptGraph.open(tmp_path / "graph", verify=True)) == repr(graph)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", with_entry(0, 5)),
        ("indices", with_entry(3, -1)),
        ("indices", with_entry(0, 2**31 - 1)),
        ("indices", lambda array: array[:-1]),
        ("indices", lambda array: array.astype(np.int64)),
        ("indices", lambda array: array[:, None]),
        ("indptr", with_entry(1, 2**62)),
        ("indptr", with_entry(1, -1)),
        ("indptr", with_entry(0, 1)),
        ("indptr", with_entry(-1, 2**40)),
        ("indptr", lambda array: array[:-1]),
        ("indptr", lambda array: array[:0]),
        ("ids", with_entry(0, 30)),
        ("ids", lambda array: array[:2]),
        ("inner", with_entry(0, 5)),
        ("inner", with_entry(0, -1)),
        ("inner", lambda array: np.zeros_like(array)),
        ("inner", lambda array: array[:-1]),
        ("hubs", lambda array: array[:-1]),
        ("hubs", lambda array: np.zeros((5, 6), np.uint8)),
        ("hubs", lambda array: np.zeros((5, 0), np.uint8)),
    ],
)
@pytest.mark.parametrize("verify", [False, True])
def test_numbers_that_lead_out_are_found_on_opening(folder, name, change, verify):
    rewritten(folder, name, change)
    with pytest.raises(StorageError, match=r"\.npy"):
        ConceptGraph.open(folder, verify=verify)


@pytest.mark.parametrize("name", ["../secret.npy", "/etc/passwd", "more.npy"])
def test_a_header_names_no_other_files(folder, name):
    header_with(folder, lambda header: header["files"].update({name: {"size": 1}}))
    with pytest.raises(StorageError, match="no part of a concept graph"):
        ConceptGraph.open(folder)


def test_a_changed_header_fails_the_check(folder):
    path = folder / "graph.json"
    path.write_text(path.read_text().replace("hubs_complete", "hubs"))
    with pytest.raises(StorageError, match=r"graph\.json was changed"):
        ConceptGraph.open(folder, verify=True)
    assert len(ConceptGraph.open(folder)) == 5


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path):
    shutil.move(folder / "indices.npy", tmp_path / "outside.npy")
    (folder / "indices.npy").symlink_to(tmp_path / "outside.npy")
    with pytest.raises(StorageError, match="leads out of the folder"):
        ConceptGraph.open(folder)


@pytest.mark.parametrize(
    "shape", ["(10**30,)", "(99999999999,)", "(-8,)", "(8, 1)", "()", "(7,)", "8", "(8.0,)"]
)
def test_the_header_of_an_array_may_say_anything(folder, shape):
    text = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}"
    head = b"\x93NUMPY\x01\x00" + np.uint16(118).tobytes() + text.ljust(117).encode() + b"\n"
    size = (folder / "indices.npy").stat().st_size
    (folder / "indices.npy").write_bytes(head.ljust(size, b"\x00"))
    with pytest.raises(StorageError, match=r"indices\.npy"):
        ConceptGraph.open(folder)


def test_objects_are_never_unpickled(folder):
    rewritten(folder, "ids", lambda array: array.astype(object))
    with pytest.raises(StorageError, match=r"ids\.npy"):
        ConceptGraph.open(folder)


def test_other_peoples_files_are_not_replaced(folder, tmp_path):
    graph = ConceptGraph.open(folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ProblemError, match="holds something else"):
        graph.save(folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph"]


def test_a_write_that_fails_leaves_the_old_folder(folder, tmp_path, monkeypatch):
    graph = ConceptGraph.open(folder)

    def full(*given, **options):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="no space"):
        graph.save(folder)
    assert len(ConceptGraph.open(folder, verify=True)) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
