"""Reading the tables of a Wikipedia SQL dump, column by column."""

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import parent_process
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import ProblemError
from ...readers.text_lines import whole_lines

__all__ = ["Chunk", "SqlTable", "open_dump"]

#: Rows of a chunk.
_ROWS = 1 << 17
#: A quote within a text is escaped or doubled.
_TEXT = rb"[^'\\]*(?:(?:\\.|'')[^'\\]*)*"
_QUOTED, _OTHER = rb"'%b'" % _TEXT, rb"[^',()]*"
_ESCAPE = re.compile(rb"[\\'](.)", re.DOTALL)
#: MySQL's escapes that do not stand for the character itself; texts are lines, without newlines.
_ESCAPED = {b"n": b" ", b"0": b" ", b"t": b"\t"}
_COLUMN = re.compile(r"^\s*`(\w+)`\s", re.MULTILINE)


class Chunk(NamedTuple):
    """Some rows of a table."""

    # (rows, columns): the number columns that were asked for, in that order; -1 for NULL
    numbers: NDArray[np.int64]
    # the text columns: each as newline-ended UTF-8 lines, as `LineIndex.find` takes them
    texts: list[NDArray[np.uint8]]


@contextmanager
def open_dump(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain, gzip or bzip2 file by its ending, with a progress bar on a terminal.

    Raises `ProblemError` while it is read, if it is a damaged download.
    """
    size, silent = path.stat().st_size, True if parent_process() else None
    with (
        path.open("rb") as raw,
        tqdm.wrapattr(raw, "read", size, desc=path.name, disable=silent, delay=1) as compressed,
    ):
        given: Any = compressed
        try:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=given) as unzipped:
                    yield unzipped  # type: ignore[misc]
            elif path.suffix == ".bz2":
                with bz2.BZ2File(given) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
        except (EOFError, OSError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ProblemError(
                f"{path} is damaged or ends too early; copy or download it again ({error})."
            ) from error


class SqlTable:
    """One table of a dump, such as ``enwiki-latest-pagelinks.sql.gz``.

    The file is plain or compressed. The order of the columns is read from the CREATE TABLE
    statement, since it has changed over the years; `ProblemError` if there is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        #: names of all columns, in their order
        self.columns = self._read_columns()
        #: tuples left out as broken in the last reading
        self.bad = 0

    def chunks(self, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Chunk]:
        """Stream the rows of some number columns and text columns, by their names."""
        wanted = sorted({self._column(name) for name in (*numbers, *texts)})
        number_at, text_at = (
            [wanted.index(self._column(name)) for name in names] for names in (numbers, texts)
        )
        row = self._row(numbers, texts)
        self.bad = 0
        with open_dump(self.path) as stream:
            lines = whole_lines(stream, self.path)
            statements = (
                line for line in lines if line.lstrip().startswith((b"INSERT INTO", b"(", b","))
            )
            found = chain.from_iterable(map(row.findall, statements))
            while some := list(islice(found, _ROWS)):
                rows = [cells for cells in some if not cells[-1]]
                self.bad += len(some) - len(rows)
                if rows:
                    columns = [*zip(*rows, strict=True)]
                    given = [_numbers(columns[at]) for at in number_at]
                    yield Chunk(
                        np.array(given, np.int64).reshape(len(given), len(rows)).T,
                        [_lines(columns[at]) for at in text_at],
                    )

    def _row(self, numbers: Sequence[str], texts: Sequence[str]) -> re.Pattern[bytes]:
        """Match a row, with a group for each wanted column; the last group marks a broken row."""
        cells = []
        for name in self.columns:
            if name in numbers:
                cells.append(rb"(?:(-?\d{1,18})|%b|%b)" % (_QUOTED, _OTHER))
            elif name in texts:
                cells.append(rb"(?:'(%b)'|%b)" % (_TEXT, _OTHER))
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
        with open_dump(self.path) as stream:
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


def _lines(cells: Sequence[bytes]) -> NDArray[np.uint8]:
    """The texts of a column, as lines."""
    return np.frombuffer(b"\n".join(map(_plain, cells)) + b"\n", np.uint8)


def _plain(text: bytes) -> bytes:
    """A text without escapes and newlines."""
    if b"\\" in text or b"'" in text:
        text = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text)
    return text.replace(b"\n", b" ")
