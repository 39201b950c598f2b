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


def test_a_format_without_its_library(tmp_path, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    source = write_lines(tmp_path / "in.jsonl", ["Text"])
    job = Job(source, tmp_path / "out", model=model, format="parquet")
    with pytest.raises(ProblemError, match=r"format: pyarrow is not installed; .*pip install"):
        annotate(job, progress=False)
    assert not job.output.exists()
    assert annotate(Job(source, job.output, model=model), progress=False).written == 1


def test_an_input_without_its_library(tmp_path, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "in.parquet").touch()
    job = Job(tmp_path / "in.parquet", tmp_path / "out", model=model)
    with pytest.raises(ProblemError, match=r"input: pyarrow is not installed; .*pip install"):
        annotate(job, progress=False)
    assert not job.output.exists()


def test_a_cluster_without_its_library(tmp_path, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    job = Job(write_lines(tmp_path / "in.jsonl", ["Text"]), tmp_path / "out", model=model)
    with pytest.raises(
        ProblemError, match=r"scheduler: distributed is not installed; .*pip install"
    ):
        annotate(job, scheduler="tcp://localhost:1", progress=False)
    assert not job.output.exists()
