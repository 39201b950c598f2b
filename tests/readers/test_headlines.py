"""Titled texts become Examples with the title in the reference."""

import json

import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.readers.headlines import HeadlineCorpus, without_title

from .files import written

ROWS = [{"title": f"Title {i}", "text": f"Text {i}."} for i in range(3)]


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(path, **options):
    return [
        (example.reference._.headline, example.predicted.text, example.predicted._.headline)
        for example in HeadlineCorpus(path, **options)(spacy.blank("en"))
    ]


def test_files_of_a_folder_are_read_in_order(tmp_path):
    written(tmp_path, "b.jsonl", lines(ROWS[2:]))
    written(tmp_path, "a.jsonl.gz", lines(ROWS[:2]))
    written(tmp_path, "c.txt", "no corpus")
    wanted = [(row["title"], row["text"], "") for row in ROWS]
    assert read(tmp_path) == wanted
    assert read(tmp_path, limit=2) == wanted[:2]
    with pytest.raises(ProblemError, match="limit"):
        read(tmp_path, limit=-1)


def test_fields_may_have_other_names(tmp_path):
    path = written(tmp_path, "a.jsonl", lines([{"head": "A", "body": "b"}]))
    assert read(path, title="head", text="body") == [("A", "b", "")]
    with pytest.raises(ProblemError, match=r"a.jsonl, line 1: expected an object"):
        read(path)


@pytest.mark.parametrize(
    ("title", "text", "left"),
    [
        ("The Quicksort", "The quicksort uses a pivot.", "The quicksort uses a pivot."),
        ("Split", "Split (T, X) separates trees.", "Split (T, X) separates trees."),
        ("Phi", "Phi, also known as totient, counts.", "Phi, also known as totient, counts."),
        ("Daisy", "Daisy by Andrew Willett It was Sunday.", "by Andrew Willett It was Sunday."),
        ("Heap", "HEAP: is a tree.", "is a tree."),
        ("Heap", "Heap\nheaps are trees.", "heaps are trees."),
        ("Heap", "Heap Heap is a tree.", "Heap is a tree."),
        ("Heap", "Heap", ""),
    ],
)
def test_a_title_that_a_sentence_goes_on_from_is_no_heading(
    title: str, text: str, left: str
) -> None:
    assert without_title(title, text) == left
