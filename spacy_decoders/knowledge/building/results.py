"""Results of a unit of a dump in files, so that what a killed worker has read is read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from tqdm import tqdm

from .stages import Build
from .workers import spread

__all__ = ["UnitResults", "read_units"]

Task = TypeVar("Task")


class UnitResults(NamedTuple):
    """Where the results of a unit go: ``number.0.npz``, ``number.1.npz``, ..., ``number.end``."""

    folder: Path
    number: int

    @property
    def total(self) -> int | None:
        """What the finished unit had; None for one that is not."""
        return int(self._end.read_text()) if self._end.exists() else None

    @property
    def written(self) -> int:
        """How many parts there are."""
        place = 0
        while self._part(place).exists():
            place += 1
        return place

    def write(self, place: int, **arrays: Any) -> None:
        """Write a part, at once or not at all."""
        temporary = self.folder / f".{uuid4().hex}.npz"
        np.savez(temporary, **arrays)
        temporary.replace(self._part(place))

    def finish(self, total: int) -> int:
        """Remember that all is read, and how much; returns it."""
        temporary = self.folder / f".{uuid4().hex}"
        temporary.write_text(str(total))
        temporary.replace(self._end)
        return total

    def _part(self, place: int) -> Path:
        return self.folder / f"{self.number:05d}.{place:05d}.npz"

    @property
    def _end(self) -> Path:
        return self.folder / f"{self.number:05d}.end"


def read_units(
    build: Build, read: Callable[[Task], int], tasks: Sequence[Task], what: str, counted: str
) -> int:
    """Read all units with a bar that says what is read and counted; returns how much there was.

    `read` reads a unit, and returns how much it had.
    """
    total = 0
    with tqdm(total=len(tasks), unit="unit", desc=what, disable=not build.progress) as bar:
        for count in spread(build, read, tasks):
            total += count
            bar.update()
            bar.set_postfix({counted: f"{total:,}"})
    return total
