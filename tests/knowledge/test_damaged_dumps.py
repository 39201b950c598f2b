"""Dumps that are damaged give what can be read, or an error with their name; nothing crashes."""

import os

import pytest

from ..campaigns.dumps import check_dump, formats

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials run in forked processes")
FORMATS = sorted(formats())


def check(format, folder, trials):
    outcomes = check_dump(format, folder, trials)
    assert not outcomes.faults, "\n".join(outcomes.faults)
    assert outcomes.counts.total() == trials


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "wikipedia"])
def test_damaged_dumps(format, tmp_path):
    check(format, tmp_path, 15)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_many_damaged_dumps(format, tmp_path):
    check(format, tmp_path, 150 if format == "wikipedia" else 1500)
