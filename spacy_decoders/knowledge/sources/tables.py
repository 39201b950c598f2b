"""Tab-separated tables, plain or compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import ProblemError
from ...readers.text_lines import whole_lines
from ..concepts import BadRows
from ..dumps.sql import open_dump

__all__ = ["find_table", "rows_of"]


def find_table(folder: Path, name: str) -> Path:
    """The table of a name in a folder: ``NAME.tsv``, ``.tsv.gz`` or ``.tsv.bz2``.

    Raises
    ------
    ProblemError
        If there is none.
    """
    for suffix in (".tsv", ".tsv.gz", ".tsv.bz2"):
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    raise ProblemError(f"source: {folder} has no {name}.tsv, also not as .gz or .bz2.")


def rows_of(path: Path, columns: int, bad: BadRows) -> Iterator[list[str]]:
    """Rows of a table; those of another number of columns, or not in UTF-8, go to `bad`.

    Empty lines and those that begin with ``#`` are passed over.
    """
    if not path.is_file():
        raise ProblemError(f"source: {path} does not exist.")
    with open_dump(path) as (stream, _):
        for number, line in enumerate(whole_lines(stream, path), start=1):
            if not line.strip() or line.startswith(b"#"):
                continue
            try:
                cells = line.decode("utf8").rstrip("\r\n").split("\t")
            except UnicodeDecodeError as error:
                bad.add(f"{path.name}:{number}", str(error))
                continue
            if len(cells) != columns:
                bad.add(f"{path.name}:{number}", f"{len(cells)} columns instead of {columns}")
                continue
            yield cells
