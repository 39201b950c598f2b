"""Atomic writing of files, with errors that name the file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["write_atomically", "written_whole"]


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
