"""Checksums of files, and writing files and folders atomically, with errors that name them."""

import ctypes
import errno
import hashlib
import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = [
    "beside", "file_digest", "remove_leftovers", "replaced", "write_atomically", "written_whole",
]  # fmt: skip

#: For exchanging two names by a system call: ``AT_FDCWD``; ``RENAME_EXCHANGE``, ``RENAME_SWAP``.
_HERE, _EXCHANGE = -100, 2
#: This machine, in the names of temporary files and folders.
_HOST = re.sub("[^A-Za-z0-9]", "-", platform.node())


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give the path of a temporary file that atomically replaces `path` in the end.

    Raises `OSError` with the name of `path`, even if the system gives none, as for a full disk.
    """
    temporary = _temporary(path)
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.filename not in (None, str(temporary)):
            raise
        raise _named(error, path) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """Write the whole file or nothing: no reader or later run sees half of it."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf8")


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Give a new folder that takes the place of another one when it is complete.

    If the process is killed, either the old folder or the complete new one is there; after an
    error, the old one. Raises `OSError` as :func:`beside`.
    """
    with beside(folder) as fresh:
        yield fresh
        if folder.exists() and not _exchange(fresh, folder):
            old = folder.with_name(f"{fresh.name}.old")
            folder.rename(old)
            fresh.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        elif fresh.exists() and not folder.exists():
            fresh.rename(folder)


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside another one.

    The next call removes what a killed process has left. Raises `OSError`, with the name of a file
    or of the folder, if it can't be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder.parent)
    fresh = _temporary(folder)
    try:
        fresh.mkdir()
        yield fresh
    except OSError as error:
        if error.filename is not None:
            raise
        raise _named(error, folder) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _temporary(path: Path) -> Path:
    """A new path beside another one, whose name tells the machine and the process."""
    return path.with_name(f".{path.name}.{_HOST}.{os.getpid()}.{uuid4().hex}")


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files and folders in a folder, of this machine's processes that ended."""
    pattern = re.compile(rf"\..+\.{_HOST}\.(\d+)\.[0-9a-f]{{32}}")
    for path in folder.iterdir():
        found = pattern.fullmatch(path.name)
        if found and not _is_alive(int(found[1])):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        if os.name != "nt":  # where signal 0 would end it
            os.kill(process, 0)
    except OSError as error:  # it is gone, or another user's
        return not isinstance(error, ProcessLookupError)
    return True


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders atomically, if the system and the file system can; did they?"""
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


def _named(error: OSError, path: Path) -> OSError:
    """The error with a path: the system gives none for a full disk, and numpy no error number."""
    return OSError(error.errno or errno.EIO, error.strerror or str(error), str(path))
