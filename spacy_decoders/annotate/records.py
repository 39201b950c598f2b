"""Reading documents from files of several kinds, with broken ones reported."""

import gzip
import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import Doc, DocBin
from spacy.util import minibatch
from spacy.vocab import Vocab

from ..errors import ProblemError
from ..extras import needed
from ..readers.docbins import docbin_docs, read_docbin
from ..readers.text_lines import LONGEST_LINE, decoded, limited_lines

__all__ = ["Extent", "Record", "as_json", "input_files", "read", "runs", "texts", "version_of"]

#: The suffixes of each kind of file.
_KINDS = {
    ".jsonl": "lines",
    ".jsonl.gz": "lines",
    ".parquet": "parquet",
    ".spacy": "docbin",
    ".txt": "text",
}
#: Records that `texts` reads at a time.
RECORDS = 1000
#: What libraries raise on a damaged file.
_BROKEN = (OSError, EOFError, ValueError, zlib.error)
_TOO_LONG = f"a text of more than {LONGEST_LINE >> 20} MB; cut it into smaller ones"


@dataclass(frozen=True)
class Record:
    """One document to annotate, or the reason why it could not be read."""

    #: The record's own ``id``, in its own type; else file name and number.
    id: str | int | float
    #: The text; None if `doc` or `problem` is given.
    text: str | None = None
    #: The other fields of the record, in plain JSON types.
    fields: dict[str, Any] | None = None
    #: A document that was read with its annotations.
    doc: Doc | None = None
    #: What is wrong with the record.
    problem: str | None = None
    #: The file that it was read from.
    file: str = ""
    #: Its number in the file, from 1; None if the file is one record.
    line: int | None = None


@dataclass(frozen=True)
class Extent:
    """The records `start` to `stop` (exclusive) of one file.

    `version` is :func:`version_of` the file when it was listed. In files of lines, `offset` is the
    byte, after unzipping, at which the first record begins.
    """

    path: str
    version: tuple[int, int]
    start: int
    offset: int
    stop: int


def version_of(path: Path) -> tuple[int, int]:
    """Size of a file, and when it was changed."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def input_files(source: Path) -> list[Path]:
    """List the readable files of a folder, or the one file, in a fixed order.

    Raises `ProblemError` if there is none, or the library that reads one is missing.
    """
    if not source.exists():
        raise ProblemError(f"source: {source} does not exist.")
    files = [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file())
    readable = [path for path in files if _kind(path)]
    if not readable:
        kinds = ", ".join(sorted(_KINDS))
        raise ProblemError(
            f"source: nothing to read at {source}; expected files ending in {kinds}."
        )
    if any(_kind(path) == "parquet" for path in readable):
        needed("pyarrow.parquet", "parquet", "input")
    return readable


def runs(paths: Iterable[Path], size: int) -> Iterator[tuple[Extent, ...]]:
    """Cut files into runs of `size` records; the last may be shorter."""
    files = ((str(path), version_of(path)) for path in paths)
    records = ((*file, *at) for file in files for at in enumerate(_positions(*file)))
    for run in minibatch(records, size):
        of_files = (list(found) for _, found in groupby(run, itemgetter(0)))
        yield tuple(Extent(*(*found[0], found[-1][2] + 1)) for found in of_files)


def _positions(path: str, version: tuple[int, int]) -> Iterable[int]:
    """An offset for each record: in files of lines, the byte at which it begins.

    A broken file counts as one record.
    """
    kind = _kind(Path(path))
    if kind == "lines":
        return _line_offsets(Path(path))
    try:
        if kind == "docbin":
            return range(len(_docbin(path, version)))
        return range(1 if kind == "text" else _parquet(path).metadata.num_rows)
    except _BROKEN as error:  # `read` reports the same error
        _raise_if_away(error)
        return range(1)


def read(extent: Extent, vocab: Vocab, text_field: str) -> Iterator[Record]:
    """Read the records of an extent; broken ones have a `problem`.

    Raises `OSError` if the file can't be reached, or is no longer what was listed.
    """
    path, number = Path(extent.path), extent.start
    of_many = _kind(path) != "text"
    try:
        for number, record in enumerate(_read(extent, vocab, text_field), start=extent.start + 1):
            yield replace(record, file=extent.path, line=number if of_many else None)
    except _BROKEN as error:
        _raise_if_away(error)
        line = number + 1 if _kind(path) == "lines" else None
        yield Record(path.name, problem=f"broken file: {error}", file=extent.path, line=line)
    if version_of(path) != extent.version:
        raise OSError(f"{path} has changed since it was listed")


def _raise_if_away(error: Exception) -> None:
    """Raise an error of the system again, which may pass; a file's content has no ``errno``."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


def texts(source: Path, vocab: Vocab, text_field: str) -> Iterator[tuple[str, str]]:
    """Yield the non-empty texts of all kinds of files, with their ids.

    Raises `ProblemError` if there is no readable file, or a record can't be read.
    """
    for extent in chain.from_iterable(runs(input_files(source), RECORDS)):
        for record in read(extent, vocab, text_field):
            if record.problem is not None:
                raise ProblemError(f"source: {record.id}: {record.problem}")
            text = record.text if record.doc is None else record.doc.text
            if text and text.strip():
                yield text, str(record.id)


