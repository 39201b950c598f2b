"""A base that is changed while in use answers as one that was built with the changes."""

import pickle

import numpy as np
import pytest

from spacy_decoders import ConceptBase, ProblemError, StorageError
from spacy_decoders.knowledge import edits
from spacy_decoders.knowledge.concepts import Concept

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
    "links": ["planet", "nowhere"],
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
    assert base.describe("element") == {
        "id": "element",
        "title": "Mercury (element)",
        "description": "a liquid metal",
        "type": "substance",
        "qid": "Q925",
        "url": "https://example.org/mercury",
        "aliases": {"mercury": 30.0, "quicksilver": 2.0, "mercury (element)": 1.0},
        "links": ["thermometer"],
        "text": "It is liquid at room temperature.",
    }
    sun = base.number("sun")
    assert (base.type(sun), base.qid(sun), base.url(sun)) == (
        "star",
        None,
        "https://example.org/sun",
    )
    assert base.type(base.number("planet")) is None
    with pytest.raises(ProblemError, match="there is no 'moon'"):
        base.describe("moon")


def test_capitals_tell_candidates_apart_that_share_an_alias(base):
    small, large = base.look_up("mercury"), base.look_up("Mercury")
    assert [one["id"] for one in small] == [one["id"] for one in large] == ["planet", "element"]
    assert [one["written"] for one in small] == [0.0, 1.0]
    assert [one["written"] for one in large] == [1.0, 0.0]
    assert base.look_up("mercury", limit=1)[0]["id"] == "planet"


@pytest.mark.parametrize("many", [0, 3, 16])
@pytest.mark.parametrize("stage", ["live", "saved", "pickled"])
def test_changed_it_is_as_if_built_so(base, tmp_path, stage, many, monkeypatch):
    monkeypatch.setattr(edits, "MANY", many)
    assert not base.changed
    number = base.add(NEW)
    assert number == 4 and base.number("roman") == 4 and len(base) == 5
    base.update("element", aliases={"mercury": 5, "Hg": 1}, links=["sun"], type="metal", qid="Q9")
    base.update("sun", title="Sol", description="our star", url="https://example.org/sol")
    base.remove("thermometer")
    base.remove("planet")
    again = base.add({**CONCEPTS[0], "links": ["roman"]})
    assert again == 5
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


def test_removed_concepts_are_nowhere(base):
    planet = base.number("planet")
    base.remove("planet")
    assert "planet" not in base and base.number("planet") == -1
    assert [one["id"] for one in base.look_up("Mercury")] == ["element"]
    assert base.look_up("Mercury")[0]["prior"] == 1.0
    assert base.graph.degree[planet] == 0 and base.graph.neighbours(base.number("sun")).size == 1
    assert base.look_up("mercury (planet)") == []
    assert "mercury (planet)" not in base.aliases
    for call in (base.describe, base.remove, base.update):
        with pytest.raises(ProblemError, match="there is no"):
            call("planet")


def test_wrong_changes_change_nothing(base):
    for given, message in [
        ({"id": "sun", "title": "x"}, "'sun' is there already"),
        ({"title": "x"}, "no id"),
        ({"id": "x", "name": "y"}, "no field 'name'"),
        ({"id": "x", "qid": "925"}, "qid: expected Q and a number"),
        ({"id": "x", "url": "javascript:alert(1)"}, "url: expected http"),
        ({"id": "x", "aliases": {"y": -1}}, "count of 'y'"),
    ]:
        with pytest.raises(ProblemError, match=message):
            base.add(given)
    with pytest.raises(ProblemError, match="id: it can't be changed"):
        base.update("sun", id="sol")
    assert not base.changed and len(base) == 4


def test_link_probabilities_are_kept(base):
    assert base.link_probability("mercury") is None
    rows = base.aliases.find(["mercury", "the sun"])
    base.aliases = base.aliases.with_links(rows, np.array([0.25, 0.5], np.float32))
    base.add(NEW)
    assert base.link_probability("MERCURY") == 0.25 and base.link_probability("sun") is None
    saved = base.save(base.folder.parent / "other")
    assert saved.link_probability("the sun") == 0.5 and saved.link_probability("mercury") == 0.25
    assert np.isnan(saved.aliases.link_probabilities(saved.aliases.find(["sun", "?"]))).all()


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


def test_changes_are_not_repeated_on_another_base(tmp_path):
    base = ConceptBase.build([{"id": name} for name in "abc"], tmp_path / "kb")
    base.remove("b")
    travelling = pickle.dumps(base)
    ConceptBase.build([{"id": name} for name in "xyz"], tmp_path / "kb")
    with pytest.raises(StorageError, match="was replaced"):
        pickle.loads(travelling)


def test_a_changed_concept_is_found_by_the_words_of_all():
    base = ConceptBase.build([{"id": str(i), "title": f"Mercury {i}"} for i in range(5)])
    base.update("3", type="planet")
    assert {base.id(n) for n in base.text.find("Mercury", 9)[0].tolist()} == set("01234")


@pytest.mark.parametrize(
    "given",
    [
        {"title": "\ud800"},
        {"links": ["\udfff"]},
        {"aliases": {"y": 1e308}},
        {"aliases": {"y": float("nan")}},
        {"aliases": ["y", None]},
        {"links": [None]},
    ],
)
def test_what_can_not_be_saved_is_not_added(base, given):
    with pytest.raises(ProblemError, match=next(iter(given))):
        base.add({"id": "x", **given})
    if "None" not in repr(given):
        with pytest.raises(ProblemError, match=next(iter(given))):
            base.add(Concept("x", **{"title": "x", **given}))
    assert not base.changed


def test_a_concept_is_found_by_its_item(base):
    base.add({"id": "hg", "qid": "Q925"})
    assert base.numbers_of_qid("Q925") == [base.number("element"), base.number("hg")]
    base.remove("element")
    assert base.numbers_of_qid("Q925") == [base.number("hg")]
    assert base.numbers_of_qid("Q1") == base.numbers_of_qid("hg") == []
