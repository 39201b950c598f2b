"""Dumps that are damaged give what can be read, or an error with their name; nothing crashes."""

import os

import pytest

from ..campaigns.dumps import check_dump, formats

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials run in forked processes")


@pytest.mark.parametrize("trials", [15, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("format", sorted(formats()))
def test_damaged_dumps(format, trials, tmp_path):
    if format == "wikipedia":  # each trial builds a base in processes of its own
        trials //= 10
    outcomes = check_dump(format, tmp_path, trials)
    assert not outcomes.faults, "\n".join(outcomes.faults)
    assert outcomes.counts.total() == trials
