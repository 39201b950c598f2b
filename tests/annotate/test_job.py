"""What can't run is refused before its output folder is begun, and a job stays the same."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.vocab import Vocab

from spacy_decoders import ProblemError
from spacy_decoders.annotate import Job, annotate
from spacy_decoders.annotate.records import read

from .jobs import write_lines


def test_an_output_of_other_settings_is_not_mixed_with(tmp_path, model):
    (tmp_path / "in").mkdir()
    source = write_lines(tmp_path / "in" / "in.jsonl", ["Text"])
    annotate(Job(source, tmp_path / "out", model=model), progress=False)
    with pytest.raises(ProblemError, match=r"begun with other settings or input \(shard_size\)"):
        annotate(Job(source, tmp_path / "out", model=model, shard_size=7), progress=False)
    inside = Job(str(source.parent), f"{source.parent}/out", model=model)
    assert [annotate(inside, progress=False).resumed for _ in range(2)] == [0, 1]
    for output in (source, source.parent):
        with pytest.raises(ProblemError, match=r"output: .* another folder"):
            annotate(Job(source.parent, output, model=model), progress=False)


def test_the_shipped_pipeline_has_a_name(tmp_path):
    write_lines(tmp_path / "in.jsonl", ["Mary Smith saw Rome."])
    jobs = [Job(tmp_path / "in.jsonl", tmp_path / f"out{name}", name) for name in ("", "en")]
    assert [annotate(job, progress=False).written for job in jobs] == [1, 1]
    settings = [json.loads((job.output / "job.json").read_text()) for job in jobs]
    assert settings[0]["pipeline"] == settings[1]["pipeline"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 7))
def test_shards_take_every_record_once_and_in_order(counts, size):
    """However many records the files have, and however many go into a shard."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        wanted = []
        for number, count in enumerate(counts):
            texts = [f"{number}.{i}" + "é" * i for i in range(count)]
            wanted += texts
            lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
            (folder / f"{number}.jsonl").write_text(lines, encoding="utf8")
        shards = Job(folder, folder / "out", shard_size=size).shards()
        assert [shard.number for shard in shards] == list(range(len(shards)))
        assert all(shard.records == size for shard in shards[:-1])
        assert all(1 <= shard.records <= size for shard in shards)
        vocab = Vocab()
        found = [
            record.text
            for shard in shards
            for extent in shard.extents
            for record in read(extent, vocab, "text")
        ]
    assert found == wanted


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unknown_pipeline(tmp_path, workers):
    source = write_lines(tmp_path / "in.jsonl", ["Text"])
    job = Job(source, tmp_path / "out", model="en_no_such_pipeline")
    with pytest.raises(OSError, match="en_no_such_pipeline"):
        annotate(job, workers=workers, progress=False)
    assert not job.output.exists()


def test_an_unknown_scheduler(tmp_path):
    pytest.importorskip("distributed")
    job = Job(write_lines(tmp_path / "in.jsonl", ["Text"]), tmp_path / "out")
    with pytest.raises(ProblemError, match=r"^scheduler: 'nowhere' can't be reached"):
        annotate(job, scheduler="nowhere", progress=False)
    assert not job.output.exists()
