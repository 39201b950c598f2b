"""Finding strings again among millions, by a hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...graph.storage import StoredArrays
from ...graph.strings import StringTable
from .kernels import equal_to_previous, find_lines, gather_lines, hash_bytes, hash_lines

__all__ = ["StringIndex", "as_lines", "buckets_of", "gathered", "index_arrays"]

_NEWLINE = 10
#: Hashes that are counted together.
_CHUNK = 1 << 20

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

    Examples
    --------
    >>> index, rows, collisions = StringIndex.build(["b", "a", "b"])
    >>> len(index), bool(rows[0] == rows[2]), collisions
    (2, True, 0)
    >>> bool(index.find(["a"])[0] == rows[1]), int(index.find(["c"])[0])
    (True, -1)
    """

    #: Sorted hashes. **Shape:** ``(strings,)``
    codes: NDArray[np.uint64]
    #: First row of each bucket. **Shape:** ``(2 ** bits + 1,)``
    buckets: NDArray[np.int64]
    #: The strings in the same order.
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
        return cls.build_lines(as_lines(texts), len(texts))

    @classmethod
    def build_lines(
        cls, data: NDArray[np.uint8], count: int
    ) -> tuple[StringIndex, NDArray[np.int64], int]:
        """As `build`, of texts that :func:`as_lines` encoded."""
        codes, starts = hash_lines(read_only(data), count)
        order = np.argsort(codes, kind="stable")
        same = equal_to_previous(data, starts, order, codes)
        keep = same == 0
        rows = np.empty(count, np.int64)
        rows[order] = np.where(same < 0, -1, np.cumsum(keep) - 1)
        kept = order[keep]
        lengths = starts[kept + 1] - starts[kept] - 1  # without the newline
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        texts = gathered(data, starts, kept)
        table = StringTable(read_only(texts[texts != _NEWLINE]), read_only(offsets))
        kept_codes = read_only(codes[kept])
        index = cls(kept_codes, read_only(buckets_of(kept_codes)), table)
        return index, rows, int((same < 0).sum())

    def __len__(self) -> int:
        return len(self.codes)

    def __getstate__(self) -> dict[str, Any]:
        # views of memory can't be pickled, and are made anew
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def find(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Row of each text, -1 where it is not in the index. **Shape:** ``(texts,)``"""
        return self.find_lines(as_lines(texts), len(texts))

    def find_one(self, text: str) -> int:
        """Row of one text, -1 where it is not in the index: faster than `find` for one."""
        query = text.replace("\n", " ").encode("utf8", errors="replace")
        code = hash_bytes(np.frombuffer(query, np.uint8))
        buckets, offsets, data = self._views
        bucket = code >> self._top
        for row in range(buckets[bucket], buckets[bucket + 1]):
            if data[offsets[row] : offsets[row + 1]] == query:
                return row
        return -1

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview, memoryview]:
        # an item of a memory view is a plain number, at a third of the cost of an array's
        arrays = self.buckets, self.table.offsets, self.table.data
        buckets, offsets, data = (np.ascontiguousarray(array).data for array in arrays)
        return buckets, offsets, data

    @cached_property
    def _top(self) -> int:
        return int(_shift(len(self.codes)))

    def find_lines(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        """As `find`, for texts encoded by :func:`as_lines`."""
        found: NDArray[np.int64] = find_lines(read_only(lines), count, *self.kernel_arguments())
        return found

    def kernel_arguments(self) -> tuple[Any, ...]:
        """What kernels that look strings up are given: hashes, buckets, shift, bytes, offsets."""
        table = self.table
        return self.codes, self.buckets, _shift(len(self.codes)), table.data, table.offsets

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
        own = {f"{name}.codes": self.codes, f"{name}.buckets": self.buckets}
        return {**own, **self.table.arrays(name)}

    @classmethod
    def of_stored(cls, stored: StoredArrays, name: str) -> StringIndex:
        """Take an index from the arrays of a folder, and check them."""
        codes, buckets = stored[f"{name}.codes"], stored[f"{name}.buckets"]
        stored.check_offsets(f"{name}.buckets", 2 ** _bits(len(codes)), len(codes))
        table = StringTable.of_stored(stored, f"{name}.data", f"{name}.offsets", len(codes))
        return cls(codes, buckets, table)


def gathered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """The bytes of some lines, end to end; line i is ``data[starts[i]:starts[i + 1]]``."""
    found: NDArray[np.uint8] = gather_lines(read_only(data), read_only(starts), read_only(rows))
    return found


def buckets_of(codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The first row of each bucket, of sorted hashes. **Shape:** ``(2 ** bits + 1,)``"""
    buckets: NDArray[np.int64] = np.zeros(2 ** _bits(len(codes)) + 1, np.int64)
    shift = _shift(len(codes))
    for first in range(0, len(codes), _CHUNK):
        part = (codes[first : first + _CHUNK] >> shift).astype(np.int64)
        low, high = int(part[0]), int(part[-1])  # sorted: a chunk touches a stretch of buckets
        buckets[low + 1 : high + 2] += np.bincount(part - low, minlength=high - low + 1)
    return np.cumsum(buckets, out=buckets)


def _bits(size: int) -> int:
    return max(1, int(size).bit_length())


def _shift(size: int) -> np.uint64:
    return np.uint64(64 - _bits(size))
