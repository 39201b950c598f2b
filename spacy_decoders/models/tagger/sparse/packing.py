"""Trained weights without those near zero: in memory, and in as few bytes as possible."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...saved import columns_of, damaged, fields_of, inflated, packed, whole_number

__all__ = [
    "MOST_LABELS",
    "MOST_ROWS",
    "Packed",
    "from_columns",
    "pack",
    "to_columns",
]

#: Of a saved weight, in a byte.
_MOST = 127
#: Of compression: higher ones take longer, and save little.
LEVEL = 6
_LARGEST = float(np.finfo(np.float32).max)
#: Labels and rows that a table may have.
MOST_LABELS, MOST_ROWS = 1 << 16, 1 << 26


class Packed(NamedTuple):
    """A table of weights by rows, without zeros."""

    #: **Shape (rows + 1,)**, int32: where the weights of each row begin.
    starts: NDArray[np.int32]
    #: **Shape (weights,)**, uint16.
    labels: NDArray[np.uint16]
    #: **Shape (weights,)**, float32.
    values: NDArray[np.float32]

    def dense(self, size: int) -> NDArray[np.float32]:
        """**Shape (rows, L)**: all weights, with zeros."""
        counts = np.diff(self.starts)
        weights = np.zeros((len(counts), size), dtype=np.float32)
        weights[np.repeat(np.arange(len(counts)), counts), self.labels] = self.values
        return weights

    def sums(self, rows: NDArray[np.int32], size: int) -> NDArray[np.float32]:
        """**Shape (n, L)**: the sums of the weights of each token's rows; -1 is none."""
        from scipy.sparse import csr_array

        table = csr_array((self.values, self.labels, self.starts), (len(self.starts) - 1, size))
        known = rows >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        ones = np.ones(ends[-1], dtype=np.float32)
        features = csr_array((ones, rows[known], ends), (len(rows), table.shape[0]))
        found: NDArray[np.float32] = (features @ table).toarray()
        return found


def pack(weights: NDArray[np.float32], least: float) -> Packed:
    """Leave out the weights whose absolute value is not more than `least`."""
    kept = np.abs(weights) > least
    starts = np.zeros(len(weights) + 1, dtype=np.int32)
    np.cumsum(kept.sum(axis=1), out=starts[1:])
    return Packed(starts, np.nonzero(kept)[1].astype(np.uint16), weights[kept])


def to_columns(table: Packed) -> dict[str, Any]:
    """Return a table as compressed bytes; each weight as a whole number of eight bits.

    Examples
    --------
    >>> table = pack(np.array([[0, 0.5], [0, 0], [-1, 0.001]], dtype=np.float32), 0.01)
    >>> from_columns(to_columns(table)).dense(2).round(2).tolist()
    [[0.0, 0.5], [0.0, 0.0], [-1.0, 0.0]]
    """
    scale = float(np.abs(table.values).max(initial=0.0)) / _MOST or 1.0
    whole = np.rint(table.values / scale).astype(np.int8)
    counts = np.diff(table.starts).astype(np.uint16)
    return {
        "bits": 8,
        "scale": scale,
        "rows": len(counts),
        "counts": packed(counts, LEVEL),
        "labels": packed(table.labels, LEVEL),
        "values": packed(whole, LEVEL),
    }


def from_columns(columns: dict[str, Any], size: int = MOST_LABELS) -> Packed:
    """Return the table that :func:`to_columns` saved.

    Parameters
    ----------
    columns
        What was saved.
    size
        The number of labels.

    Raises
    ------
    StorageError
        If the columns do not belong together, or hold what no table has.
    """
    names = ("bits", "scale", "rows", "counts", "labels", "values")
    bits, scale, rows, *compressed = fields_of(columns, names, "weights")
    whole_number(bits, 8, 8, "weights, bits")
    if not isinstance(scale, float) or not 0 < scale <= _LARGEST / _MOST:
        raise damaged("weights, scale", f"expected a positive number, got {scale!r:.40}")
    rows = whole_number(rows, 1, MOST_ROWS, "weights, rows")
    counts = _column(compressed[0], rows, "<u2", "weights, counts")
    total = int(counts.sum(dtype=np.int64))
    if counts.max() > size or total >= 1 << 31:
        raise damaged("weights, counts", f"a row has {counts.max():,} weights for {size:,} labels")
    starts = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    labels = _column(compressed[1], total, "<u2", "weights, labels")
    if labels.max(initial=0) >= max(size, 1):
        raise damaged("weights, labels", f"label {labels.max():,} of {size:,}")
    whole = _column(compressed[2], total, np.int8, "weights, values")
    return Packed(starts, labels, (whole * scale).astype(np.float32))


def _column(data: Any, length: int, kind: Any, part: str) -> NDArray[Any]:
    return columns_of(inflated(data, part, length * np.dtype(kind).itemsize), kind, part)
