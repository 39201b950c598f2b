"""Small steps on arrays that several stages take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NONE", "TEXTS", "chunks", "ranges", "rows_of_parts", "taken"]

#: Stands for no page and no concept.
NONE = -1
#: Texts that are worked on together: as Python's, they take a hundred bytes each.
TEXTS = 1 << 17
_CHUNK = 1 << 21


def taken(values: NDArray[Any], places: NDArray[Any]) -> NDArray[np.int64]:
    """``values[places]``, -1 where a place is negative or beyond the end.

    Examples
    --------
    >>> taken(np.array([5, 6]), np.array([1, -1, 0, 2])).tolist()
    [6, -1, 5, -1]
    """
    inside = (places >= 0) & (places < len(values))
    found = np.full(len(places), NONE, np.int64)
    found[inside] = values[places[inside]]
    return found


def chunks(size: int, step: int = _CHUNK) -> Iterator[slice]:
    """Slices of `step` entries that cover `size` entries."""
    return (slice(first, min(first + step, size)) for first in range(0, size, step))


def ranges(weights: NDArray[Any], parts: int) -> NDArray[np.int64]:
    """Bounds of at most `parts` ranges of about the same weight. **Shape:** ``(ranges + 1,)``

    Examples
    --------
    >>> ranges(np.array([1, 1, 1, 9, 1, 1]), 3).tolist()
    [0, 3, 6]
    """
    total = np.cumsum(weights, dtype=np.float64)
    if not len(total):
        return np.array([0, 0], np.int64)
    inner = np.searchsorted(total, total[-1] * np.arange(1, parts) / parts)
    return np.unique(np.concatenate([[0], inner, [len(total)]])).astype(np.int64)


def rows_of_parts(part: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The number of each part, from 0 on, that has any rows, and the rows, in their order."""
    order = np.argsort(part, kind="stable")  # a counting sort for small integers
    ordered = part[order]
    for rows in np.split(order, 1 + np.flatnonzero(ordered[1:] != ordered[:-1])):
        if len(rows):
            yield int(part[rows[0]]), rows
