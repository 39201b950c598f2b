"""A base that is changed while in use answers as one that was built with the changes."""

import gc
import multiprocessing
import os
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from spacy_decoders import ConceptBase, ProblemError
from spacy_decoders.errors import StorageError
from spacy_decoders.knowledge import edits
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.contents import write_concept_base
from spacy_decoders.knowledge.database import NAME

CONCEPTS = [
    {"id": "planet", "title": "Mercury (planet)", "aliases": {"Mercury": 60}, "links": ["sun"]},
    {
        "id": "element",
        "title": "Mercury (element)",
        "aliases": {"mercury": 30, "quicksilver": 2},
        "links": ["thermometer"],
        "description": "a liquid metal",
        "text": "It is liquid at room temperature.",
        "type": "substance",
        "qid": "Q925",
        "url": "https://example.org/mercury",
    },
    {"id": "sun", "title": "Sun", "aliases": ["the sun"], "type": "star"},
    {"id": "thermometer", "title": "Thermometer", "links": ["sun"]},
]
NEW = {
    "id": "roman",
    "title": "Mercury (god)",
    "aliases": {"Mercury": 10, "Mercurius": 1},
    "links": ["planet"],
    "description": "a messenger",
    "text": "He wears winged sandals.",
    "type": "god",
}
MENTIONS = ["mercury", "Mercury", "QUICKSILVER", "the Sun", "sun", "Mercurius", "thermometer", "?"]


@pytest.fixture
def base():
    return ConceptBase.build(CONCEPTS, url="https://example.org/{id}")


def answers(base):
    """What does not depend on numbers."""
    found = {mention: base.look_up(mention) for mention in MENTIONS}
    for candidates in found.values():
        for one in candidates:
            one["prior"] = round(one["prior"], 5)
            one["written"] = round(one["written"], 2)
    described = {}
    for concept in base:
        fields = base.describe(concept.id)
        fields["links"] = sorted(fields["links"])
        fields["aliases"] = {alias: round(n, 5) for alias, n in fields["aliases"].items()}
        described[concept.id] = fields
    words = ["sandals", "liquid", "messenger", "quicksilver", "star"]
    texts = {word: {base.id(n) for n in base.text.find(word, 9)[0].tolist()} for word in words}
    return found, described, texts


def test_what_is_known_of_a_concept(base):
    aliases = {"mercury": 30.0, "quicksilver": 2.0, "Mercury (element)": 1.0}
    assert base.describe("element") == {**CONCEPTS[1], "aliases": aliases}
    sun = base.number("sun")
    (known,) = base.known([sun])
    assert (known.type, known.qid, base.url(sun)) == ("star", None, "https://example.org/sun")
    assert base.describe("planet")["type"] is None
    for unknown in ("moon", None, -1):
        with pytest.raises(ProblemError, match=f"there is no {unknown!r}"):
            base.describe(unknown)


def test_capitals_tell_candidates_apart_that_share_an_alias(base):
    small, large = base.look_up("mercury"), base.look_up("Mercury")
    assert [one["id"] for one in small] == [one["id"] for one in large] == ["planet", "element"]
    assert [one["written"] for one in small] == [0.0, 1.0]
    assert [one["written"] for one in large] == [1.0, 0.0]


def test_what_is_told_of_concepts_builds_and_updates_the_same(base):
    base.update("planet", aliases={"Mercury": 60, "mercury": 2, "MERCURY": 3, "tHe wanderer": 1})
    known = answers(base)
    assert answers(ConceptBase.build(base, url="https://example.org/{id}")) == known
    base.update("planet", aliases=base.describe("planet")["aliases"])
    assert answers(base) == known


