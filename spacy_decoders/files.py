"""Checksums of files, and writing them whole, with errors that name them."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["file_digest", "write_atomically", "written_whole"]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Open a temporary file that atomically replaces `path` when it is closed.

    Raises `OSError` with the name of `path`, also where the system has none to tell, as of a full
    disk.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.filename not in (None, str(temporary)):
            raise
        reason = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or none: a reader or a later run never sees half of it."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf8")
