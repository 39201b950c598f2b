"""Reading the tables of a Wikipedia SQL dump, column by column, as fast as they decompress."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...errors import ProblemError
from .kernels.rows import parse_rows

__all__ = ["Chunk", "SqlTable", "open_dump"]

_CHUNK = 1 << 24
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
            Columns to read as whole numbers.
        text
            One column to read as text, or several.
        progress
            Whether to show a progress bar over the bytes read.

        Raises
        ------
        ProblemError
            If the table has no such column.
        """
        slot = np.full(len(self.columns), -1, np.int64)
        for place, name in enumerate(numbers):
            slot[self._column(name)] = place
        texts = [text] if isinstance(text, str) else list(text or ())
        is_text = np.zeros(len(self.columns), np.bool_)
        is_text[[self._column(name) for name in texts]] = True
        self.bad = 0
        inside = False
        rest = b""
        with open_dump(self.path, progress=progress) as (stream, move_on):
            while block := stream.read(_CHUNK):
                data = np.frombuffer(rest + block, np.uint8)
                # at least "(0)," for each row
                rows = np.empty((data.size // 4 + 1, max(1, len(numbers))), np.int64)
                blob = np.empty(data.size + 1 if texts else 0, np.uint8)
                found, filled, consumed, inside, bad = parse_rows(
                    data, inside, len(self.columns), slot, is_text, rows, blob
                )
                self.bad += bad
                rest = data[consumed:].tobytes()
                move_on()
                if found:
                    yield Chunk(rows[:found, : len(numbers)].copy(), blob[:filled].copy())

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
