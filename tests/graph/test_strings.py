"""A table of strings gives back what it was given."""

import pytest

from spacy_decoders.graph.storage import FolderFormat
from spacy_decoders.graph.strings import StringTable

TEXTS = ["", "über", "日本", "\n", "x" * 10_000]
FOLDER = FolderFormat("text", "texts.json", {"data": ("|u1", 1), "offsets": ("<i8", 1)})


def test_a_saved_table_keeps_what_it_was_given(tmp_path):
    table = StringTable.build(TEXTS)
    FOLDER.write(tmp_path / "texts", {"data": table.data, "offsets": table.offsets}, {})
    opened = StringTable.of_stored(FOLDER.read(tmp_path / "texts"), "data", "offsets")
    assert list(opened) == list(table) == TEXTS


def test_it_is_a_sequence():
    table = StringTable.build(TEXTS)
    assert len(table) == 5 and table[-4] == "über" and table[1:3] == TEXTS[1:3]
    assert "日本" in table and "Japan" not in table
    for outside in (5, -6):
        with pytest.raises(IndexError):
            table[outside]


def test_lone_surrogates_become_question_marks():
    assert StringTable.build(["a\udc80"])[0] == "a?"
