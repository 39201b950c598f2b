"""Ablations are about all options that there are, and results can be read back."""

from pathlib import Path

import pytest

from tests.processes import forked_python

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

ABLATIONS = """
import ablations
assert not ablations.without_figure(), ablations.without_figure()
assert all(part.lines is None or part.lines > 0 for part in ablations.ABLATIONS)
"""
RESULTS = """
import json, numpy as np, harness
given = {"a": [1, 2.5, None, True], "rows": [["x", np.float32(0.5)], []], "b": {},
         "long": {str(i): "x" * 40 for i in range(9)}, "count": np.int64(3)}
assert json.loads(harness.as_json(given)) == json.loads(json.dumps(given, default=float))
"""


@pytest.mark.parametrize("checks", [ABLATIONS, RESULTS], ids=["ablations", "results"])
def test_every_option_has_a_row_and_results_read_back(tmp_path, checks):
    script = tmp_path / "checks.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}){checks}")
    forked_python(script)
