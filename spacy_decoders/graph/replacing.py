"""Folders that are written whole: a new one takes the place of the old one in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["replaced"]

#: Of the system calls that exchange two names: ``AT_FDCWD``, ``RENAME_EXCHANGE``, ``RENAME_SWAP``.
_HERE, _EXCHANGE = -100, 2


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Give a new folder that takes the place of another one when it is complete.

    Killed at any moment, the old folder or the whole new one is in the place; what is left beside
    it is removed by the next writer. After an error all is as it was.

    Raises
    ------
    OSError
        If it can't be written, with the name of a file in it, or of the folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    fresh = folder.with_name(f".{folder.name}.{_own()}.{uuid4().hex}")
    try:
        fresh.mkdir()
        yield fresh
        if folder.exists() and not _exchange(fresh, folder):
            old = folder.with_name(f"{fresh.name}.old")
            folder.rename(old)
            fresh.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        elif fresh.exists() and not folder.exists():
            fresh.rename(folder)
    except OSError as error:
        if error.filename is not None:
            raise
        # of a full disk the system tells no name, and numpy no number
        reason = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, reason, str(folder)) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _own() -> str:
    """A name of this process, on this machine."""
    return f"{re.sub('[^A-Za-z0-9]', '-', platform.node())}.{os.getpid()}"


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes of this machine have left that were killed."""
    host, _ = _own().split(".")
    pattern = re.compile(rf"\.{re.escape(folder.name)}\.{re.escape(host)}\.(\d+)\.[0-9a-f]{{32}}")
    for path in folder.parent.iterdir():
        found = pattern.fullmatch(path.name)
        if found and not _is_alive(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # there, a signal of 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step, if the system and the file system can."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(first), os.fsencode(second)
        if hasattr(libc, "renameat2"):
            done = libc.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)
        else:
            done = libc.renamex_np(*names, _EXCHANGE)
    except (AttributeError, OSError, TypeError):
        return False
    return bool(done == 0)
