"""Text read from bytes, with the place where it is none."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from ..errors import ProblemError

__all__ = ["decoded", "text_lines"]


def decoded(data: bytes, path: Path, line: int = 1) -> str:
    """Decode UTF-8, with or without a byte-order mark.

    Parameters
    ----------
    data
        Bytes of a file.
    path
        The file, as the error names it.
    line
        The line of the file at which they begin.

    Raises
    ------
    ProblemError
        If they are no UTF-8.
    """
    try:
        return data.decode("utf-8-sig" if line == 1 else "utf8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = line + before.count(b"\n")
        byte = error.start - (before.rfind(b"\n") + 1) + 1
        raise ProblemError(
            f"{path}, line {place}: byte {byte} is 0x{data[error.start]:02x}, which is no UTF-8; "
            "convert the file first, for instance with iconv."
        ) from error


def text_lines(path: Path) -> Iterator[str]:
    r"""Read a file line by line, gzipped or not; each ends in ``\n``, but perhaps the last.

    Raises
    ------
    ProblemError
        If a line is no UTF-8.
    """
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            yield decoded(line, path, number).replace("\r\n", "\n")
