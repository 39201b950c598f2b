"""How long the first document takes: cold, warm, and from a cache that can't be written to.

    python benchmarks/first_document.py

Each figure is of a fresh process: seconds to the end of the first document (imports, loading and
compiling included), CPU-seconds, and how many functions were compiled. `cold` begins with an empty
cache, `warm` uses what `cold` left, `warmup` what ``python -m spacy decoders warmup`` left, and
`read-only` the same without the right to write. The figures go to results/first_document.json.
"""

import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent / "results" / "first_document.json"

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
functions = 0
try:
    from spacy_decoders.kernel_cache import progress
    functions = progress.functions
except ImportError:
    pass
times = os.times()
print(json.dumps([seconds, times.user + times.system, functions]))
"""


class FirstDocument(NamedTuple):
    """Seconds and CPU-seconds of a process up to its first document, and functions compiled."""

    seconds: float
    cpu_seconds: float
    functions: int


def measure(pipeline: str, cache: Path) -> FirstDocument:
    """Run one pipeline in a fresh process with a given cache."""
    script = SCRIPT.format(pipeline=PIPELINES[pipeline], text=TEXT)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    found = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return FirstDocument(*json.loads(found.stdout.splitlines()[-1]))


def set_writable(folder: Path, writable: bool) -> None:
    """Allow or forbid writing into a folder and all below it."""
    for path in [folder, *folder.rglob("*")]:
        mode = path.stat().st_mode
        path.chmod(mode | stat.S_IWUSR if writable else mode & ~0o222)


def main() -> None:
    """Measure every pipeline and print a table."""
    results: dict[str, dict[str, FirstDocument]] = {}
    with tempfile.TemporaryDirectory() as root:
        for name in PIPELINES:
            cache = Path(root) / name.replace(" ", "_")
            results[name] = {"cold": measure(name, cache), "warm": measure(name, cache)}
        warmed = Path(root) / "warmed"
        command = [sys.executable, "-m", "spacy", "decoders", "warmup"]
        subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": str(warmed)}, check=True)
        for name in PIPELINES:
            results[name]["warmup"] = measure(name, warmed)
        set_writable(warmed, False)
        for name in PIPELINES:
            results[name]["read-only"] = measure(name, warmed)
        set_writable(warmed, True)
    RESULTS.parent.mkdir(exist_ok=True)
    plain = {
        name: {how: at._asdict() for how, at in rows.items()} for name, rows in results.items()
    }
    RESULTS.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf8")
    print(f"{'':26}" + "".join(f"{how:>24}" for how in ("cold", "warm", "warmup", "read-only")))
    for name, rows in results.items():
        cells = (
            f"{r.seconds:5.1f} s {r.cpu_seconds:5.1f} CPU-s {r.functions:4d}"
            for r in rows.values()
        )
        print(f"{name:26}" + "".join(f"{cell:>24}" for cell in cells))


if __name__ == "__main__":
    main()
