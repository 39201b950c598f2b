"""A user's own concepts, from TSV or JSON lines."""

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...arrays import checked_path
from ...errors import ProblemError
from ...readers.text_lines import decoded, whole_lines
from ..concepts import BadRows, Concept
from ..dumps.sql import open_dump

__all__ = ["ConceptFile"]


class ConceptFile:
    """Concepts from a TSV or JSON lines file, plain or compressed.

    TSV has a header line with the columns ``id`` and ``title`` and, if you have them,
    ``aliases``, ``links``, ``description``, ``text``, ``type``, ``qid`` and ``url``. Aliases and
    links are separated by ``;``, quotes are characters like others (a cell holds no tab and no
    line break), and an alias, written as texts write it, may carry its count:
    ``jaguar=40;jaguars=30``. JSON lines have the same fields; aliases are a list or an object
    of counts, links a list.

    Parameters
    ----------
    path
        ``.tsv`` or ``.jsonl``, also ``.gz`` or ``.bz2``.

    Attributes
    ----------
    bad
        What the last iteration could not read.
    ignored
        The columns, or fields, of the last iteration that a concept does not have.

    Raises
    ------
    ProblemError
        If the file is missing or of another kind, or its header lacks ``id`` or ``title``, or has
        a column twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = checked_path("source", path)
        self.bad = BadRows()
        self.ignored: set[str] = set()
        name = self.path.name.lower().removesuffix(".gz").removesuffix(".bz2")
        if not name.endswith((".tsv", ".jsonl")):
            raise ProblemError(f"source: expected a .tsv or .jsonl file, got {self.path.name}.")
        if not self.path.is_file():
            raise ProblemError(f"source: {self.path} is no file.")
        self._rows = self._tsv_rows if name.endswith(".tsv") else self._json_rows

    def __iter__(self) -> Iterator[Concept]:
        self.bad, self.ignored = BadRows(), set()
        fields_known = {item.name for item in fields(Concept)}
        known: set[str] = set()
        for where, row in self._rows():
            if isinstance(row, dict):
                self.ignored |= row.keys() - fields_known
                row = {name: row[name] for name in row.keys() & fields_known}
            try:
                concept = Concept.of(row)
            except (TypeError, ValueError) as error:
                self.bad.add(where, str(error))
                continue
            if concept.id in known:
                self.bad.add(where, f"the id {concept.id!r} is repeated")
                continue
            known.add(concept.id)
            yield concept

    def _json_rows(self) -> Iterator[tuple[str, Any]]:
        for where, line in _lines(self.path, self.bad):
            try:
                yield where, json.loads(line)
            except (RecursionError, ValueError) as error:
                self.bad.add(where, f"not JSON: {error}")

    def _tsv_rows(self) -> Iterator[tuple[str, Any]]:
        lines = _lines(self.path, self.bad, header=True)
        header = next(lines, ("", ""))[1].rstrip("\r\n").split("\t")
        if "id" not in header or "title" not in header:
            raise ProblemError(
                f"source: the first line of {self.path.name} must name its columns, among them "
                f"id and title; got {header}."
            )
        twice = sorted({column for column in header if header.count(column) > 1})
        if twice:
            raise ProblemError(
                f"source: {self.path.name} has the column {twice[0]!r} more than once; keep one."
            )
        for where, line in lines:
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) != len(header):
                self.bad.add(where, f"{len(cells)} columns, the header has {len(header)}")
                continue
            yield where, dict(zip(header, cells, strict=True))


def _lines(path: Path, bad: BadRows, *, header: bool = False) -> Iterator[tuple[str, str]]:
    """The lines of a file and where they are; those that are not UTF-8 go to `bad`.

    If the first line is a `header`, it must be UTF-8.
    """
    with open_dump(path) as stream:
        for number, line in enumerate(whole_lines(stream, path), start=1):
            where = f"{path.name}:{number}"
            try:
                yield where, decoded(line, path, number)
            except ProblemError as error:
                if header and number == 1:
                    raise
                bad.add(where, str(error))
