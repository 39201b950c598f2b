"""A user's own concepts are read; what is wrong with a row is said, and costs that row."""

import json

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.knowledge.concepts import Concept
from spacy_decoders.knowledge.dumps.wikidata import WikidataDump
from spacy_decoders.knowledge.sources.concept_files import ConceptFile
from spacy_decoders.knowledge.sources.wordnet import WordNet
from tests.readers.files import written


def test_tsv(tmp_path):
    rows = (
        "id\ttitle\taliases\tlinks\tdescription\n"
        "cat\tJaguar\tJaguar=40;big cat;x=y\tjungle; river\ta cat\n"
        "short\tx\n"
        "\tno id\t\t\t\n"
        "bare\tBare\t\t\t\n"
    )
    source = ConceptFile(written(tmp_path, "concepts.tsv", rows))
    assert list(source) == [
        Concept(
            "cat",
            "Jaguar",
            {"Jaguar": 40.0, "big cat": 1.0, "x=y": 1.0},
            ("jungle", "river"),
            "a cat",
        ),
        Concept("bare", "Bare", {"Bare": 1.0}),
    ]
    assert source.bad.count == 2
    assert "concepts.tsv:3: 2 columns, the header has 5" in source.bad.examples


def test_json_lines(tmp_path):
    rows = [
        {"id": 7, "title": "Seven", "aliases": ["7", "seven"], "links": ["8"], "text": "prime"},
        {"id": "8", "aliases": {"eight": 2}, "title": float("nan"), "type": float("nan")},
        {"title": "no id"},
        {"id": "9", "aliases": {"nine": 0}},
        {"id": "10", "links": 3},
        [],
    ]
    lines = "\n".join([*map(json.dumps, rows), "{"])
    source = ConceptFile(written(tmp_path, "concepts.jsonl.gz", lines))
    assert list(source) == [
        Concept("7", "Seven", {"Seven": 1.0, "7": 1.0, "seven": 1.0}, ("8",), "", "prime"),
        Concept("8", "8", {"8": 1.0, "eight": 2.0}),
    ]
    assert source.bad.count == 5


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("concepts.csv", "", "expected a .tsv or .jsonl"),
        ("concepts.tsv", "name\tother\n", "must name its columns"),
        ("concepts.tsv", "", "must name its columns"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path, name, content, message):
    with pytest.raises(ProblemError, match=message):
        list(ConceptFile(written(tmp_path, name, content)))


@pytest.mark.parametrize("reader", [ConceptFile, WordNet, WikidataDump])
def test_a_folder_is_no_file(tmp_path, reader):
    (tmp_path / "concepts.tsv").mkdir()
    with pytest.raises(ProblemError, match=r"source: .*concepts\.tsv is no file"):
        reader(tmp_path / "concepts.tsv")


def test_a_row_that_can_not_be_stored_is_a_bad_row(tmp_path):
    rows = [
        {"id": "a", "title": "A", "links": [" b ", ""]},
        {"id": "b", "title": "\ud800"},
        {"id": "c", "aliases": {"x": 1e308}},
        {"id": "d", "aliases": ["x", None]},
        {"id": "e", "aliases": {"x": 10**400}},
    ]
    source = ConceptFile(written(tmp_path, "concepts.jsonl", "\n".join(map(json.dumps, rows))))
    assert list(source) == [Concept("a", "A", {"A": 1.0}, ("b",))]
    assert source.bad.count == 4 and "surrogate" in source.bad.examples[0]
