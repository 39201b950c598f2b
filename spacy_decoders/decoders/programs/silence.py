"""Keeping a C library from writing to the program's standard output."""

from __future__ import annotations

import ctypes
import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

__all__ = ["silent_stdout"]

_lock = threading.Lock()
_users = 0
_restore: _Redirection | None = None


@contextmanager
def silent_stdout() -> Iterator[None]:
    """Discard what C code writes to standard output, for all threads together.

    The file descriptor belongs to the whole process. The first thread that enters redirects it and
    the last that leaves restores it, so that overlapping users cannot restore it in the wrong
    order. Meanwhile ``sys.stdout`` writes to a copy of the descriptor, so that no thread's
    ``print`` is lost. Without a standard output, or where it can't be duplicated, nothing is done.
    """
    global _users, _restore
    with _lock:
        if _users == 0:
            with suppress(OSError, ValueError):
                _restore = _Redirection()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _restore is not None:
                _restore.undo()
                _restore = None


class _Redirection:
    """Descriptor 1 redirected to the null device, without affecting Python's own output."""

    def __init__(self) -> None:
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        _flush_c()
        saved = os.dup(1)
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(null, 1)
            finally:
                os.close(null)
        except OSError:
            os.close(saved)
            raise
        self._outlet = _Outlet(saved)
        self._original = sys.stdout
        self._substitute: io.TextIOWrapper | None = None
        if isinstance(sys.stdout, io.TextIOWrapper) and _writes_to_descriptor_1(sys.stdout):
            self._substitute = io.TextIOWrapper(
                io.BufferedWriter(self._outlet),
                encoding=sys.stdout.encoding,
                errors=sys.stdout.errors,
                line_buffering=sys.stdout.line_buffering,
            )
            sys.stdout = self._substitute

    def undo(self) -> None:
        if self._substitute is not None:
            if sys.stdout is self._substitute:
                sys.stdout = self._original
            with suppress(OSError, ValueError):
                self._substitute.flush()
        # not Python's own: what a thread wrote while the descriptor changed would be discarded
        _flush_c()
        self._outlet.restore()


class _Outlet(io.RawIOBase):
    """Writes to a copy of descriptor 1 until restored, and then to 1 itself.

    It is never closed: a thread in the middle of a ``print`` still holds it.
    """

    def __init__(self, saved: int) -> None:
        self._descriptor = saved
        self._lock = threading.Lock()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data: Any) -> int:
        with self._lock:
            return os.write(self._descriptor, data)

    def restore(self) -> None:
        """Restore descriptor 1, and write there."""
        with self._lock:
            os.dup2(self._descriptor, 1)
            os.close(self._descriptor)
            self._descriptor = 1


def _writes_to_descriptor_1(stream: io.TextIOWrapper) -> bool:
    try:
        return stream.fileno() == 1
    except (OSError, ValueError):
        return False


def _flush_c() -> None:
    """Flush C's buffers before the descriptor changes."""
    with suppress(OSError, AttributeError, TypeError):
        _library().fflush(None)


@lru_cache(maxsize=1)
def _library() -> Any:
    """Return C's own functions."""
    return ctypes.CDLL(None)
