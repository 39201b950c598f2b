"""Titled texts become Examples with the title in the reference."""

from __future__ import annotations

import gzip
import json

import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.readers.headlines import HeadlineCorpus
from tests.processes import python

ROWS = [{"title": f"Title {i}", "text": f"Text {i}."} for i in range(3)]


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(path, **options):
    return [
        (example.reference._.headline, example.predicted.text, example.predicted._.headline)
        for example in HeadlineCorpus(path, **options)(spacy.blank("en"))
    ]


def test_files_of_a_folder_are_read_in_order(tmp_path):
    (tmp_path / "b.jsonl").write_text(lines(ROWS[2:]))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines(ROWS[:2]).encode()))
    (tmp_path / "c.txt").write_text("no corpus")
    wanted = [(row["title"], row["text"], "") for row in ROWS]
    assert read(tmp_path) == wanted
    assert read(tmp_path, limit=2) == wanted[:2]


def test_fields_may_have_other_names(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines([{"head": "A", "body": "b"}]))
    assert read(path, title="head", text="body") == [("A", "b", "")]
    with pytest.raises(ProblemError, match=r"a.jsonl, line 1: expected an object"):
        read(path)


def test_it_needs_no_component(tmp_path):
    """The extension is there whether or not a component has been imported."""
    path = tmp_path / "a.jsonl"
    path.write_text(lines(ROWS[:1]))
    code = (
        "import sys, spacy\n"
        "from spacy_decoders.readers.headlines import HeadlineCorpus\n"
        f"(example,) = HeadlineCorpus({str(path)!r})(spacy.blank('en'))\n"
        "print(example.reference._.headline)\n"
    )
    assert python("-c", code).stdout == "Title 0\n"
