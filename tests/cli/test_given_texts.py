"""``python -m spacy decoders demo``, on texts as people have them."""

from __future__ import annotations

import pytest
import spacy
from typer.testing import CliRunner

from spacy_decoders.cli import app
from spacy_decoders.cli.given_texts import paragraphs
from tests.display.page import read

from .commands import run


@pytest.fixture
def explained(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "model")

    def run(*arguments, stdin=None):
        page = tmp_path / "page.html"
        given = ["demo", "--pipeline", tmp_path / "model", "--page", page, *arguments]
        done = CliRunner().invoke(app, list(map(str, given)), input=stdin)
        return done, read(page.read_text(encoding="utf8")) if page.exists() else None

    return run


@pytest.mark.parametrize("text", [b"caf\xe9", "Café".encode("utf-16"), b"\x80" * 9])
def test_bytes_that_are_no_utf8_are_named_with_the_file(explained, tmp_path, text):
    file = tmp_path / "latin.txt"
    file.write_bytes(text)
    done, page = explained("--file", file)
    assert (done.exit_code, page) == (2, None)
    said = " ".join(done.output.replace("│", " ").split())
    assert "is not UTF-8" in said and "iconv" in said and "0x" in said
    assert file.name in said.replace(" ", "")
    done, page = explained("--file", "-", stdin=text)
    assert (done.exit_code, page) == (2, None)
    assert "standard input is not UTF-8" in " ".join(done.output.replace("│", " ").split())


def test_a_byte_order_mark_is_no_text(explained, tmp_path):
    file = tmp_path / "marked.txt"
    file.write_bytes(b"\xef\xbb\xbfCaf\xc3\xa9\r\n\r\nTea\r\n")
    done, page = explained("--file", file)
    assert done.exit_code == 0, done.output
    assert [text.text for text in page.all("p", "text")] == ["Café", "Tea"]


def test_a_paragraph_that_is_too_long_is_refused(explained):
    done, page = explained("--text", "short\n\n" + "word " * 200_001)
    assert (done.exit_code, page) == (2, None)
    assert "split it by blank" in " ".join(done.output.replace("│", " ").split())


def test_a_file_that_is_not_there_is_named(explained, tmp_path):
    done, _ = explained("--file", tmp_path / "absent.txt")
    assert done.exit_code == 2 and "there is no" in done.output


def test_a_folder_that_is_not_there_is_named(tmp_path):
    page = tmp_path / "absent" / "page.html"
    said = run("demo", "--text", "Tea", "--page", page, code=2)
    said = " ".join(said.replace("│", " ").split())
    assert "--page: there is no folder" in said and "absent" in said


def test_a_page_that_cannot_be_written_is_told_plainly(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "model")
    words = ("demo", "--text", "Tea", "--pipeline", tmp_path / "model", "--page", tmp_path)
    assert f"{tmp_path}: Is a directory" in run(*words, code=1)


def test_blank_lines_part_paragraphs():
    assert paragraphs(" one\ntwo \n \n\n three") == ["one two", "three"]
    assert paragraphs(" \n\n ") == []


@pytest.mark.parametrize("given", [("--text", " \n\n "), ("--file", "-")])
def test_nothing_is_no_text(explained, given):
    done, page = explained(*given, stdin=" ")
    assert (done.exit_code, page) == (2, None)
    assert "there is no text" in done.output


def test_a_page_explains_a_text(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("graph_entity_linker", config={"mentions": "aliases"})
    nlp.to_disk(tmp_path / "model")
    page = tmp_path / "page.html"
    text = "Jaguar belongs to Tata."
    run("demo", "--text", text, "--pipeline", tmp_path / "model", "--page", page)
    assert "Jaguar Cars" in page.read_text(encoding="utf8")
