"""Millions of strings in a few memory-mapped arrays: kept, and found again by a hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels import equal_to_previous, find_lines, hash_lines

__all__ = ["StringIndex", "StringTable", "as_lines", "open_arrays", "save_arrays"]


def as_lines(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Encode texts as newline-ended UTF-8 lines; a newline in a text becomes a space.

    Lone surrogates, which broken dumps contain, become question marks.
    """
    parts = list(texts)
    joined = "\n".join(parts)
    if joined.count("\n") > len(parts) - 1:
        joined = "\n".join(part.replace("\n", " ") for part in parts)
    if parts:
        joined += "\n"
    return np.frombuffer(joined.encode("utf8", errors="replace"), np.uint8)


@dataclass(frozen=True, eq=False)
class StringTable:
    """Strings by number.

    Attributes
    ----------
    data
        Their UTF-8 bytes end to end. **Shape:** ``(bytes,)``
    offsets
        Where each begins. **Shape:** ``(strings + 1,)``

    Examples
    --------
    >>> table = StringTable.build(["jaguar", "Köln", ""])
    >>> table[1], len(table)
    ('Köln', 3)
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def build(cls, texts: Iterable[str]) -> StringTable:
        encoded = [text.encode("utf8", errors="replace") for text in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(item) for item in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise IndexError(number)
        start, stop = self.offsets[number], self.offsets[number + 1]
        return bytes(self.data[start:stop]).decode("utf8")

    def save(self, folder: Path, name: str) -> None:
        save_arrays(folder, name, data=self.data, offsets=self.offsets)

    @classmethod
    def open(cls, folder: Path, name: str) -> StringTable:
        return cls(*open_arrays(folder, name, "data", "offsets"))


@dataclass(frozen=True, eq=False)
class StringIndex:
    """A set of strings, each with a row; looked up in batches.

    The strings are sorted by a 64-bit hash, whose top bits lead to a bucket of about one
    string. Every hit is compared byte for byte.

    Attributes
    ----------
    codes
        Sorted hashes. **Shape:** ``(strings,)``
    buckets
        First row of each bucket. **Shape:** ``(2 ** bits + 1,)``
    table
        The strings in the same order.

    Examples
    --------
    >>> index, rows, collisions = StringIndex.build(["b", "a", "b"])
    >>> len(index), bool(rows[0] == rows[2]), collisions
    (2, True, 0)
    >>> bool(index.find(["a"])[0] == rows[1]), int(index.find(["c"])[0])
    (True, -1)
    """

    codes: NDArray[np.uint64]
    buckets: NDArray[np.int64]
    table: StringTable

    @classmethod
    def build(cls, texts: Sequence[str]) -> tuple[StringIndex, NDArray[np.int64], int]:
        """Index the texts.

        Returns
        -------
        index, rows, collisions
            The index; the row of each text, **shape** ``(texts,)``, -1 where another
            string has the same 64-bit hash; how often that happened.
        """
        data = as_lines(texts)
        codes, starts = hash_lines(data, len(texts))
        order = np.argsort(codes, kind="stable")
        same = equal_to_previous(data, starts, order, codes)
        keep = same == 0
        rows = np.empty(len(texts), np.int64)
        rows[order] = np.where(same < 0, -1, np.cumsum(keep) - 1)
        kept = order[keep]
        lengths = starts[kept + 1] - starts[kept] - 1  # without the newline
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # one gather for all strings: the source position of every kept byte
        positions = np.repeat(starts[kept] - offsets[:-1], lengths) + np.arange(offsets[-1])
        table = StringTable(data[positions], offsets)
        kept_codes = codes[kept]
        buckets = np.searchsorted(kept_codes >> _shift(len(kept)), _bucket_numbers(len(kept)))
        return cls(kept_codes, buckets.astype(np.int64), table), rows, int((same < 0).sum())

    def __len__(self) -> int:
        return len(self.codes)

    def find(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Row of each text, -1 where it is not in the index. **Shape:** ``(texts,)``"""
        return self.find_lines(as_lines(texts), len(texts))

    def find_lines(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        """As `find`, for texts encoded by :func:`as_lines`."""
        shift = _shift(len(self))
        found: NDArray[np.int64] = find_lines(
            lines,
            count,
            self.codes,
            self.buckets,
            shift,
            self.table.data,
            self.table.offsets,
        )
        return found

    def save(self, folder: Path, name: str) -> None:
        save_arrays(folder, name, codes=self.codes, buckets=self.buckets)
        self.table.save(folder, name)

    @classmethod
    def open(cls, folder: Path, name: str) -> StringIndex:
        codes, buckets = open_arrays(folder, name, "codes", "buckets")
        return cls(codes, buckets, StringTable.open(folder, name))


def _bits(size: int) -> int:
    return max(1, int(size).bit_length())


def _shift(size: int) -> np.uint64:
    return np.uint64(64 - _bits(size))


def _bucket_numbers(size: int) -> NDArray[np.uint64]:
    return np.arange(2 ** _bits(size) + 1, dtype=np.uint64)


def save_arrays(folder: Path, name: str, **arrays: NDArray[Any]) -> None:
    """Write each array to ``NAME.FIELD.npy``."""
    for field, array in arrays.items():
        np.save(folder / f"{name}.{field}.npy", array, allow_pickle=False)


def open_arrays(folder: Path, name: str, *fields: str) -> list[NDArray[Any]]:
    """Map the arrays that `save_arrays` wrote into memory."""
    return [
        # numba sees a plain read-only array, not numpy's memmap class
        np.asarray(np.load(folder / f"{name}.{field}.npy", mmap_mode="r", allow_pickle=False))
        for field in fields
    ]
