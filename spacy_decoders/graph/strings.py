"""Millions of strings in two arrays that can be mapped into memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .storage import StoredArrays

__all__ = ["StringTable"]


@dataclass(frozen=True, eq=False)
class StringTable(Sequence[str]):
    """Strings by number.

    Examples
    --------
    >>> table = StringTable.build(["jaguar", "Köln", ""])
    >>> table[1], table[1:], len(table)
    ('Köln', ['Köln', ''], 3)
    """

    data: NDArray[np.uint8]  # (bytes,), uint8: their UTF-8 bytes end to end
    offsets: NDArray[np.int64]  # (strings + 1,), int64: where each begins

    @classmethod
    def build(cls, texts: Iterable[str]) -> StringTable:
        """Lay strings end to end; lone surrogates become question marks."""
        encoded = [text.encode("utf8", errors="replace") for text in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(item) for item in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @classmethod
    def of_stored(
        cls, stored: StoredArrays, data: str, offsets: str, count: int | None = None
    ) -> StringTable:
        """Take `count` strings (None: any number) from two arrays of a folder, and check them."""
        stored.check_offsets(offsets, count, len(stored[data]))
        return cls(stored[data], stored[offsets])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        size = len(self.offsets) - 1
        if isinstance(at, slice):
            return self.take(np.arange(*at.indices(size)))
        if not -size <= at < size:
            raise IndexError(at)
        start, stop = self.offsets[at % size], self.offsets[at % size + 1]
        return bytes(self.data[start:stop]).decode("utf8", errors="replace")

    def take(self, numbers: NDArray[np.integer[Any]]) -> list[str]:
        """Return the strings of some numbers, which are not negative.

        Examples
        --------
        >>> StringTable.build(["jaguar", "Köln", ""]).take(np.array([1, 1, 2]))
        ['Köln', 'Köln', '']
        """
        if len(numbers) and numbers.min() < 0:
            raise IndexError(int(numbers.min()))
        starts, stops = self.offsets[numbers].tolist(), self.offsets[numbers + 1].tolist()
        data = self.data.data
        return [
            str(data[start:stop], "utf8", "replace")
            for start, stop in zip(starts, stops, strict=True)
        ]
