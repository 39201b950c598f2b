"""Sorting what does not fit in memory: it is dealt out over files, each of which does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .kernels import hash_lines
from .stages import Stage
from .string_index import gathered

__all__ = ["PARTS", "KeySpill", "LineSpill", "rows_of_parts"]

#: Files that everything is dealt out over; a power of 2.
PARTS = 64


def rows_of_parts(part: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The number of each part, from 0 on, that has any rows, and the rows, in their order."""
    order = np.argsort(part, kind="stable")  # a counting sort for small integers
    ordered = part[order]
    for rows in np.split(order, 1 + np.flatnonzero(ordered[1:] != ordered[:-1])):
        if len(rows):
            yield int(part[rows[0]]), rows


class LineSpill:
    """Lines of text with numbers, dealt out by the top bits of a hash of the line.

    Parameters
    ----------
    stage
        Where the files lie.
    name
        Their name.
    columns
        The dtypes of the numbers that go with each line.
    """

    def __init__(self, stage: Stage, name: str, columns: Mapping[str, Any]) -> None:
        self.stage = stage
        self.name = name
        self.columns = dict(columns)

    def add(self, lines: NDArray[np.uint8], columns: Mapping[str, NDArray[Any]]) -> None:
        """Deal out newline-ended lines, with the numbers of each by column."""
        size = len(next(iter(columns.values())))
        codes, starts = hash_lines(read_only(lines), size)
        part = (codes >> np.uint64(64 - PARTS.bit_length() + 1)).astype(np.uint8)
        for number, rows in rows_of_parts(part):
            self.stage.append(f"{self.name}.{number}", gathered(lines, starts, rows))
            for name, dtype in self.columns.items():
                values = columns[name][rows].astype(dtype, copy=False)
                self.stage.append(f"{self.name}.{number}.{name}", values)

    def part(self, number: int) -> tuple[NDArray[np.uint8], dict[str, NDArray[Any]]]:
        """The lines of one file, and their numbers by column."""
        lines = self.stage.read(f"{self.name}.{number}", np.uint8)
        columns = {
            name: self.stage.read(f"{self.name}.{number}.{name}", dtype)
            for name, dtype in self.columns.items()
        }
        return lines, columns

    def drop(self) -> None:
        """Remove the files."""
        for number in range(PARTS):
            names = [f"{self.name}.{number}.{column}" for column in self.columns]
            self.stage.drop(f"{self.name}.{number}", *names)


class KeySpill:
    """Pairs of numbers as 64-bit keys, dealt out by ranges of the first.

    Parameters
    ----------
    stage
        Where the files lie.
    name
        Their name.
    bounds
        Where the ranges begin, and the last ends. **Shape:** ``(parts + 1,)``
    """

    def __init__(self, stage: Stage, name: str, bounds: NDArray[np.int64]) -> None:
        self.stage = stage
        self.name = name
        self.bounds = bounds

    def add(self, first: NDArray[Any], keys: NDArray[np.uint64]) -> None:
        """Deal out keys; `first` tells the range of each."""
        part = (np.searchsorted(self.bounds, first, side="right") - 1).astype(np.uint8)
        for number, rows in rows_of_parts(part):
            self.stage.append(f"{self.name}.{number}", keys[rows])

    def parts(self, begin: int = 0) -> Iterator[tuple[int, NDArray[np.uint64]]]:
        """The number and the sorted keys of each file from `begin` on."""
        for number in range(begin, len(self.bounds) - 1):
            keys = self.stage.read(f"{self.name}.{number}", np.uint64)
            yield number, np.sort(keys)

    def drop(self) -> None:
        """Remove the files."""
        self.stage.drop(*(f"{self.name}.{number}" for number in range(len(self.bounds) - 1)))
