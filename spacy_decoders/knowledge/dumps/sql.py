"""Reading the tables of a Wikipedia SQL dump, column by column."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import ProblemError
from ...readers.text_lines import whole_lines

__all__ = ["Chunk", "SqlTable", "open_dump"]

#: Between two texts of one row: a control character that no title has.
SEPARATOR = b"\x1f"
#: Rows of a chunk.
_ROWS = 1 << 17
_QUOTED, _OTHER = rb"'[^'\\]*(?:\\.[^'\\]*)*'", rb"[^',()]*"
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
#: MySQL's escapes of other characters than the one itself; texts are lines, without newlines.
_ESCAPED = {b"n": b" ", b"0": b" ", b"t": b"\t"}
_COLUMN = re.compile(r"^\s*`(\w+)`\s", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a table."""

    # (rows, columns): the number columns that were asked for, in that order; -1 for NULL
    numbers: NDArray[np.int64]
    # (bytes,): the text column as newline-ended UTF-8 lines, as `LineIndex.find` takes them;
    # empty if none was asked for; several columns with the byte 31 between them
    lines: NDArray[np.uint8]

    def texts(self) -> list[str]:
        """The text column as strings."""
        return bytes(self.lines).decode("utf8", errors="replace").split("\n")[:-1]


@contextmanager
def open_dump(
    path: Path, *, progress: bool = False
) -> Iterator[tuple[IO[bytes], Callable[[], object]]]:
    """Open a plain, gzip or bzip2 file by its ending.

    Gives the decompressed stream, and what moves the progress bar on to where the file is read.

    Raises
    ------
    ProblemError
        While it is read, if it is a damaged download.
    """
    with (
        path.open("rb") as raw,
        tqdm(
            total=path.stat().st_size,
            unit="B",
            unit_scale=True,
            desc=path.name,
            disable=not progress,
        ) as bar,
    ):

        def move_on() -> None:
            bar.update(raw.tell() - bar.n)

        try:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield unzipped, move_on  # type: ignore[misc]
            elif path.suffix == ".bz2":
                with bz2.BZ2File(raw) as stream:
                    yield stream, move_on  # type: ignore[misc]
            else:
                yield raw, move_on
        except (EOFError, OSError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ProblemError(
                f"dump: {path} is damaged or ends too early; download it again ({error})."
            ) from error


class SqlTable:
    """One table of a dump, such as ``enwiki-latest-pagelinks.sql.gz``.

    The order of the columns is read from the CREATE TABLE statement, since it has changed
    over the years.

    Parameters
    ----------
    path
        A dump of one table, plain or compressed.

    Attributes
    ----------
    columns
        Names of all columns, in their order.
    bad
        Tuples left out as broken in the last reading.

    Raises
    ------
    ProblemError
        If the file has no CREATE TABLE statement.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.columns = self._read_columns()
        self.bad = 0

    def chunks(
        self,
        numbers: Sequence[str],
        text: str | Sequence[str] | None = None,
        *,
        progress: bool = False,
    ) -> Iterator[Chunk]:
        """Stream the rows.

        Parameters
        ----------
        numbers
            The number columns to read.
        text
            The text column to read, if any; or several, whose texts come in the table's order,
            parted by the byte 31.
        progress
            Whether to show a progress bar.
        """
        texts = [text] if isinstance(text, str) else list(text or ())
        wanted = sorted({self._column(name) for name in (*numbers, *texts)})
        number_at = [wanted.index(self._column(name)) for name in numbers]
        text_at = sorted(wanted.index(self._column(name)) for name in texts)
        row = self._row([*numbers], texts)
        self.bad = 0
        with open_dump(self.path, progress=progress) as (stream, move_on):
            lines = whole_lines(stream, self.path)
            statements = (
                line for line in lines if line.lstrip().startswith((b"INSERT INTO", b"(", b","))
            )
            found = chain.from_iterable(map(row.findall, statements))
            while some := list(islice(found, _ROWS)):
                move_on()
                columns = [*zip(*some, strict=True)]
                if any(columns[-1]):
                    rows = [cells for cells in some if not cells[-1]]
                    self.bad += len(some) - len(rows)
                    columns = [*zip(*rows, strict=True)]
                    if not rows:
                        continue
                given = [_numbers(columns[at]) for at in number_at]
                held = [map(_plain, columns[at]) for at in text_at]
                lined = b"\n".join(map(SEPARATOR.join, zip(*held, strict=True)))
                yield Chunk(
                    np.array(given, np.int64).reshape(len(given), len(columns[-1])).T,
                    np.frombuffer(lined + b"\n" if texts else b"", np.uint8),
                )

    def _row(self, numbers: list[str], texts: list[str]) -> re.Pattern[bytes]:
        """Match a row, with a group for each wanted column; the last is of a broken row."""
        cells = []
        for name in self.columns:
            if name in numbers:
                cells.append(rb"(?:(-?\d{1,18})|%b|%b)" % (_QUOTED, _OTHER))
            elif name in texts:
                cells.append(rb"(?:'(%b)'|%b)" % (_QUOTED[1:-1], _OTHER))
            else:
                cells.append(rb"(?:%b|%b)" % (_QUOTED, _OTHER))
        row = rb"\s*,\s*".join(cells)
        return re.compile(rb"\(\s*%b\s*\)(?=\s*(?:[,;]|$))|(\()" % row, re.DOTALL)

    def _column(self, name: str) -> int:
        if name not in self.columns:
            raise ProblemError(
                f"dump: {self.path.name} has no column {name!r}; it has {', '.join(self.columns)}."
            )
        return self.columns.index(name)

    def _read_columns(self) -> tuple[str, ...]:
        with open_dump(self.path) as (stream, _):
            head = stream.read(1 << 16).decode("utf8", errors="replace")
        start = head.find("CREATE TABLE")
        end = head.find("\n)", start)
        names = tuple(_COLUMN.findall(head[start:end])) if start >= 0 and end > start else ()
        if not names:
            raise ProblemError(
                f"dump: {self.path} has no CREATE TABLE statement; is it an SQL dump of a table?"
            )
        return names


def _numbers(cells: Sequence[bytes]) -> NDArray[np.int64]:
    """The numbers of a column."""
    if b"" in cells:  # NULL
        cells = [cell or b"-1" for cell in cells]
    return np.fromstring(b",".join(cells), np.int64, sep=",")


def _plain(text: bytes) -> bytes:
    """A text without escapes, in one line."""
    if b"\\" in text:
        text = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text)
    return text.replace(b"\n", b" ").replace(SEPARATOR, b" ")
