"""Errors of every command are messages."""

from .commands import run


def test_errors_are_messages(tmp_path):
    said = run("kb", "info", tmp_path, code=1)
    assert "has no manifest.json" in said
    assert "Traceback" not in said
    assert "does not exist" in run("annotate", tmp_path / "none", tmp_path / "out", code=1)
    said = run("annotate", tmp_path, tmp_path / "out", "--format", "csv", code=1)
    assert "format: input should be 'spacy', 'jsonl' or 'parquet'; got 'csv'" in said
