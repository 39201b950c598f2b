"""Dumps that are damaged give what can be read, or an error with their name; nothing crashes."""

import os

import pytest

from ..campaigns.dumps import check_dump, formats

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials run in forked processes")
FORMATS = sorted(formats())


TRIALS = {name: 150 if name == "wikipedia" else 1500 for name in FORMATS}


@pytest.mark.parametrize(
    ("format", "trials"),
    [
        *((name, 15) for name in FORMATS if name != "wikipedia"),
        *(pytest.param(*of, marks=pytest.mark.slow) for of in TRIALS.items()),
    ],
)
def test_damaged_dumps(format, trials, tmp_path):
    outcomes = check_dump(format, tmp_path, trials)
    assert not outcomes.faults, "\n".join(outcomes.faults)
    assert outcomes.counts.total() == trials