@pytest.mark.parametrize("stage", ["live", "saved", "pickled"])
def test_changed_it_is_as_if_built_so(base, tmp_path, stage):
    assert not base.changed
    number = base.add(NEW)
    assert number == 4 and base.number("roman") == 4 and len(base) == 5
    base.update("element", aliases={"mercury": 5, "Hg": 1}, links=["sun"], type="metal", qid="Q9")
    base.update("sun", title="Sol", description="our star", url="https://example.org/sol")
    base.remove("thermometer")
    base.remove("planet")
    again = base.add({**CONCEPTS[0], "links": ["roman"]})
    assert again == 5 and len(base) == 4
    assert base.changed
    base = {
        "live": lambda: base,
        "saved": lambda: base.save(tmp_path / "kb"),
        "pickled": lambda: pickle.loads(pickle.dumps(base)),
    }[stage]()
    element = {**CONCEPTS[1], "aliases": {"mercury": 5, "Hg": 1}, "links": ["sun"]}
    element |= {"type": "metal", "qid": "Q9"}
    sun = {
        **CONCEPTS[2],
        "title": "Sol",
        "aliases": {"the sun": 1, "Sun": 1},
        "description": "our star",
        "url": "https://example.org/sol",
    }
    built = ConceptBase.build(
        [{**CONCEPTS[0], "links": ["roman"]}, element, sun, {**NEW, "links": []}],
        url="https://example.org/{id}",
    )
    found, described, texts = answers(base)
    expected = answers(built)
    assert found == expected[0]
    assert described == expected[1]
    assert texts == expected[2]


def test_links_to_unknown_concepts_are_left_out_with_a_warning(base):
    message = "1 link to unknown concepts, such as of 'roman' to 'nowhere'"
    with pytest.warns(UserWarning, match=message):
        base.add({**NEW, "links": ["planet", "nowhere"]})
    with pytest.warns(UserWarning, match=message):
        base.update("roman", links=["nowhere", "sun"])
    assert base.describe("roman")["links"] == ["sun"]


def test_wrong_changes_change_nothing(base):
    for given, message in [
        ({"id": "sun", "title": "x"}, "'sun' exists already"),
        ({"title": "x"}, "no id"),
        ({"id": "x", "name": "y"}, "no field 'name'"),
        ({"id": "x", "qid": "925"}, "qid: "),
        ({"id": "x", "url": "javascript:alert(1)"}, "url: "),
        ({"id": "x", "aliases": {"y": -1}}, "aliases: y"),
        ({"id": "x", "aliases": ["y", None]}, "aliases: None"),
        ({"id": "x", "links": [None]}, "links: 0"),
        ({"id": "x", "links": ["\udfff"]}, "links: 0: .* surrogates"),
        ({"id": "x", "title": "\ud800"}, "title: .* surrogates"),
        ({"id": "x\0"}, "id: .* null character"),
    ]:
        with pytest.raises(ProblemError, match=message):
            base.add(given)
    with pytest.raises(ValueError, match=r"aliases\.y"):
        Concept("x", "x", aliases={"y": 0})
    with pytest.raises(ProblemError, match="id: it can't be changed"):
        base.update("sun", id="sol")
    assert not base.changed and len(base) == 4


def test_link_probabilities_are_kept(tmp_path):
    place = write_concept_base(tmp_path / "kb", map(Concept.of, CONCEPTS))
    with closing(sqlite3.connect(place / NAME)) as connection, connection:
        shares = [(0.25, "mercury"), (0.5, "the sun")]
        connection.executemany("UPDATE candidates SET link = ? WHERE alias = ?", shares)
    base = ConceptBase.open(place)
    base.add(NEW)
    base.update("sun", aliases=["the sun", "our sun"])
    base.update("element", title="Mercurius")
    found = [base.link_probability(name) for name in ("MERCURY", "the sun", "our sun")]
    assert found == [0.25, 0.5, None] and base.look_up("mercurius")[0]["id"] in "roman element"


def test_saved_into_its_own_folder_it_travels_as_it_is(tmp_path):
    names = "abcdefgh"
    built = [{"id": name, "title": f"Title {name}", "links": ["a"]} for name in names]
    base = ConceptBase.build(built, tmp_path / "kb")
    base.add({"id": "new", "title": "New one"})
    base.remove("c")
    assert base.save(tmp_path / "kb") is base and not base.changed
    base.update("e", description="mine")
    base.remove("f")
    for one in (base, pickle.loads(pickle.dumps(base))):
        assert {concept.id for concept in one} == {*names, "new"} - {"c", "f"}
        assert one.describe("e")["description"] == "mine"
        assert one.look_up("new one")[0]["id"] == "new"
        assert one.id(int(one.text.find("new", 1)[0][0])) == "new"


