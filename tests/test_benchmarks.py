"""Ablations are about all options that there are, and results can be read back."""

from pathlib import Path

from tests.processes import python

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_every_option_has_a_row_or_is_a_demand():
    script = (
        "import ablations\n"
        "assert not ablations.without_figure(), ablations.without_figure()\n"
        "assert all(part.lines is None or part.lines > 0 for part in ablations.ABLATIONS)"
    )
    python("-c", script, folder=BENCHMARKS)


def test_results_read_back_as_they_were_written():
    script = (
        "import json, numpy as np, harness\n"
        "given = {'a': [1, 2.5, None, True], 'rows': [['x', np.float32(0.5)], []], 'b': {}, "
        "'long': {str(i): 'x' * 40 for i in range(9)}, 'count': np.int64(3)}\n"
        "assert json.loads(harness.as_json(given)) == json.loads(json.dumps(given, default=float))"
    )
    python("-c", script, folder=BENCHMARKS)
