"""Stages of a build: what is done is not done again, and units are read by several processes.

A stage has a folder of its own, named after a fingerprint of everything that goes into it: the
content of the dumps, the stages before it, and its options. Other inputs lead to another folder,
so that nothing is ever taken over from another build.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import ProblemError, StorageError
from ...process_pool import spawned_pool

__all__ = [
    "Build",
    "Progress",
    "Stage",
    "UnitResults",
    "fingerprint",
    "mapped",
    "read_units",
    "write_arrays",
]

Task = TypeVar("Task")

#: Is told what a build has come to, a line at a time.
Progress = Callable[[str], None]

#: Of the files of stages; another one makes all stages anew.
VERSION = 5
#: What is read of a file for its fingerprint.
_BLOCK = 1 << 16
_BLOCKS = 64


def fingerprint(path: Path) -> str:
    """A short digest of a file.

    Of its size and samples: both ends, and 62 blocks between. The end of a compressed file has a
    checksum of its whole content; of a plain file the time of its last change counts too.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(f"{size}\n".encode())
    if path.suffix not in (".gz", ".bz2"):
        digest.update(str(path.stat().st_mtime_ns).encode())
    with path.open("rb") as stream:
        for place in np.linspace(0, max(0, size - _BLOCK), _BLOCKS).astype(np.int64).tolist():
            stream.seek(place)
            digest.update(stream.read(_BLOCK))
    return digest.hexdigest()[:16]


class Build(NamedTuple):
    """How a build runs."""

    folder: Path  # of all stages
    report: Progress  # is told a line at the end of each stage
    workers: int = 1  # processes, 1 for this one
    progress: bool = False  # whether to show progress bars

    def stage(self, name: str, inputs: Iterable[str]) -> Stage:
        """Open the stage of that name and these inputs."""
        return Stage(self.folder, name, inputs)


class Stage:
    """One step of a build, in a folder of its own: done, or begun anew.

    Parameters
    ----------
    parent
        The folder of all stages.
    name
        The name of the stage.
    inputs
        Fingerprints of files, keys of other stages, and options.

    Attributes
    ----------
    key
        The name with a digest of the inputs.
    state
        What was said when it was finished.
    done
        Whether it is finished.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> stage = Stage(folder, "squares", ["up to 3"]).begun()
    >>> for i in range(1, 4):
    ...     stage.append("values", np.array([i * i]))
    >>> stage.finish(count=3)
    >>> stage = Stage(folder, "squares", ["up to 3"])
    >>> stage.state, stage.done, stage.read("values", np.int64).tolist()
    ({'count': 3}, True, [1, 4, 9])
    """

    def __init__(self, parent: Path, name: str, inputs: Iterable[str]) -> None:
        digest = hashlib.sha256("\n".join([str(VERSION), *inputs]).encode()).hexdigest()[:16]
        self.key = f"{name}-{digest}"
        self.folder = parent / self.key
        self.state: dict[str, Any] = {}
        self.done = self._said.exists()
        if self.done:
            try:
                self.state = dict(json.loads(self._said.read_text(encoding="utf8")))
            except (ValueError, TypeError) as error:
                raise StorageError(
                    f"stages: {self._said} is damaged; remove {self.folder}."
                ) from error

    @property
    def _said(self) -> Path:
        return self.folder / "state.json"

    def begun(self) -> Stage:
        """The stage, without anything that was left of one that did not finish."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return self

    def append(self, name: str, content: NDArray[Any]) -> None:
        """Write at the end of a file."""
        with (self.folder / name).open("ab") as stream:
            stream.write(np.ascontiguousarray(content).tobytes())

    def read(self, name: str, dtype: Any) -> NDArray[Any]:
        """Map a file; empty if there is no such file."""
        return mapped(self.folder / name, dtype)

    def parts(self) -> list[Path]:
        """The files of results of its units, in the order of the dump."""
        return sorted(self.folder.glob("[0-9]*.npz"))

    def drop(self, *names: str) -> None:
        """Remove files that no later stage needs."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def finish(self, **state: Any) -> None:
        """Remember that all is there, and what `state` says."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f".{uuid4().hex}"
        temporary.write_text(json.dumps(state), encoding="utf8")
        temporary.replace(self._said)
        self.state, self.done = state, True


def mapped(path: Path, dtype: Any) -> NDArray[Any]:
    """Map a file of numbers; empty if there is no such file."""
    if not path.exists() or not path.stat().st_size:
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))


class UnitResults(NamedTuple):
    """Where the results of a unit go: ``number.0.npz``, ``number.1.npz``, ..., ``number.end``."""

    folder: Path
    number: int

    @property
    def total(self) -> int | None:
        """What the finished unit had; None for one that is not."""
        return int(self._end.read_text()) if self._end.exists() else None

    def write(self, place: int, **arrays: Any) -> None:
        """Write a part."""
        write_arrays(self.folder / f"{self.number:05d}.{place:05d}.npz", **arrays)

    def finish(self, total: int) -> int:
        """Remember that all is read, and how much; returns it."""
        temporary = self.folder / f".{uuid4().hex}"
        temporary.write_text(str(total))
        temporary.replace(self._end)
        return total

    @property
    def _end(self) -> Path:
        return self.folder / f"{self.number:05d}.end"


def write_arrays(path: Path, **arrays: Any) -> None:
    """Write arrays to an ``.npz`` file, at once or not at all."""
    temporary = path.with_name(f".{uuid4().hex}.npz")
    np.savez(temporary, **arrays)
    temporary.replace(path)


def read_units(build: Build, read: Callable[[Task], int], tasks: Sequence[Task], what: str) -> int:
    """Read the units of a dump, in any order, with a bar; returns how much there was.

    `read`, a function from the top of a module, reads a unit, and returns how much it had.

    Raises
    ------
    ProblemError
        If there are no workers.
    """
    if build.workers < 1:
        raise ProblemError(f"workers: expected at least 1, got {build.workers}.")
    alone = build.workers == 1 or len(tasks) < 2
    found = map(read, tasks) if alone else _in_processes(read, tasks, build.workers)
    bar = tqdm(found, total=len(tasks), unit="unit", desc=what, disable=not build.progress)
    return sum(bar)


def _in_processes(
    read: Callable[[Task], int], tasks: Sequence[Task], workers: int
) -> Iterator[int]:
    with spawned_pool(workers) as pool:
        running = [pool.submit(read, task) for task in tasks]
        try:
            for future in as_completed(running):
                yield future.result()
        finally:
            for future in running:
                future.cancel()
