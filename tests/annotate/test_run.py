"""Jobs lose no document: stopped and resumed, over processes and on a cluster."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from spacy_decoders.annotate import Job, annotate, run

from .jobs import errors_of, write_lines, written_ids


class Handless:
    """A component without room for an error handler, as spaCy's parser and ner are."""

    __slots__ = ()

    def set_error_handler(self, handler):
        self.error_handler = handler

    def __call__(self, doc):
        if "poison" in doc.text:
            raise ValueError("cannot stand poison")
        return doc

    def pipe(self, docs, batch_size):
        yield from map(self, docs)


def test_components_that_take_no_handler_lose_one_document(tmp_path, monkeypatch):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    Language.component("handless", func=Handless())
    nlp.add_pipe("handless")
    monkeypatch.setattr(run, "pipeline", lambda model: nlp)
    source = write_lines(tmp_path / "in.jsonl", ["one", "poison", "three"])
    job = Job(source, tmp_path / "out", format="jsonl")
    assert annotate(job, progress=False).failed == 1
    assert written_ids(job) == ["d0", "d2"]
    assert errors_of(job)[0]["reason"] == "ValueError: cannot stand poison"


@pytest.mark.parametrize("format", ["spacy", "jsonl", "parquet"])
def test_lines_that_cannot_be_read_do_not_move_the_others(tmp_path, model, format):
    rows = [json.dumps({"id": f"d{i}", "text": f"Text {i}"}) for i in range(12)]
    for unread in (1, 3, 4, 5, 11):  # a whole shard of three among them
        rows[unread] = "" if unread == 1 else "not json"
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(rows) + "\n", encoding="utf8")
    job = Job(source, tmp_path / "out", model=model, format=format, shard_size=3)
    annotate(job, progress=False)
    first = [job.part(shard).read_bytes() for shard in range(4)]
    errors = (job.output / "errors.jsonl").read_text()
    written = job.part(0).stat().st_mtime_ns
    job.part(2).unlink()
    resumed = annotate(job, progress=False)
    assert (resumed.shards, resumed.resumed, resumed.written, resumed.failed) == (4, 3, 7, 5)
    assert [job.part(shard).read_bytes() for shard in range(4)] == first
    assert job.part(0).stat().st_mtime_ns == written
    assert (job.output / "errors.jsonl").read_text() == errors
    places = [(failure["file"], failure["line"]) for failure in errors_of(job)]
    assert places == [(str(source), line) for line in (2, 4, 5, 6, 12)]


def test_a_gzip_file_that_breaks_off_is_read_up_to_there(tmp_path, model):
    texts = [f"{i} " + random.Random(i).randbytes(300).hex() for i in range(200)]
    whole = write_lines(tmp_path / "whole", texts).read_bytes()
    packed = gzip.compress(whole)
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(packed[: len(packed) // 2])
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=30)
    summary = annotate(job, progress=False)
    assert written_ids(job) == [f"d{i}" for i in range(summary.written)]
    assert summary.written > 60 and summary.failed == 1
    (error,) = errors_of(job)
    assert error["line"] == summary.written + 1 and "broken file" in error["reason"]


@pytest.mark.parametrize("suffix", ["jsonl", "spacy", "txt"])
def test_input_that_changes_or_is_away_leaves_its_shard_to_the_next_run(tmp_path, model, suffix):
    lines = write_lines(tmp_path / "in.jsonl", ["Text"] * 5)
    annotate(Job(lines, tmp_path / "spacy", model=model), progress=False)
    source = tmp_path / f"source.{suffix}"
    (lines if suffix != "spacy" else tmp_path / "spacy" / "part-00000.spacy").rename(source)
    whole, status, records = source.read_bytes(), source.stat(), 1 if suffix == "txt" else 5
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=4)
    annotate_shard = run.annotate_shard

    def disturbed(job, shard):
        source.unlink() if change is None else source.write_bytes(change)
        found = annotate_shard(job, shard)
        source.write_bytes(whole)
        os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
        return found

    for change in (None, b"", whole[:50], b'{"text": "new"}\n' + whole):  # noqa: B007
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "annotate_shard", disturbed)
            assert annotate(job, progress=False).failed == records
        assert all(error["file"] == str(source) for error in errors_of(job))
        assert all(source.name in error["reason"] for error in errors_of(job))
    summary = annotate(job, progress=False)
    assert (summary.written, summary.failed, summary.resumed) == (records, 0, 0)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL means something else there")
@pytest.mark.parametrize("end", [os.kill, os.killpg])
def test_processes_end_with_one_that_is_killed_or_interrupted(tmp_path, model, end):
    source = write_lines(tmp_path / "in.jsonl", ["endless", "Text"])
    code = f"""
import signal
from contextlib import suppress
from pathlib import Path
from spacy_decoders.annotate import Job, annotate

if __name__ == "__main__":
    # jobs in the background of a shell ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    job = Job(Path({str(source)!r}), Path({str(tmp_path / "out")!r}), {model!r}, shard_size=1)
    with suppress(KeyboardInterrupt):
        annotate(job, workers=2, progress=False)
"""
    (tmp_path / "run.py").write_text(code, encoding="utf8")
    command = [sys.executable, tmp_path / "run.py"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            while not Path(os.environ["STUMBLED"]).exists():
                assert process.poll() is None
                time.sleep(0.1)
            # Ctrl-C reaches all processes
            end(process.pid, signal.SIGKILL if end is os.kill else signal.SIGINT)
            # the output ends when nobody is left who could write there
            assert b"Traceback" not in process.communicate()[1]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_processes_survive_a_document_that_kills_them(tmp_path, model):
    texts = [f"Text {i}" for i in range(8)]
    texts[3], texts[6] = "deadly", "stumble"
    source = write_lines(tmp_path / "in.jsonl", texts)
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=2)
    summary = annotate(job, workers=2, progress=False)
    # the shard of the deadly one is reported and left for the next run; the others are whole
    assert written_ids(job) == ["d0", "d1", "d4", "d5", "d6", "d7"]
    assert summary.failed == 2
    assert "died" in errors_of(job)[0]["reason"]


def test_a_cluster_that_loses_a_worker_loses_no_document(tmp_path, model):
    distributed = pytest.importorskip("distributed")
    texts = [f"Text {i}" for i in range(40)]
    texts[17], texts[5] = "stumble", "poison"
    source = write_lines(tmp_path / "in.jsonl", texts)
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=4)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        summary = annotate(job, scheduler=cluster.scheduler_address, progress=False)
    assert Path(os.environ["STUMBLED"]).exists(), "no worker was killed"
    assert (summary.written, summary.failed) == (39, 1)
    assert written_ids(job) == [f"d{i}" for i in range(40) if i != 5]
