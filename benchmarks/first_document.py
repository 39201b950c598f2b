"""How long the first document takes: with nothing compiled, and after that.

    python benchmarks/first_document.py

Each figure is of a fresh process: seconds to the end of the first document (imports, loading and
compiling included), CPU-seconds, and how many functions were compiled. `cold` begins with a copy
of the package in which nothing is compiled, `warm` goes on with it, and `warmup` is a copy after
``python -m spacy decoders warmup``. The figures go to results/first_document.json.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import timing

PACKAGE = Path(__file__).parents[1] / "spacy_decoders"

TEXT = "The old man can fish. Binary search finds an item in a sorted list in Coventry."

#: What makes a pipeline, in a fresh process.
PIPELINES = {
    "shipped pipeline": "nlp = spacy_decoders.load()",
    "exact_tagger": "nlp = spacy_decoders.load(enable='tagger')",
    "branch_and_bound_parser": "nlp = spacy_decoders.load(enable='parser')",
    "graph_entity_linker": "nlp = spacy_decoders.load(enable='linker')",
    "headline_generator": "nlp = spacy_decoders.load(enable='headline')",
}

SCRIPT = """
import json, os, time
began = time.perf_counter()
import spacy_decoders
{pipeline}
nlp({text!r})
seconds = time.perf_counter() - began
from spacy_decoders.kernel_cache import progress
times = os.times()
print(json.dumps([seconds, times.user + times.system, progress.functions]))
"""


class FirstDocument(NamedTuple):
    """Seconds and CPU-seconds of a process up to its first document, and functions compiled."""

    seconds: float
    cpu_seconds: float
    functions: int


def copy_of_package(folder: Path) -> Path:
    """Copy the package, without what is compiled; return the folder to import it from."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(command: list[str], place: Path) -> str:
    """Run Python with the package in a folder, and its compiled code beside it."""
    environment = os.environ | {"PYTHONPATH": str(place)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def measure(pipeline: str, place: Path) -> FirstDocument:
    """Run one pipeline in a fresh process."""
    script = SCRIPT.format(pipeline=PIPELINES[pipeline], text=TEXT)
    return FirstDocument(*json.loads(run(["-c", script], place).splitlines()[-1]))


def main() -> None:
    """Measure every pipeline."""
    options = timing.arguments(__doc__.splitlines()[0]).parse_args()
    report = timing.Report("first_document", options.results)
    results: dict[str, dict[str, FirstDocument]] = {}
    with tempfile.TemporaryDirectory() as root:
        for name in PIPELINES:
            place = copy_of_package(Path(root) / name.replace(" ", "_"))
            results[name] = {"cold": measure(name, place), "warm": measure(name, place)}
        warmed = copy_of_package(Path(root) / "warmed")
        run(["-m", "spacy", "decoders", "warmup"], warmed)
        for name in PIPELINES:
            results[name]["warmup"] = measure(name, warmed)
    report.table(
        "Fresh processes up to the end of their first document",
        ["pipeline", "code", *FirstDocument._fields],
        [[name, how, *at] for name, row in results.items() for how, at in row.items()],
    )
    report.close()


if __name__ == "__main__":
    main()
