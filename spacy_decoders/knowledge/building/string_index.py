"""Finding strings again among millions, by a hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...graph.strings import StringTable
from .kernels import equal_to_previous, find_lines, gather_lines, hash_lines
from .stages import Stage, mapped

__all__ = ["StringIndex", "as_lines", "gathered", "lines_of"]

_NEWLINE = 10
#: Hashes that are counted together.
_CHUNK = 1 << 20


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


def lines_of(lines: NDArray[np.uint8]) -> list[str]:
    """The texts that `as_lines` encoded."""
    return lines.tobytes().decode("utf8", "replace").split("\n")[:-1]


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
        index = cls(kept_codes, read_only(_buckets_of(kept_codes)), table)
        return index, rows, int((same < 0).sum())

    def __len__(self) -> int:
        return len(self.codes)

    def find(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Row of each text, -1 where it is not in the index. **Shape:** ``(texts,)``"""
        return self.find_lines(as_lines(texts), len(texts))

    def find_lines(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        """As `find`, for texts encoded by :func:`as_lines`."""
        found: NDArray[np.int64] = find_lines(read_only(lines), count, *self.kernel_arguments())
        return found

    def kernel_arguments(self) -> tuple[Any, ...]:
        """What kernels that look strings up are given: hashes, buckets, shift, bytes, offsets."""
        table = self.table
        return self.codes, self.buckets, _shift(len(self.codes)), table.data, table.offsets

    def save(self, stage: Stage, name: str) -> None:
        """Write the index to a stage."""
        stage.append(f"{name}.codes", self.codes)
        stage.append(f"{name}.buckets", self.buckets)
        stage.append(f"{name}.data", self.table.data)
        stage.append(f"{name}.offsets", self.table.offsets)

    @classmethod
    def of_folder(cls, folder: Path, name: str) -> StringIndex:
        """Map the index of that name that a stage has written to its folder."""
        codes, buckets, data, offsets = (
            mapped(folder / f"{name}.{part}", dtype)
            for part, dtype in zip(
                ("codes", "buckets", "data", "offsets"),
                (np.uint64, np.int64, np.uint8, np.int64),
                strict=True,
            )
        )
        return cls(codes, buckets, StringTable(data, offsets))


def gathered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """The bytes of some lines, end to end; line i is ``data[starts[i]:starts[i + 1]]``."""
    found: NDArray[np.uint8] = gather_lines(read_only(data), read_only(starts), read_only(rows))
    return found


def _buckets_of(codes: NDArray[np.uint64]) -> NDArray[np.int64]:
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
