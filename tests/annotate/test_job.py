"""Settings are checked, and those of a job stay the same."""

from __future__ import annotations

import pytest

from spacy_decoders import ProblemError
from spacy_decoders.annotate import Job, annotate

from .jobs import write_lines


def test_an_output_of_other_settings_is_not_mixed_with(tmp_path, model):
    source = write_lines(tmp_path / "in.jsonl", ["Text"])
    annotate(Job(source, tmp_path / "out", model=model), progress=False)
    with pytest.raises(ProblemError, match="begun with another shard_size"):
        annotate(Job(source, tmp_path / "out", model=model, shard_size=7), progress=False)


@pytest.mark.parametrize(
    "settings, message",
    [({"format": "csv"}, "format"), ({"shard_size": 0}, "shard_size")],
)
def test_settings_are_checked(tmp_path, settings, message):
    with pytest.raises(ProblemError, match=message):
        Job(tmp_path, tmp_path / "out", **settings)
