"""Reading parts of saved models, which are validated before kernels see them."""

import gc
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DecodersError, StorageError
from .inference.products import aligned

__all__ = [
    "array_of", "damaged", "inflated", "packed", "reading", "unpacked", "whole_number",
    "widen_weights",
]  # fmt: skip


def damaged(part: str, reason: object) -> StorageError:
    """Return the error that names the damaged part of a saved model."""
    return StorageError(f"{part}: the saved model is damaged: {reason}; copy or train it again.")


@contextmanager
def reading(part: str) -> Iterator[None]:
    """Turn errors while a part of a saved model is read into `StorageError`, which names it.

    Errors of this package itself are not changed.
    """
    collects = gc.isenabled()
    try:
        yield
    except DecodersError:
        raise
    # damaged bytes may be decoded to anything, and so raise anything
    except Exception as error:
        raise damaged(part, f"{type(error).__name__}: {error!s:.200}") from error
    finally:
        if collects:  # srsly disables the collector, and leaves it disabled after an error
            gc.enable()


def whole_number(value: Any, least: int, most: int, part: str) -> int:
    """Return a saved number; raises `StorageError` if it is not a whole number in range."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise damaged(
            part, f"expected a whole number from {least:,} to {most:,}, got {value!r:.40}"
        )
    return value


def array_of(value: Any, kind: Any, shape: Sequence[int], part: str) -> NDArray[Any]:
    """Return a saved array; a size of -1 in `shape` stands for any.

    Raises `StorageError` if it has another dtype or shape.
    """
    fits = isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == len(shape)
    if not fits or any(size not in (-1, of) for size, of in zip(shape, value.shape, strict=True)):
        is_array = isinstance(value, np.ndarray)
        got = f"{value.dtype} of shape {value.shape}" if is_array else f"{value!r:.40}"
        raise damaged(part, f"expected {np.dtype(kind)} of shape {tuple(shape)}, got {got}")
    return value


def inflated(data: bytes, size: int | None = None) -> bytes:
    """Decompress saved data of `size` bytes; of any size if None.

    Raises `ValueError` if the size differs, or the compressed data are incomplete or too long.
    """
    stream = zlib.decompressobj()
    # limited to one byte more than allowed, as a few bytes may expand to gigabytes
    found = stream.decompress(data, 0 if size is None else size + 1)
    if not stream.eof or stream.unused_data or (size is not None and len(found) != size):
        expected = "its end" if size is None else f"{size:,} bytes"
        raise ValueError(f"expected {expected}, got {len(found):,} bytes")
    return found


def packed(column: NDArray[Any], level: int = 9) -> bytes:
    """Compress a column, after grouping its numbers' bytes by significance, lowest first."""
    planes = column.reshape(-1, 1).view(np.uint8).T
    return zlib.compress(np.ascontiguousarray(planes).tobytes(), level)


def unpacked(data: bytes, kind: Any, length: int | None = None) -> NDArray[Any]:
    """Return the numbers compressed by :func:`packed`; raises `ValueError` for another length."""
    size = np.dtype(kind).itemsize
    found = inflated(data, None if length is None else length * size)
    planes = np.frombuffer(found, dtype=np.uint8).reshape(size, -1)
    numbers: NDArray[Any] = np.ascontiguousarray(planes.T).view(kind)
    return numbers.reshape(-1)


def widen_weights(layers: Iterable[Any]) -> None:
    """Convert weights, which may be saved in half precision, to aligned single precision."""
    for layer in layers:
        for name in layer.param_names:
            if layer.has_param(name) and layer.get_param(name).dtype in ("float16", "float32"):
                saved = layer.get_param(name)
                weights = aligned(saved.shape, np.float32)
                weights[:] = saved
                layer.set_param(name, weights)
