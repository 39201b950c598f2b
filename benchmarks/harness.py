"""What all benchmarks share: timing in turns on one thread, tables, JSON, plots.

Import this before numpy: it holds the numeric libraries to one thread.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from time import process_time, thread_time
from typing import Any, TypeVar

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

#: What tasks are named by.
Name = TypeVar("Name", bound=Hashable)
#: What a task returns.
Result = TypeVar("Result")

HERE = Path(__file__).resolve().parent


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    data = os.environ.get("SPACY_DECODERS_DATA", HERE.parent.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(data), help="folder of real data")
    parser.add_argument("--quick", action="store_true", help="a fast pass: less data and repeats")
    parser.add_argument(
        "--results", type=Path, default=HERE / "results", help="folder for JSON and plots"
    )
    return parser


def interleaved(
    tasks: Mapping[Name, Callable[[], object]],
    repeats: int = 5,
    *,
    seconds: float = float("inf"),
    least: float = 0.0,
    settled: bool = False,
    clock: Callable[[], float] = thread_time,
) -> dict[Name, float]:
    """Return the median seconds of each task, measured in turns.

    Taking turns spreads whatever else the machine does over all tasks, so that the ratios
    hold even where the seconds waver.

    Parameters
    ----------
    tasks
        What to time, by name; each is called without arguments.
    repeats
        Turns of each task.
    seconds
        A task that has used so much time in all is passed over in further turns.
    least
        Seconds that a turn lasts at least: a short task is called several times in a turn, and
        the mean counts. Of a single call of a millisecond, much would be the first touch of
        code and data that the tasks before it pushed out of the processor's cache.
    settled
        Whether to call a task once more before each turn is timed, for whole pipelines: what asks
        the system for much memory takes up to a fifth longer right after another task.
    clock
        What tells the time in seconds. `time.thread_time` leaves out what other programs take from
        the processor, but also what other threads do.
    """
    for task in tasks.values():  # compiles and fills caches
        task()
    calls = dict.fromkeys(tasks, 1)
    if least:
        for name, task in tasks.items():
            begin = clock()
            task()
            calls[name] = 1 + int(least / max(clock() - begin, 1e-6))
    taken: dict[Name, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats):
        gc.collect()
        for name, task in tasks.items():
            if turn and sum(taken[name]) * calls[name] > seconds:
                continue
            if settled:
                task()
            begin = clock()
            for _ in range(calls[name]):
                task()
            taken[name].append((clock() - begin) / calls[name])
    return {name: statistics.median(times) for name, times in taken.items()}


def timed(
    task: Callable[[], Result], clock: Callable[[], float] = process_time
) -> tuple[Result, float]:
    """Return what a task returns, and the seconds that it takes."""
    begin = clock()
    return task(), clock() - begin


def shown(value: Any) -> str:
    """Return a cell as tables show it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value != value:
            return "-"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass
class Report:
    """Everything that one run measured: printed as it comes, and written as JSON when it ends.

    Attributes
    ----------
    name
        The benchmark's name; the report goes to ``NAME.json``.
    folder
        Where to write it.
    facts
        Whatever else is worth keeping.
    """

    name: str
    folder: Path
    facts: dict[str, Any] = field(default_factory=dict)
    tables: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        atexit.register(self.write)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table, which reads well in a terminal and as Markdown, and keep it."""
        cells = [list(map(str, columns)), *([shown(value) for value in row] for row in rows)]
        first, *widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        cells.insert(1, ["-" * first, *("-" * (width - 1) + ":" for width in widths)])
        print("", title, "", sep="\n")
        for name, *values in cells:
            aligned = [name.ljust(first), *map(str.rjust, values, widths)]
            print("| " + " | ".join(aligned) + " |", flush=True)
        self.tables.append(
            {"title": title, "columns": list(columns), "rows": list(map(list, rows))}
        )

    def path(self, suffix: str) -> Path:
        """Return the path of a result with this suffix, such as ``".png"``."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{self.name}{suffix}"

    def write(self) -> None:
        """Write the report if anything was measured, and no error ended the process."""
        if not self.tables or hasattr(sys, "last_value"):
            return
        content = {
            "name": self.name,
            "command": " ".join([Path(sys.executable).name, *_plain(sys.argv)]),
            "machine": _machine(),
            "facts": self.facts,
            "tables": self.tables,
        }
        path = self.path(".json")
        path.write_text(as_json(content) + "\n", encoding="utf8")
        print(f"\nwritten: {path}")


def as_json(value: Any, indent: str = "\n") -> str:
    """Return JSON: six digits of each number, rows on a line, as is all that fits."""
    if isinstance(value, Mapping):
        parts = [f"{json.dumps(key)}: {as_json(of, indent + ' ')}" for key, of in value.items()]
    elif isinstance(value, list | tuple):
        parts = [as_json(of, indent + " ") for of in value]
    else:
        plain = value is None or isinstance(value, str | int)
        return json.dumps(value if plain else float(f"{float(value):.6g}"))
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    items = value.values() if isinstance(value, Mapping) else value
    flat = not any(isinstance(of, Mapping | list | tuple) for of in items)
    line = ", ".join(parts)
    if "\n" not in line and (len(line) < 100 or (flat and (opening == "[" or len(line) < 180))):
        return opening + line + closing
    return opening + indent + " " + f",{indent} ".join(parts) + indent + closing


def _plain(argv: list[str]) -> list[str]:
    """Return the command without the folders of this machine."""
    return [Path(part).name if Path(part).is_absolute() else part for part in argv]


def _machine() -> dict[str, Any]:
    versions = {}
    for package in ("spacy-decoders", "spacy", "numpy", "numba", "scipy"):
        versions[package] = metadata.version(package)
    return {
        "python": platform.python_version(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": 1,
        "versions": versions,
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


# -- plots: ours in colour, with solid lines; those of others grey and broken


def curves(
    path: Path,
    title: str,
    x_label: str,
    y_label: str,
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    log: str = "xy",
    peers: Collection[str] = (),
) -> None:
    """Draw a line for each series, name -> (x, y), and write the plot.

    `log` names the logarithmic axes: ``""``, ``"x"``, ``"y"`` or ``"xy"``; `peers` are the lines
    that are not ours.
    """
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9.5, 5))
    others = iter(zip(("0.1", "0.4", "0.6"), "xP*", strict=True))
    for number, (name, (x, y)) in enumerate(series.items()):
        colour, marker = f"C{number}", "osD^v<>ph8"[number % 10]
        line = "-"
        if name in peers:
            (colour, marker), line = next(others), "--"
        axis.plot(x, y, color=colour, marker=marker, linestyle=line, linewidth=1.4, label=name)
    if "x" in log:
        axis.set_xscale("log")
    if "y" in log:
        axis.set_yscale("log")
    # beside the plot, where it hides nothing
    axis.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    _write(figure, path, title, x_label, y_label)


def bars(
    path: Path, title: str, x_label: str, values: Mapping[str, float], peers: Collection[str] = ()
) -> None:
    """Draw one horizontal bar for each value and write the plot."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 0.8 + 0.35 * len(values)))
    names = list(values)[::-1]
    colours = ["silver" if name in peers else "C0" for name in names]
    axis.barh(names, [values[name] for name in names], color=colours)
    _write(figure, path, title, x_label, "")


def _write(figure: Any, path: Path, title: str, x_label: str, y_label: str) -> None:
    (axis,) = figure.axes
    axis.set(title=title, xlabel=x_label, ylabel=y_label)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight")
