"""The units of a dump, read by several processes; each leaves its results in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from tqdm import tqdm

from ...errors import ProblemError
from ...extras import needed
from ...process_pool import spawned_pool
from .stages import Build

__all__ = ["UnitResults", "read_units", "write_arrays"]

Task = TypeVar("Task")


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
    """Read all units, in any order, with a bar; returns how much there was.

    `read`, a function from the top of a module, reads a unit, and returns how much it had.

    Raises
    ------
    ProblemError
        If there are no workers, or Dask is not installed.
    """
    if build.workers < 1:
        raise ProblemError(f"workers: expected at least 1, got {build.workers}.")
    if build.scheduler is not None:
        found = _on_cluster(read, tasks, build.scheduler)
    elif build.workers == 1 or len(tasks) < 2:
        found = map(read, tasks)
    else:
        found = _in_processes(read, tasks, build.workers)
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


def _on_cluster(
    read: Callable[[Task], int], tasks: Sequence[Task], scheduler: str
) -> Iterator[int]:
    distributed = needed("distributed", "distributed", "scheduler")
    with distributed.Client(scheduler) as client:
        # not pure: the result is a file, which Dask must not take for done
        running: list[Any] = [client.submit(read, task, pure=False, retries=2) for task in tasks]
        for future in distributed.as_completed(running):
            yield future.result()
            future.release()
