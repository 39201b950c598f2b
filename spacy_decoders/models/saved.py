"""Reading parts of saved models: what is damaged is refused before a compiled loop sees it."""

from __future__ import annotations

import gc
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import srsly
from numpy.typing import NDArray

from ..errors import StorageError

__all__ = [
    "array_of",
    "columns_of",
    "counts_of",
    "damaged",
    "fields_of",
    "inflated",
    "message_of",
    "packed",
    "saved_counts",
    "whole_number",
]


def damaged(part: str, reason: object) -> StorageError:
    """Return the error that names the part of a saved model which is damaged."""
    return StorageError(f"{part}: the saved model is damaged: {reason}; copy or train it again.")


def message_of(data: bytes, part: str) -> Any:
    """Read what was saved as msgpack.

    Raises
    ------
    StorageError
        If it cannot be read.
    """
    collects = gc.isenabled()
    try:
        return srsly.msgpack_loads(data)
    # damaged bytes may stand for numbers, dates or arrays that nothing can be made of
    except Exception as error:
        raise damaged(part, f"it cannot be read ({error!r})") from error
    finally:
        if collects:  # srsly turns the collector off, and after an error leaves it so
            gc.enable()


def fields_of(saved: Any, names: Sequence[str], part: str) -> list[Any]:
    """Return the fields of a saved mapping.

    Raises
    ------
    StorageError
        If it is no mapping, or a field is missing.
    """
    if not isinstance(saved, dict):
        raise damaged(part, f"expected fields, got {type(saved).__name__}")
    missing = [name for name in names if name not in saved]
    if missing:
        raise damaged(part, f"{', '.join(missing)} missing")
    return [saved[name] for name in names]


def whole_number(value: Any, least: int, most: int, part: str) -> int:
    """Return a number that was saved.

    Raises
    ------
    StorageError
        If it is not a whole number in range.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise damaged(
            part, f"expected a whole number from {least:,} to {most:,}, got {value!r:.40}"
        )
    return value


def array_of(value: Any, kind: Any, shape: Sequence[int], part: str) -> NDArray[Any]:
    """Return an array that was saved; a size of -1 may be any.

    Raises
    ------
    StorageError
        If it is of another kind or shape.
    """
    fits = isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == len(shape)
    if not fits or any(size not in (-1, of) for size, of in zip(shape, value.shape, strict=True)):
        raise damaged(part, f"expected numbers of shape {tuple(shape)}, got {value!r:.40}")
    found: NDArray[Any] = value
    return found


def counts_of(value: Any, shape: Sequence[int], part: str) -> NDArray[np.int64]:
    """Return counts that were saved, of four bytes or eight; see :func:`array_of`."""
    if isinstance(value, np.ndarray) and value.dtype == np.int32:
        value = value.astype(np.int64)
    return array_of(value, np.int64, shape, part)


def saved_counts(value: Any) -> Any:
    """Return counts in four bytes, for saving; anything else as it is."""
    small = isinstance(value, np.ndarray) and value.dtype == np.int64
    return value.astype(np.int32) if small and value.max(initial=0) < 1 << 31 else value


def inflated(data: Any, part: str, size: int | None = None) -> bytes:
    """Decompress what was saved.

    Parameters
    ----------
    data
        Compressed bytes.
    part
        Their name.
    size
        How many bytes there should be; any number if None.

    Raises
    ------
    StorageError
        If it is cut short, is not what was compressed, or has another size.
    """
    if not isinstance(data, bytes):
        raise damaged(part, f"expected bytes, got {type(data).__name__}")
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, 0 if size is None else size + 1)
    except (zlib.error, MemoryError) as error:
        raise damaged(part, error) from error
    if size is not None and (len(found) > size or (stream.eof and len(found) < size)):
        more = " or more" if len(found) > size else ""
        raise damaged(part, f"expected {size:,} bytes, got {len(found):,}{more}")
    if not stream.eof or stream.unused_data:
        raise damaged(part, "it does not end where it should")
    return found


def packed(column: NDArray[Any], level: int = 9) -> bytes:
    """Compress a column with the lowest bytes of all its numbers first, then the higher ones."""
    planes = column.reshape(-1, 1).view(np.uint8).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), level)


def columns_of(data: bytes, kind: Any, part: str) -> NDArray[Any]:
    """Return the numbers that :func:`packed` compressed, of decompressed bytes.

    Raises
    ------
    StorageError
        If the last number is not complete.
    """
    size = np.dtype(kind).itemsize
    if len(data) % size:
        raise damaged(part, f"{len(data):,} bytes are no numbers of {size} bytes")
    planes = np.frombuffer(data, dtype=np.uint8).reshape(size, -1)
    found: NDArray[Any] = np.ascontiguousarray(planes.T).view(kind)
    return found.reshape(-1)