def ask(queue, done, base):
    """In another process: what a name means before and after a change."""
    queue.put([one["id"] for one in base.look_up("mercury")])
    done.wait(60)
    found = [one["id"] for one in base.look_up("mercury")]
    neighbours = base.graph.neighbours(base.number("sun")).tolist()
    queue.put((found, neighbours, base.look_up("Mercurius")[0]["title"]))
    base.update("roman", description="seen there")
    queue.put(base.describe("roman")["description"])


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("live", [False, True])
def test_other_processes_see_changes_at_once(tmp_path, method, live):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method}")
    ConceptBase.build(CONCEPTS, tmp_path / "kb")
    base = ConceptBase.open(tmp_path / "kb", live=live)
    base.update("sun", description="our star")
    base.look_up("mercury")
    context = multiprocessing.get_context(method)
    queue, done = context.Queue(), context.Event()
    other = context.Process(target=ask, args=(queue, done, base))
    other.start()
    assert queue.get(timeout=60) == ["planet", "element"]
    base.add({**NEW, "aliases": {"Mercury": 100, "Mercurius": 1}, "links": ["sun"]})
    base.remove("element")
    done.set()
    found, neighbours, title = queue.get(timeout=60)
    assert (found, title) == (["roman", "planet"], "Mercury (god)")
    assert base.number("roman") in neighbours
    assert queue.get(timeout=60) == "seen there"
    other.join(60)
    assert base.describe("roman")["description"] == "seen there"
    assert ("element" in ConceptBase.open(tmp_path / "kb")) is not live
    assert ("roman" in ConceptBase.open(tmp_path / "kb")) is live


def test_threads_ask_and_change_one_base(tmp_path):
    base = ConceptBase.build(CONCEPTS, tmp_path / "kb")
    numbers = range(60)

    def work(number):
        base.add({"id": f"x{number}", "aliases": ["mercury"], "links": ["sun"]})
        return len(base.look_up("mercury")), base.describe(f"x{number}")["links"]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, numbers))
    assert all(linked == ["sun"] for _, linked in found)
    assert max(count for count, _ in found) == len(base.look_up("Mercury")) == 62
    assert base.graph.degree[base.number("sun")] == 62


def test_a_change_that_fails_changes_nothing(base, monkeypatch):
    def fail(*given):
        raise KeyboardInterrupt

    base.add(NEW)
    before = answers(base)
    monkeypatch.setattr(edits, "_unlink", fail)
    for change in (
        lambda: base.add({"id": "x", "title": "Mercury", "text": "sandals"}),
        lambda: base.update("roman", title="Y", aliases=["mercury"], links=[]),
        lambda: base.remove("planet"),
    ):
        with pytest.raises(KeyboardInterrupt):
            change()
    assert answers(base) == before


def test_a_graph_is_of_one_moment(tmp_path, monkeypatch):
    ConceptBase.build(CONCEPTS, tmp_path / "kb")
    other = ConceptBase.open(tmp_path / "kb", live=True)
    other.add(NEW)
    made = edits.ConceptGraph.from_edges

    def while_others_write(*given, **options):
        monkeypatch.undo()
        other.add({**NEW, "id": "later"})
        return made(*given, **options)

    monkeypatch.setattr(edits.ConceptGraph, "from_edges", while_others_write)
    base = ConceptBase.open(tmp_path / "kb", live=True)
    assert len(base.graph) == len(other.graph) == len(CONCEPTS) + 2


def test_a_live_base_is_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    ConceptBase.build(CONCEPTS, tmp_path / "kb")
    ConceptBase.open(tmp_path / "kb", live=True)
    gc.collect()  # it is closed
    monkeypatch.setattr(os, "access", lambda *_: False)
    names = sorted(file.name for file in (tmp_path / "kb").iterdir())
    for live in (False, True):
        base = ConceptBase.open(tmp_path / "kb", live=live)
        assert len(base) == len(CONCEPTS)
        assert sorted(file.name for file in (tmp_path / "kb").iterdir()) == names
    with pytest.raises(StorageError, match=r"can't be changed .* can be written"):
        base.remove("planet")
    (tmp_path / "kb" / f"{NAME}-wal").write_bytes(b"changes")
    (tmp_path / "kb" / f"{NAME}-shm").symlink_to("missing/file")  # it can't be made
    with pytest.raises(StorageError, match="can't be opened"):
        ConceptBase.open(tmp_path / "kb")
