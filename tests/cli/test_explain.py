"""``python -m spacy decoders explain``."""

from __future__ import annotations

import spacy

from .commands import invoke, run


def test_nothing_is_explained_without_a_text(tmp_path):
    done = invoke("explain", "--file", "-", "--output", str(tmp_path / "page.html"), stdin=" ")
    assert done.exit_code == 2 and "there is no text" in done.output
    assert not (tmp_path / "page.html").exists()


def test_a_page_of_bytes_that_are_no_text_is_refused(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"Jaguar caf\xe9")
    said = run("explain", "--file", tmp_path / "bad.txt", code=2)
    assert "not UTF-8" in said
    assert "bad.txt" in said


def test_a_page_explains_a_text(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("graph_entity_linker", config={"mentions": "aliases"})
    nlp.to_disk(tmp_path / "model")
    page = tmp_path / "page.html"
    text = "Jaguar belongs to Tata."
    run("explain", "--text", text, "--pipeline", tmp_path / "model", "--output", page)
    assert "Jaguar Cars" in page.read_text(encoding="utf8")
