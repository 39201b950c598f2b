"""A table of strings gives back what it was given."""

from spacy_decoders.graph.storage import FolderFormat
from spacy_decoders.graph.strings import StringTable

TEXTS = ["", "über", "日本", "\n", "x" * 10_000]
FOLDER = FolderFormat("text", "texts.json", {"data": ("|u1", 1), "offsets": ("<i8", 1)})


def test_a_saved_table_keeps_what_it_was_given(tmp_path):
    table = StringTable.build(TEXTS)
    FOLDER.write(tmp_path / "texts", {"data": table.data, "offsets": table.offsets}, {})
    opened = StringTable.of_stored(FOLDER.read(tmp_path / "texts"), "data", "offsets")
    assert list(opened) == list(table) == TEXTS


def test_lone_surrogates_become_question_marks():
    assert StringTable.build(["a\udc80"])[0] == "a?"
