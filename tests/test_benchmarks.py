"""The results of the benchmarks make one page."""

import json
from pathlib import Path

from tests.processes import python

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_all_results_make_one_page(tmp_path):
    for path in (BENCHMARKS / "results").glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    python(BENCHMARKS / "report.py", "--results", tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf8")
    for path in tmp_path.glob("*.json"):
        assert f'id="{json.loads(path.read_text(encoding="utf8"))["name"]}"' in page


def test_results_read_back_as_they_were_written():
    script = (
        "import json, numpy as np, timing\n"
        "given = {'a': [1, 2.5, None, True], 'rows': [['x', np.float32(0.5)], []], 'b': {}, "
        "'long': {str(i): 'x' * 40 for i in range(9)}, 'count': np.int64(3)}\n"
        "assert json.loads(timing.as_json(given)) == json.loads(json.dumps(given, default=float))"
    )
    python("-c", script, folder=BENCHMARKS)
