"""Trained weights without those near zero: in memory, and in as few bytes as possible."""

from __future__ import annotations

import zlib
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed", "WeightBits", "from_columns", "pack", "to_columns"]

#: In how many bits a weight is saved.
WeightBits = Literal[8, 16]


class Packed(NamedTuple):
    """A table of weights by rows, without zeros.

    Attributes
    ----------
    starts
        **Shape (rows + 1,)**, int32: where the weights of each row begin.
    labels
        **Shape (weights,)**, uint16.
    values
        **Shape (weights,)**, float32.
    """

    starts: NDArray[np.int32]
    labels: NDArray[np.uint16]
    values: NDArray[np.float32]

    def dense(self, size: int) -> NDArray[np.float32]:
        """**Shape (rows, L)**: all weights, with zeros."""
        counts = np.diff(self.starts)
        weights = np.zeros((len(counts), size), dtype=np.float32)
        weights[np.repeat(np.arange(len(counts)), counts), self.labels] = self.values
        return weights


def pack(weights: NDArray[np.float32], least: float) -> Packed:
    """Leave out the weights whose absolute value is not more than `least`."""
    kept = np.abs(weights) > least
    starts = np.zeros(len(weights) + 1, dtype=np.int32)
    np.cumsum(kept.sum(axis=1), out=starts[1:])
    return Packed(starts, np.nonzero(kept)[1].astype(np.uint16), weights[kept])


def to_columns(table: Packed, bits: WeightBits) -> dict[str, Any]:
    """Return a table as compressed bytes; each weight as a whole number of so many bits.

    Examples
    --------
    >>> table = pack(np.array([[0, 0.5], [0, 0], [-1, 0.001]], dtype=np.float32), 0.01)
    >>> from_columns(to_columns(table, 8)).dense(2).round(2).tolist()
    [[0.0, 0.5], [0.0, 0.0], [-1.0, 0.0]]
    """
    limit = 2 ** (bits - 1) - 1
    scale = float(np.abs(table.values).max(initial=0.0)) / limit or 1.0
    whole = np.rint(table.values / scale).astype(np.int8 if bits == 8 else np.int16)
    counts = np.diff(table.starts).astype(np.uint16)
    return {
        "bits": bits,
        "scale": scale,
        "rows": len(counts),
        "counts": _compressed(counts.astype("<u2").view(np.uint8).reshape(-1, 2).T),
        "labels": _compressed(table.labels.astype("<u2").view(np.uint8).reshape(-1, 2).T),
        "values": _compressed(whole.view(np.uint8).reshape(-1, bits // 8).T),
    }


def from_columns(columns: dict[str, Any]) -> Packed:
    """Return the table that :func:`to_columns` saved."""
    counts = _uncompressed(columns["counts"], 2)
    starts = np.zeros(columns["rows"] + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    whole = _uncompressed(columns["values"], columns["bits"] // 8)
    signed = whole.view(np.int8 if columns["bits"] == 8 else np.int16)
    values = (signed * columns["scale"]).astype(np.float32)
    return Packed(starts, _uncompressed(columns["labels"], 2), values)


def _compressed(planes: NDArray[np.uint8]) -> bytes:
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), 9)


def _uncompressed(data: bytes, size: int) -> NDArray[Any]:
    planes = np.frombuffer(zlib.decompress(data), dtype=np.uint8).reshape(size, -1)
    kind = np.uint8 if size == 1 else np.dtype("<u2")
    return np.ascontiguousarray(planes.T).view(kind).reshape(-1)
