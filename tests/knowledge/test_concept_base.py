"""A concept base gives back what went in, and says what is wrong with a damaged folder."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import spacy_decoders
from spacy_decoders import ProblemError
from spacy_decoders.errors import StorageError
from spacy_decoders.graph import ConceptGraph
from spacy_decoders.knowledge.concept_base import ConceptBase, Contents, write_concept_base
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.sources.concept_files import ConceptFile
from spacy_decoders.knowledge.text_index import TextIndex

CONCEPTS = [
    Concept("cat", "Jaguar", {"Jaguar": 3, "big cat": 1}, ("jungle",), "a spotted cat"),
    Concept("car", "Jaguar Cars", {"Jaguar": 1}, (), "a maker of cars"),
    Concept("jungle", "Jungle", {"jungle": 1}, ("cat", "nowhere"), "a forest"),
    Concept("cat", "Impostor", {"x": 1}),
]


@pytest.fixture
def base(tmp_path):
    contents, _ = Contents.of(CONCEPTS)
    return write_concept_base(tmp_path / "kb", contents, source="test")


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


def test_links_that_lead_nowhere_are_counted():
    _, lost = Contents.of(CONCEPTS)
    assert lost == 1


def test_it_travels_to_other_processes(base):
    assert pickle.loads(pickle.dumps(base)).number("cat") == base.number("cat")


def test_a_base_may_be_built_again_but_nothing_else_is_overwritten(base, tmp_path):
    contents, _ = Contents.of(CONCEPTS[:1])
    assert len(write_concept_base(base.folder, contents)) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(ProblemError, match="holds something else"):
        write_concept_base(tmp_path / "mine", contents)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_no_concepts_no_base(tmp_path):
    contents, _ = Contents.of([])
    with pytest.raises(ProblemError, match="no concept"):
        write_concept_base(tmp_path / "kb", contents)
    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda kb: (kb / "manifest.json").unlink(), "has no manifest.json"),
        (lambda kb: (kb / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda kb: (kb / "ids.codes.npy").unlink(), "ids.codes.npy is missing"),
        (lambda kb: (kb / "titles.data.npy").write_bytes(b"x"), "has 1 bytes instead of"),
    ],
)
def test_damage_is_named(base, damage, message):
    damage(base.folder)
    with pytest.raises(ProblemError, match=message):
        ConceptBase.open(base.folder)


def test_another_format_is_refused(base):
    path = base.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99}))
    with pytest.raises(ProblemError, match="version 99"):
        ConceptBase.open(base.folder)


def test_a_changed_file_fails_the_check(base):
    path = base.folder / "aliases.priors.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ProblemError, match="was changed"):
        ConceptBase.open(base.folder).verify()


def test_the_concepts_that_ship_are_sound():
    source = ConceptFile(Path(spacy_decoders.__file__).parent / "data/concepts/concepts.tsv")
    contents, lost = Contents.of(source)
    assert source.bad.count == 0
    assert lost == 0
    assert len(contents.ids) == len(set(contents.ids)) > 400
    linked = {place for edge in contents.edges.tolist() for place in edge}
    assert len(linked) == len(contents.ids), "a concept without links can't be linked by them"
    base = ConceptBase.open(Path(spacy_decoders.__file__).parent / "data/concepts/base")
    items = [base.qid(concept) for concept in range(len(base))]
    known = [item for item in items if item]
    assert len(known) == len(set(known)) > 250
    assert items[base.number("mercury_planet")] == "Q308"
    assert base.url(base.number("mercury_planet")) == "https://www.wikidata.org/wiki/Q308"


def changed(base, name, change):
    """Change an array of a base, and its header such that sizes and checksums fit."""
    path = base.folder / f"{name}.npy"
    array = np.load(path)
    array = change(array.copy())
    np.save(path, array)
    header = json.loads((base.folder / "manifest.json").read_text())
    header["files"][path.name] = {"size": path.stat().st_size, "sha256": "0" * 64}
    (base.folder / "manifest.json").write_text(json.dumps(header))


def entry(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    "name, change",
    [
        ("ids.buckets", entry(1, 2**40)),
        ("ids.buckets", lambda array: array[:-1]),
        ("ids.offsets", entry(1, -5)),
        ("ids.offsets", entry(-1, 2**50)),
        ("ids.buckets", entry(-1, 2)),
        ("titles.offsets", lambda array: array[1:]),
        ("descriptions.offsets", entry(0, 3)),
        ("title_words.buckets", entry(0, -1)),
        ("title_words.counts", lambda array: array[:-1]),
        ("title_words.counts", entry(0, 0)),
        ("title_words.titles", lambda array: array[:0]),
        ("aliases.buckets", entry(-1, 99)),
        ("aliases.entries", entry(1, 99)),
        ("aliases.concepts", entry(0, 3)),
        ("aliases.concepts", entry(0, -1)),
        ("aliases.priors", lambda array: array[:-1]),
        ("aliases.priors", lambda array: array.astype(np.float64)),
    ],
)
def test_numbers_that_lead_out_are_found_on_opening(base, name, change):
    changed(base, name, change)
    with pytest.raises(StorageError, match=name):
        ConceptBase.open(base.folder)


def test_a_graph_of_other_concepts_is_refused(base):
    ConceptGraph.from_edges([[0, 1], [1, 7]]).save(base.folder / "graph")
    header = json.loads((base.folder / "manifest.json").read_text())
    header["files"]["graph/graph.json"]["size"] = (base.folder / "graph/graph.json").stat().st_size
    (base.folder / "manifest.json").write_text(json.dumps(header))
    with pytest.raises(StorageError, match="no graph of the 3 concepts"):
        ConceptBase.open(base.folder)


def test_words_that_lead_to_no_concept_are_refused(base):
    path = base.folder / "text.sqlite"
    TextIndex.build(path, [(1000, "a title", "", "")])
    header = json.loads((base.folder / "manifest.json").read_text())
    header["files"]["text.sqlite"]["size"] = path.stat().st_size
    (base.folder / "manifest.json").write_text(json.dumps(header))
    opened = ConceptBase.open(base.folder)
    with pytest.raises(StorageError, match="names a concept that there is not"):
        opened.text.find("title", 5)


def test_looking_up_takes_a_text_and_a_whole_number():
    base = ConceptBase.build([{"id": "cat", "title": "Jaguar"}])
    with pytest.raises(ProblemError, match="mention: expected a string; got 3"):
        base.look_up(3)
    with pytest.raises(ProblemError, match="limit"):
        base.look_up("Jaguar", -1)
    assert len(base.look_up("Jaguar", 1)) == 1
