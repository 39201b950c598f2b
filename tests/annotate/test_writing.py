"""Files are written whole, or named where they can not be."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from spacy_decoders.annotate import Job, annotate

from .jobs import write_lines


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("format", ["spacy", "jsonl", "parquet"])
@pytest.mark.parametrize("name", ["part-00000", "00000.json", "errors.jsonl"])
def test_a_full_disk_is_named_with_the_file(tmp_path, model, monkeypatch, format, name):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    source = write_lines(tmp_path / "in.jsonl", ["One.", "poison"])
    job = Job(source, tmp_path / "out", model=model, format=format)
    replaced = Path.with_name

    def with_name(path, other):
        found = replaced(path, other)
        if path.name.startswith(name):
            found.symlink_to("/dev/full")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Path, "with_name", with_name)
        with pytest.raises(OSError, match=f"No space left on device.*out.*{name}") as caught:
            annotate(job, progress=False)
    assert caught.value.errno == errno.ENOSPC
    assert not list(job.output.rglob(".*"))
    # with room again, the same call goes on
    summary = annotate(job, progress=False)
    assert (summary.written, summary.failed) == (1, 1)
