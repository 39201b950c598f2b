"""Errors of every command are messages; ``decoders info`` and ``decoders annotate``."""

import errno
import json
from unittest.mock import patch

import spacy

from spacy_decoders.kernel_cache import PACKAGE, PLACES, kept_code

from .commands import run


def test_errors_are_messages(tmp_path):
    said = run("kb", "info", tmp_path, code=1)
    assert "has no manifest.json" in said
    assert "Traceback" not in said
    assert "no\ufffd[2J does not exist" in run(
        "annotate", tmp_path / "no\x1b[2J", tmp_path / "out", code=1
    )
    said = run("annotate", tmp_path, tmp_path / "out", "--format", "csv", code=1)
    assert "format: input should be 'spacy', 'jsonl' or 'parquet'; got 'csv'" in said
    said = run("annotate", tmp_path, tmp_path / "out", "--text-field", "", code=1)
    assert "text_field: string should have at least 1 character; got ''" in said


def test_info_names_versions_decoders_and_cache():
    said = run("info")
    for expected in ("numba", "spacy-decoders.Viterbi.v1", "matrix unit", "CC BY-SA 4.0"):
        assert expected in said


def test_a_closed_pipe_ends_a_command_without_a_word():
    broken = BrokenPipeError(errno.EPIPE, "Broken pipe")
    with patch("spacy_decoders.cli.info.typer.echo", side_effect=broken):
        assert run("info", code=1) == ""


def test_code_is_counted_where_it_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert kept_code()[tmp_path] == 0
    # numba's folder of the functions of a folder has a name made from its path
    (locator,) = PLACES[0]._impl_class._locator_classes
    kernels = PACKAGE / "decoders" / "chain" / "kernels" / "lattice.py"
    folder = tmp_path / locator.get_suitable_cache_subpath(str(kernels))
    folder.mkdir()
    (folder / "lattice.k_best-1.py311.1.nbc").write_bytes(b"")
    (tmp_path / "of_another_package").mkdir()
    (tmp_path / "of_another_package" / "x.nbc").write_bytes(b"")
    assert kept_code()[tmp_path] == 1


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
    words += ("--format", "jsonl", "--shard-size", 2)
    with patch("spacy_decoders.cli.corpora.annotate", side_effect=KeyboardInterrupt):
        assert "Stopped, with 0 finished files: run the same" in run(*words, code=130)
    said = run(*words, code=1)
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
    assert "From an earlier run: 2 files." in run(*words, code=1)