def _read(extent: Extent, vocab: Vocab, text_field: str) -> Iterator[Record]:
    path = Path(extent.path)
    kind = _kind(path)
    if kind == "text":
        yield _text_record(path)
    elif kind == "docbin":
        docs = docbin_docs(_docbin(extent.path, extent.version), path, vocab)
        for number, doc in enumerate(islice(docs, extent.start, extent.stop), start=extent.start):
            yield Record(_identity(doc.user_data, f"{path.name}:{number + 1}"), doc=doc)
    elif kind == "parquet":
        for number, row in enumerate(_rows(path, extent), start=extent.start):
            plain = json.loads(as_json(row))
            yield _row_record(plain, f"{path.name}:{number + 1}", text_field)
    else:
        for number, line in enumerate(_lines(path, extent), start=extent.start):
            yield _line_record(line, path, number + 1, text_field)


def _kind(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for ending, kind in _KINDS.items() if name.endswith(ending)), None)


def _opened(path: Path) -> Any:
    """Open a file of lines, gzipped or not."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _line_offsets(path: Path) -> Iterator[int]:
    """The byte at which each line begins; a truncated rest counts as another line."""
    with _opened(path) as lines:
        try:
            for _, offset in limited_lines(lines):
                yield offset
        except _BROKEN as error:  # `read` reports the same error
            _raise_if_away(error)
            yield lines.tell()


def _lines(path: Path, extent: Extent) -> Iterator[bytes | None]:
    """The lines of an extent; None for one that is too long."""
    with _opened(path) as lines:
        lines.seek(extent.offset)
        for line, _ in islice(limited_lines(lines), extent.stop - extent.start):
            yield line


@lru_cache(maxsize=1)  # a file's shards are read one after the other
def _docbin(path: str, version: tuple[int, int]) -> DocBin:
    return read_docbin(path)


def _parquet(path: Path | str) -> Any:
    parquet = needed("pyarrow.parquet", "parquet", "input")
    return parquet.ParquetFile(path)


def _rows(path: Path, extent: Extent) -> Iterator[dict[str, Any]]:
    position = 0
    for batch in _parquet(path).iter_batches():
        low = max(extent.start - position, 0)
        high = min(extent.stop - position, batch.num_rows)
        if low < high:
            yield from batch.slice(low, high - low).to_pylist()
        position += batch.num_rows
        if position >= extent.stop:
            return


def _text_record(path: Path) -> Record:
    if path.stat().st_size > LONGEST_LINE:
        return Record(path.name, problem=_TOO_LONG)
    try:
        return Record(path.name, text=decoded(path.read_bytes(), path))
    except ProblemError as error:
        return Record(path.name, problem=str(error))


def _line_record(line: bytes | None, path: Path, number: int, text_field: str) -> Record:
    name = f"{path.name}:{number}"
    if line is None:
        return Record(name, problem=_TOO_LONG)
    if not line.strip():
        return Record(name, problem="an empty line")
    try:
        row = json.loads(decoded(line, path, number))
    except ProblemError as error:
        return Record(name, problem=str(error))
    except (ValueError, RecursionError) as error:
        return Record(name, problem=f"not JSON: {error}")
    if not isinstance(row, dict):
        return Record(name, problem=f"expected a JSON object, got {type(row).__name__}")
    return _row_record(row, name, text_field)


def _row_record(row: dict[str, Any], name: str, text_field: str) -> Record:
    identity = _identity(row, name)
    text = row.get(text_field)
    if not isinstance(text, str):
        fields = ", ".join(sorted(row)) or "none"
        problem = (
            f"field {text_field!r} holds {text!r:.50}, which is not text"
            if text_field in row
            else f"no field {text_field!r}; fields: {fields}"
        )
        return Record(identity, problem=problem)
    for field, value in row.items():
        try:
            srsly.msgpack_dumps({field: value})
        except (ValueError, OverflowError, RecursionError) as error:  # such as a lone surrogate
            return Record(identity, problem=f"field {field!r} can't be written: {error}")
    others = {field: row[field] for field in row if field not in ("id", text_field)}
    return Record(identity, text=text, fields=others)


def _identity(fields: dict[Any, Any], name: str) -> str | int | float:
    """The ``id`` of a record, unchanged so that it can be joined by; a name if JSON lacks it."""
    given = fields.get("id")
    identity = given if isinstance(given, str | int | float) else str(given)
    try:
        json.dumps(identity, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:  # NaN, infinity, a lone surrogate
        return name
    return name if given is None else identity


def as_json(value: Any) -> str:
    """Write JSON; bytes as base64, and other types that JSON lacks, such as dates, as text."""
    return json.dumps(value, ensure_ascii=False, skipkeys=True, default=_as_text)


def _as_text(value: Any) -> str:
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)
