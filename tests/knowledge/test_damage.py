"""A base from elsewhere, damaged or made up, is read or refused: nothing else happens."""

import json

import pytest

from spacy_decoders import ConceptBase
from spacy_decoders.errors import StorageError
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.contents import write_concept_base

from ..damage import damaged

CONCEPTS = [
    {
        "id": f"c{i}",
        "title": f"Title {i} of Köln",
        "aliases": {f"Name {i % 7}": i + 1, f"other {i}": 2},
        "links": [f"c{(i * 3 + 1) % 20}", f"c{(i * i) % 20}"],
        "description": f"described {i}",
        "text": f"some words of {i}",
        "type": ["person", "place", ""][i % 3],
        "qid": f"Q{i + 1}" if i % 2 else "",
        "url": f"https://example.org/{i}" if i % 5 == 0 else "",
    }
    for i in range(20)
]


@pytest.fixture
def folder(tmp_path):
    return write_concept_base(
        tmp_path / "kb",
        map(Concept.of, CONCEPTS),
        hubs=3,
        url="https://example.org/{qid}",
    )


def ask(base):
    """Everything that reads the arrays of a base."""
    for concept in range(len(base)):
        if base.id(concept) in base:  # a damaged identifier is not found by its hash
            base.describe(concept)
    for mention in ("name 1", "other 5", "nothing"):
        base.look_up(mention)
        base.link_probability(mention)
    base.aliases.find(["name 1", "x"] * 10)
    base.title_words.surprise(["title", "x"])
    base.text.find("some words of 7", 5)
    vertices = base.graph.vertices
    base.graph.distances(vertices)
    base.graph.hitting([vertices[:3], vertices[3:5]])
    base.graph.pagerank()
    list(base)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def sealed(folder, path):
    """Let the header say what the file is, as one who made the folder up would."""
    root = folder / "graph" if path.parent.name == "graph" else folder
    header = root / ("graph.json" if root.name == "graph" else "manifest.json")
    if path == header:
        return
    content = json.loads(header.read_text())
    entry = content["files"].get(path.name)
    if entry is not None:
        entry["size"] = path.stat().st_size
        header.write_text(json.dumps(content))
    if root != folder:
        sealed(folder, header)
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"]["graph/graph.json"]["size"] = header.stat().st_size
        (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("made_up", [False, True])
def test_random_damage_raises_nothing_else(folder, rng, made_up):
    whole = {path: path.read_bytes() for path in files(folder)}
    outcomes = {"read": 0, "refused": 0}
    for _ in range(200):
        path = list(whole)[rng.integers(len(whole))]
        path.write_bytes(damaged(whole[path], rng))
        if made_up:
            sealed(folder, path)
        try:
            ask(ConceptBase.open(folder))
            outcomes["read"] += 1
        except StorageError:
            outcomes["refused"] += 1
        for name, content in whole.items():
            name.write_bytes(content)
    assert outcomes["refused"] > 50 and outcomes["read"] > 10
    ask(ConceptBase.open(folder))
    ConceptBase.open(folder).verify()


def test_an_address_of_another_kind_is_never_shown(folder):
    path = folder / "concepts.sqlite"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"https://example.org/0", b"javascript:alert(123)"))
    base = ConceptBase.open(folder)
    urls = [base.url(concept) or "" for concept in range(len(base))]
    assert not any(url.startswith("javascript") for url in urls) and any(urls)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "url": "javascript:x"}))
    with pytest.raises(StorageError, match="no web address"):
        ConceptBase.open(folder)
