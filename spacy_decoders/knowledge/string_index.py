"""Finding strings again among millions, by a hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.storage import StoredArrays
from ..graph.strings import StringTable
from .kernels import equal_to_previous, find_lines, hash_lines

__all__ = ["StringIndex", "as_lines", "index_arrays"]

#: The dtype and the number of dimensions of the arrays of an index, for a folder's format.
_ARRAYS = {"codes": ("<u8", 1), "buckets": ("<i8", 1), "data": ("|u1", 1), "offsets": ("<i8", 1)}


def index_arrays(name: str) -> dict[str, tuple[str, int]]:
    """The arrays of an index of that name, for a folder's format."""
    return {f"{name}.{field}": kind for field, kind in _ARRAYS.items()}


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

    def code(self, row: int) -> int:
        """The hash of the string of a row."""
        return int(self.codes[row])

    @staticmethod
    def code_of(text: str) -> int:
        """The hash of any string."""
        codes, _ = hash_lines(as_lines([text]), 1)
        return int(codes[0])

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays to save, by their names in a folder."""
        return {
            f"{name}.codes": self.codes,
            f"{name}.buckets": self.buckets,
            f"{name}.data": self.table.data,
            f"{name}.offsets": self.table.offsets,
        }

    @classmethod
    def of_stored(cls, stored: StoredArrays, name: str) -> StringIndex:
        """Take an index from the arrays of a folder, and check them."""
        codes, buckets = stored[f"{name}.codes"], stored[f"{name}.buckets"]
        stored.check_offsets(f"{name}.buckets", 2 ** _bits(len(codes)), len(codes))
        table = StringTable.of_stored(stored, f"{name}.data", f"{name}.offsets", len(codes))
        return cls(codes, buckets, table)


def _bits(size: int) -> int:
    return max(1, int(size).bit_length())


def _shift(size: int) -> np.uint64:
    return np.uint64(64 - _bits(size))


def _bucket_numbers(size: int) -> NDArray[np.uint64]:
    return np.arange(2 ** _bits(size) + 1, dtype=np.uint64)
