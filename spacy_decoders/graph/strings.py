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

    Attributes
    ----------
    data
        Their UTF-8 bytes end to end. **Shape:** ``(bytes,)``, uint8
    offsets
        Where each begins. **Shape:** ``(strings + 1,)``, int64

    Examples
    --------
    >>> table = StringTable.build(["jaguar", "Köln", ""])
    >>> table[1], table[1:], len(table)
    ('Köln', ['Köln', ''], 3)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

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
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        start, stop = self.offsets[at % len(self)], self.offsets[at % len(self) + 1]
        return bytes(self.data[start:stop]).decode("utf8", errors="replace")
