"""Commands on corpora and knowledge bases do their job and speak plainly of errors."""

import errno
import json

import pytest
import spacy
from typer.testing import CliRunner

from spacy_decoders.cli import app


def run(*words, code=0):
    result = CliRunner(env={"COLUMNS": "300"}).invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "concepts.tsv"
    path.write_text(
        "id\ttitle\taliases\tlinks\tdescription\n"
        "cat\tJaguar\tJaguar=3\tjungle;nowhere\ta cat\n"
        "car\tJaguar Cars\tJaguar=1\t\ta maker of cars\n"
        "jungle\tJungle\t\t\ta forest\n"
        "broken row\n"
    )
    return path


def test_a_knowledge_base_is_built_shown_and_searched(source, tmp_path):
    folder = tmp_path / "kb"
    said = run("kb", "build", source, folder)
    assert "3 concepts, 1 links, 3 aliases" in said
    assert "left out: 1 links to nothing" in said
    assert "left out: 1 rows" in said
    assert "concepts.tsv:5: 1 columns" in said
    assert "unchanged since" in run("kb", "info", folder, "--verify")
    found = run("kb", "look-up", "JAGUAR", "--kb", folder)
    assert found.index("Jaguar ") < found.index("Jaguar Cars")
    assert "0.750" in found
    assert "Jungle" in run("kb", "look-up", "forest", "--kb", folder, "--words")
    assert "Nothing is known" in run("kb", "look-up", "xyzzy", "--kb", folder)


def test_the_shipped_knowledge_base_is_looked_into():
    assert "Jaguar Cars" in run("kb", "look-up", "jaguar")


def test_errors_are_messages(tmp_path):
    said = run("kb", "info", tmp_path, code=1)
    assert "has no manifest.json" in said
    assert "Traceback" not in said
    assert "does not exist" in run("annotate", tmp_path / "none", tmp_path / "out", code=1)
    said = run("annotate", tmp_path, tmp_path / "out", "--format", "csv", code=1)
    assert "format: expected one of" in said


def test_a_corpus_is_annotated_and_resumed(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("graph_entity_linker", config={"mentions": "aliases"})
    nlp.to_disk(tmp_path / "model")
    corpus = tmp_path / "in.jsonl"
    corpus.write_text(
        '{"id": "a", "text": "The jaguar left the jungle."}\n{"id": "b"}\n'
        '{"id": "c", "text": "Python and Java."}\n'
    )
    words = ("annotate", corpus, tmp_path / "out", "--model", tmp_path / "model")
    said = run(*words, "--format", "jsonl", "--shard-size", 2, code=1)
    assert "2 documents in 2 files" in said
    assert "100.0% proven optimal" in said
    assert "1 failed" in said
    rows = [
        json.loads(line)
        for part in sorted((tmp_path / "out").glob("part-*.jsonl"))
        for line in part.read_text().splitlines()
    ]
    assert [row["id"] for row in rows] == ["a", "c"]
    assert [ent["kb_id"] for ent in rows[0]["ents"]] == ["jaguar", "jungle"]
    assert "2 files were there" in run(*words, "--format", "jsonl", "--shard-size", 2, code=1)


def test_a_full_disk_is_told_with_the_file_and_what_to_do(tmp_path, monkeypatch):
    spacy.blank("en").to_disk(tmp_path / "model")
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "One."}\n')
    words = ("annotate", source, tmp_path / "out", "--model", tmp_path / "model")

    def full(docs, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("spacy_decoders.annotate.worker.writer", lambda format: full)
        said = run(*words, code=1)
    part = tmp_path / "out" / "part-00000.spacy"
    assert f"{part}: No space left on device. Make room" in said
    assert "Traceback" not in said
    assert "1 documents in 1 files" in run(*words)


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
