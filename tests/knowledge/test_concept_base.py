"""A concept base gives back what went in, and says what is wrong with a damaged folder."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import spacy_decoders
from spacy_decoders import ProblemError
from spacy_decoders.errors import StorageError
from spacy_decoders.knowledge.concept_base import ConceptBase, write_concept_base
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.sources.concept_files import ConceptFile

MADE_UP = Path(__file__).parent / "made_up.sql"
CONCEPTS = [
    Concept("cat", "Jaguar", {"Jaguar": 3, "big cat": 1}, ("jungle",), "a spotted cat"),
    Concept("car", "Jaguar Cars", {"Jaguar": 1}, (), "a maker of cars"),
    Concept("jungle", "Jungle", {"jungle": 1}, ("cat", "nowhere"), "a forest"),
    Concept("cat", "Impostor", {"x": 1}),
]


@pytest.fixture
def base(tmp_path):
    return ConceptBase.open(write_concept_base(tmp_path / "kb", CONCEPTS, source="test"))


def test_everything_is_found_again(base):
    assert len(base) == 3
    cat, car, jungle = map(base.number, ("cat", "car", "jungle"))
    assert sorted((cat, car, jungle)) == [0, 1, 2]
    assert base.number("nowhere") == -1
    assert [base.id(i) for i in (cat, car, jungle)] == ["cat", "car", "jungle"]
    assert base.titles[car] == "Jaguar Cars"
    assert base.descriptions[jungle] == "a forest"
    concepts, priors = base.aliases.candidates("JAGUAR")
    assert concepts.tolist() == [cat, car]
    assert priors.tolist() == [0.75, 0.25]
    np.testing.assert_array_equal(
        base.graph.distances([cat, jungle, car]), [[0, 1, -1], [1, 0, -1], [-1, -1, 0]]
    )
    assert base.text.find("spotted", 5)[0].tolist() == [cat]
    base.verify()


def test_a_base_may_be_built_again_but_nothing_else_is_overwritten(base, tmp_path):
    assert len(ConceptBase.open(write_concept_base(base.folder, CONCEPTS[:1]))) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(ProblemError, match="holds something else"):
        write_concept_base(tmp_path / "mine", CONCEPTS[:1])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda kb: (kb / "manifest.json").unlink(), "has no manifest.json"),
        (lambda kb: (kb / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda kb: (kb / "concepts.sqlite").unlink(), "concepts.sqlite is missing"),
        (lambda kb: (kb / "concepts.sqlite").write_bytes(b"x"), "has 1 bytes instead of"),
    ],
)
def test_damage_is_named(base, damage, message):
    damage(base.folder)
    with pytest.raises(ProblemError, match=message):
        ConceptBase.open(base.folder)


def test_another_version_is_refused_and_replaced(base):
    path = base.folder / "manifest.json"
    header = json.loads(path.read_text())
    (base.folder / "ids.codes.npy").write_bytes(b"of version 0.2")
    files = {"ids.codes.npy": {"size": 14}, **header["files"]}
    path.write_text(json.dumps({**header, "version": 2, "files": files}))
    with pytest.raises(StorageError, match=r"version 2, by .*: build it again with .*kb build"):
        ConceptBase.open(base.folder)
    assert len(ConceptBase.open(write_concept_base(base.folder, CONCEPTS))) == 3
    assert not (base.folder / "ids.codes.npy").exists()


def test_a_newer_version_asks_for_an_upgrade(base):
    path = base.folder / "manifest.json"
    header = {**json.loads(path.read_text()), "version": 4, "package": "9.1"}
    path.write_text(json.dumps(header))
    with pytest.raises(StorageError, match=r"version 4, by spacy-decoders 9\.1; .*: upgrade it"):
        ConceptBase.open(base.folder)


@pytest.mark.parametrize("live", [False, True])
def test_a_changed_manifest_fails_the_check(base, live):
    ConceptBase.open(base.folder, live=live).verify()
    path = base.folder / "manifest.json"
    header = json.loads(path.read_text())
    for damage in ({"source": "other"}, {"files": {}}, {"more": 1}):
        path.write_text(json.dumps({**header, **damage}))
        with pytest.raises(StorageError, match=r"manifest\.json was changed"):
            ConceptBase.open(base.folder).verify()


def test_a_changed_file_fails_the_check(base):
    path = base.folder / "concepts.sqlite"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ProblemError, match="was changed"):
        ConceptBase.open(base.folder).verify()


def test_links_to_unknown_concepts_are_left_out_with_a_warning(tmp_path):
    concepts = [{"id": "cat", "links": ["car", "nowhere", "elsewhere"]}, {"id": "car"}]
    message = "2 links to unknown concepts, such as of 'cat' to 'nowhere'"
    for folder in (None, tmp_path / "kb"):
        with pytest.warns(UserWarning, match=message):
            base = ConceptBase.build(concepts, folder)
        assert base.describe("cat")["links"] == ["car"]


def test_the_concepts_that_ship_are_sound():
    source = ConceptFile(Path(spacy_decoders.__file__).parent / "data/concepts/concepts.tsv")
    fresh = ConceptBase.build(source)
    assert source.bad.count == fresh.manifest["lost_links"] == 0
    assert len(fresh) > 400
    assert fresh.graph.degree.all(), "a concept without links can't be linked by them"
    base = ConceptBase.open(Path(spacy_decoders.__file__).parent / "data/concepts/base")
    items = [known.qid for known in base.known(range(len(base)))]
    known = [item for item in items if item]
    assert len(known) == len(set(known)) > 250
    assert items[base.number("mercury_planet")] == "Q308"
    assert base.url(base.number("mercury_planet")) == "https://www.wikidata.org/wiki/Q308"


def changed(base, *statements):
    """Change the database of a base behind its back, and make the header fit."""
    path = base.folder / "concepts.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    header = json.loads((base.folder / "manifest.json").read_text())
    header["files"][path.name] = {"size": path.stat().st_size, "sha256": "0" * 64}
    (base.folder / "manifest.json").write_text(json.dumps(header))


def ask(base):
    for mention in ("Jaguar", "big cat"):
        base.look_up(mention)
    base.text.find("Jaguar", 5)
    base.title_words.surprise(["jaguar"])
    return list(base)


@pytest.mark.parametrize(
    "statement",
    MADE_UP.read_text(encoding="utf8").splitlines(),
)
def test_a_made_up_database_is_refused(base, statement):
    ask(base)
    folder = base.folder
    changed(base, statement)
    with pytest.raises(StorageError, match=r"concepts\.sqlite|is not the graph of"):
        ask(ConceptBase.open(folder))


def test_what_was_replaced_is_not_mixed_with_what_is_open(base):
    write_concept_base(base.folder, CONCEPTS[1:])
    assert base.number("cat") >= 0
    with ThreadPoolExecutor(1) as pool, pytest.raises(StorageError, match="was replaced"):
        pool.submit(base.number, "cat").result()
