"""A job that can't run is refused before its output folder is begun."""

from __future__ import annotations

import sys

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.annotate import Job, annotate

from .jobs import write_lines


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unknown_pipeline(tmp_path, workers):
    source = write_lines(tmp_path / "in.jsonl", ["Text"])
    job = Job(source, tmp_path / "out", model="en_no_such_pipeline")
    with pytest.raises(ProblemError, match="model: 'en_no_such_pipeline' is no installed"):
        annotate(job, workers=workers, progress=False)
    assert not job.output.exists()


def test_a_pipeline_that_cannot_be_loaded(tmp_path):
    source = write_lines(tmp_path / "in.jsonl", ["Text"])
    (tmp_path / "broken").mkdir()
    job = Job(source, tmp_path / "out", model=str(tmp_path / "broken"))
    with pytest.raises(OSError, match=r"config\.cfg|meta\.json"):
        annotate(job, progress=False)
    assert not job.output.exists()


@pytest.mark.parametrize(
    ("option", "library", "name", "format", "scheduler"),
    [
        ("format", "pyarrow.parquet", "in.jsonl", "parquet", None),
        ("input", "pyarrow.parquet", "in.parquet", "spacy", None),
        ("scheduler", "distributed", "in.jsonl", "spacy", "tcp://localhost:1"),
    ],
)
def test_a_library_that_is_missing(
    tmp_path, model, monkeypatch, option, library, name, format, scheduler
):
    monkeypatch.setitem(sys.modules, library, None)
    source = write_lines(tmp_path / name, ["Text"])
    job = Job(source, tmp_path / "out", model=model, format=format)
    said = rf"{option}: {library.partition('.')[0]} is not installed; .*pip install"
    with pytest.raises(ProblemError, match=said):
        annotate(job, scheduler=scheduler, progress=False)
    assert not job.output.exists()
