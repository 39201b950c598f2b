"""Text files: finding them, reading their lines, and locating invalid bytes."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any

from ..arrays import checked_path
from ..errors import ProblemError

__all__ = [
    "LONGEST_LINE",
    "decoded",
    "json_objects",
    "limited_lines",
    "matching_files",
    "text_lines",
    "whole_lines",
]

#: The most bytes of a line; longer ones, in all formats read here, have lost their ends.
LONGEST_LINE = 1 << 26


def decoded(data: bytes, path: Path, line: int = 1) -> str:
    """Decode UTF-8, with or without a byte-order mark.

    Raises `ProblemError`, with the path and the line, if the bytes, which begin at `line`, are not
    UTF-8.
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


def limited_lines(stream: IO[bytes] | BufferedIOBase) -> Iterator[tuple[bytes | None, int]]:
    """Yield the lines of a stream, None for too long ones, each with the byte where it begins.

    No more than `LONGEST_LINE` bytes are held in memory.
    """
    offset = 0
    while line := stream.readline(LONGEST_LINE):
        is_cut = len(line) >= LONGEST_LINE and not line.endswith(b"\n")
        yield None if is_cut else line, offset
        offset += len(line)
        while is_cut and line and not line.endswith(b"\n"):  # skip the rest
            line = stream.readline(LONGEST_LINE)
            offset += len(line)


def whole_lines(stream: IO[bytes] | BufferedIOBase, path: Path) -> Iterator[bytes]:
    """Yield the lines of a stream; `ProblemError` if one is too long."""
    for number, (line, _) in enumerate(limited_lines(stream), start=1):
        if line is None:
            raise ProblemError(
                f"{path}, line {number}: it has more than {LONGEST_LINE >> 20} MB; has it lost "
                "its end?"
            )
        yield line


def text_lines(path: Path) -> Iterator[str]:
    r"""Read a file line by line, gzipped or not; each ends in ``\n``, except perhaps the last.

    Raises `ProblemError` if a line is not UTF-8, or the file is not gzipped as its name says.
    """
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        number = 0
        try:
            for number, line in enumerate(whole_lines(lines, path), start=1):
                yield decoded(line, path, number).replace("\r\n", "\n")
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ProblemError(
                f"{path.name}: broken gzip file after line {number} ({error})."
            ) from error


def json_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read JSON lines, gzipped or not: each object with its place, for errors.

    Blank lines are skipped; `ProblemError` if another holds no JSON object.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ProblemError(f"{place}: no JSON ({error}).") from error
        if not isinstance(row, dict):
            raise ProblemError(f"{place}: expected a JSON object, got {type(row).__name__}.")
        yield place, row


def matching_files(path: str | Path | None, suffixes: Sequence[str]) -> list[Path]:
    """The one file, of whatever name, or those of a folder with a suffix, in order of names.

    ``.gz`` may follow each suffix. Raises `ProblemError` if there is none, or no path, which a
    config may lack until it is trained with.
    """
    if path is None:
        raise ProblemError("path: no corpus given; set it, for example by --paths.train FILE.")
    path = checked_path("path", path)
    if path.is_file():
        return [path]
    endings = (*suffixes, *(f"{suffix}.gz" for suffix in suffixes))
    inside = path.iterdir() if path.is_dir() else ()
    files = sorted(file for file in inside if file.name.endswith(endings))
    if not files:
        raise ProblemError(
            f"path: {path} is no file, and no folder with a file that ends with "
            f"{', '.join(endings)}."
        )
    return files
