"""Millions of texts as newline-ended lines, looked up by their hashes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Integers, Integers32, read_only
from .kernels import hash_lines

__all__ = ["NONE", "TEXTS", "LineIndex", "as_lines", "storable", "taken"]

#: Stands for no page and no concept.
NONE = -1
#: Texts that are processed at once: as Python strings they take a hundred bytes each.
TEXTS = 1 << 17


def as_lines(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Encode texts as newline-ended UTF-8 lines; a newline in a text becomes a space.

    Lone surrogates, which broken dumps contain, become question marks.
    """
    joined = "".join(text.replace("\n", " ") + "\n" for text in texts)
    return np.frombuffer(joined.encode("utf8", errors="replace"), np.uint8)


def storable(text: str) -> str:
    """A text without lone surrogates, which UTF-8 can't encode: they become question marks."""
    return text if text.isascii() else text.encode("utf8", "replace").decode("utf8")


def taken(values: NDArray[Any], places: NDArray[Any]) -> Integers:
    """``values[places]``, -1 where an index is negative or beyond the end.

    Examples
    --------
    >>> taken(np.array([5, 6]), np.array([1, -1, 0, 2])).tolist()
    [6, -1, 5, -1]
    """
    inside = (places >= 0) & (places < len(values))
    found = np.full(len(places), NONE, np.int64)
    found[inside] = values[places[inside]]
    return found


@dataclass(frozen=True, eq=False)
class LineIndex:
    """Finds lines among those that were indexed.

    Only their 64-bit hashes are compared: a line that is none of 20 million is taken for one of
    them with a probability of 1e-12.

    Examples
    --------
    >>> index = LineIndex.of(as_lines(["b", "a", "b"]), 3)
    >>> index.find(as_lines(["a", "c", "b"]), 3).tolist()
    [1, -1, 0]
    """

    codes: NDArray[np.uint64]  # (distinct lines,): their hashes, ascending
    rows: Integers32  # (distinct lines,): the first index of each

    @classmethod
    def of(cls, lines: NDArray[np.uint8], count: int) -> LineIndex:
        """Index `count` lines."""
        codes, rows = np.unique(hash_lines(read_only(lines), count), return_index=True)
        return cls(codes, rows.astype(np.int32))

    def find(self, lines: NDArray[np.uint8], count: int) -> Integers:
        """The first index of each of `count` lines, -1 if not found. **Shape:** ``(count,)``"""
        if not len(self.codes):
            return np.full(count, NONE, np.int64)
        codes = hash_lines(read_only(lines), count)
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.rows[place], NONE).astype(np.int64)
