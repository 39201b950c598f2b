"""Jobs that are killed anywhere, or run out of room, come to the same as undisturbed ones."""

import os
import shutil
from pathlib import Path

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.annotate import Job, annotate
from spacy_decoders.annotate.formats import WRITERS

from ..campaigns.crashes import content, file_operations, forked, killed_at, limited_files, moments
from .jobs import write_lines

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are killed in a fork")


@pytest.fixture
def job(tmp_path, model):
    texts = [f"Text {i}. And more." for i in range(12)]
    texts[5] = "poison"
    source = write_lines(tmp_path / "in.jsonl", texts)
    job = Job(source, tmp_path / "out", model=model, format="jsonl", shard_size=3)
    annotate(Job(source, tmp_path / "warm", model=model, shard_size=3), progress=False)
    return job


def run(job):
    return lambda: annotate(job, progress=False)


@pytest.mark.parametrize("wanted", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_at_any_moment(job, wanted):
    total = file_operations(run(job), job.output)
    undisturbed = content(job.output)
    assert sum(name.startswith("part") for name in undisturbed) == 4
    for moment in moments(total, wanted):
        shutil.rmtree(job.output)
        assert killed_at(run(job), job.output, moment)
        for name, data in content(job.output).items():  # what is there is whole
            assert Path(name).name.startswith(".") or data == undisturbed[name], (moment, name)
        annotate(job, progress=False)
        assert content(job.output) == undisturbed, moment


@pytest.mark.parametrize("size", [0, 100, 300, 700])
def test_a_full_disk_is_told_and_what_is_done_is_kept(job, size):
    annotate(job, progress=False)
    undisturbed = content(job.output)
    shutil.rmtree(job.output)

    def squeezed():
        with limited_files(size), pytest.raises(OSError, match=r"too large.*out"):
            annotate(job, progress=False)

    assert forked(squeezed) == 0
    for name, data in content(job.output).items():
        assert data == undisturbed[name], name
    annotate(job, progress=False)
    assert content(job.output) == undisturbed


@pytest.mark.parametrize("damage", [None, b"", b'{"shard": 1, "written": "x"}', b"[]"])
def test_a_part_without_its_report_is_written_again(job, damage):
    annotate(job, progress=False)
    undisturbed = content(job.output)
    job.report(1).unlink() if damage is None else job.report(1).write_bytes(damage)
    assert annotate(job, progress=False).resumed == 3
    assert content(job.output) == undisturbed


def test_a_job_leaves_alone_what_another_one_writes(job, monkeypatch):
    write = WRITERS["jsonl"]

    def disturbed(docs, path):
        monkeypatch.setitem(WRITERS, "jsonl", write)
        write(docs, path)
        annotate(job, progress=False)  # to the end
        undisturbed.update(content(job.output))

    undisturbed = {}
    monkeypatch.setitem(WRITERS, "jsonl", disturbed)
    annotate(job, progress=False)
    assert {name for name in undisturbed if name.startswith(".")}
    assert content(job.output).items() <= undisturbed.items()


@pytest.mark.parametrize("change", ["in.jsonl", "pipeline"])
def test_what_has_changed_never_meets_what_was_done(job, change, tmp_path):
    annotate(job, progress=False)
    job.part(1).unlink()
    if change == "in.jsonl":
        job.source.write_text(job.source.read_text().replace("Text 0", "Text 9"))
    else:
        package = tmp_path / "site" / job.model / "__init__.py"
        package.write_text(package.read_text() + "\n")
    with pytest.raises(ProblemError, match=rf"was begun with other settings .*{change}\); choose"):
        annotate(job, progress=False)
