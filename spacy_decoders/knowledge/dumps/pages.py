"""The pages of a Wikipedia's XML dump, from any place in it on.

The export is written by a machine, one element a line: pages are found by their tags, as fast as
the dump decompresses. A plain file, or one of many bzip2 streams (``multistream``), can be read
from many places at once.
"""

from __future__ import annotations

import bz2
import gzip
import html
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...errors import ProblemError

__all__ = ["Page", "Unit", "lines", "pages", "units"]

_BLOCK = 1 << 20
#: A page or line longer than this, in bytes, has lost its end.
_LONGEST = 1 << 26
#: The beginning of a bzip2 stream with a block in it.
_STREAM = b"BZh91AY&SY"
_BEGIN, _END = b"<page>", b"</page>"


@dataclass(frozen=True)
class Unit:
    """A part of a dump that is read on its own."""

    path: Path  # the file
    # Bytes of the file: pages that begin between the two. Whole files that can't be entered in the
    # middle have a `stop` of -1.
    start: int = 0
    stop: int = -1


@dataclass(frozen=True)
class Page:
    """One page as it stands in the dump: ``<title>``, ``<ns>``, ``<redirect>``, ``<text>``."""

    title: str
    namespace: str
    redirect: str | None
    source: bytes


def units(path: Path, size: int = 1 << 27) -> list[Unit]:
    """Cut a dump into units of about `size` bytes.

    A dump that is one compressed stream can't be cut.
    """
    total = path.stat().st_size
    if path.suffix == ".gz" or total <= size:
        return [Unit(path)]
    starts = [0]
    with path.open("rb") as stream:
        for target in range(size, total, size):
            if target <= starts[-1]:
                continue
            place = target if path.suffix != ".bz2" else _next_stream(stream, target)
            if place < 0:
                break
            starts.append(place)
    if len(starts) == 1:
        return [Unit(path)]
    stops = [*starts[1:], total]
    return [Unit(path, start, stop) for start, stop in zip(starts, stops, strict=True)]


def _next_stream(stream: IO[bytes], place: int) -> int:
    """Where the next bzip2 stream begins, -1 if there is none."""
    stream.seek(place)
    tail = b""
    while block := stream.read(_BLOCK):
        found = (tail + block).find(_STREAM)
        if found >= 0:
            return place - len(tail) + found
        tail = block[-len(_STREAM) + 1 :]
        place += len(block)
    return -1


def pages(unit: Unit) -> Iterator[Page | str]:
    """Give the pages of a unit; for a broken one, what is wrong with it."""
    for content in _contents(unit, _BEGIN, _END):
        yield content if isinstance(content, str) else _page(content)


def lines(unit: Unit, first: bytes) -> Iterator[bytes | str]:
    """Give the lines of a unit that begin with a byte; what is wrong with a broken one."""
    for content in _contents(unit, b"\n" + first, b"\n"):
        yield content if isinstance(content, str) else first + content


def _contents(unit: Unit, opening: bytes, closing: bytes) -> Iterator[bytes | str]:
    """What is between two tags, of each record that begins in the unit.

    A newline that closes one line opens the next.
    """
    line = closing == b"\n"
    # the first line has no newline before it
    buffer, at = b"\n" if line and not unit.start else b"", 0
    shared = 1 if line else 0
    limit: int | None = None  # where in the buffer the unit ends, once that is known
    blocks = _blocks(unit)
    while True:
        begin = buffer.find(opening, at)
        if limit is not None and (begin if begin >= 0 else len(buffer) - len(opening)) >= limit:
            return
        end = buffer.find(closing, begin + shared) if begin >= 0 else -1
        if end >= 0:
            yield buffer[begin + len(opening) : end]
            at = end + len(closing) - shared
            continue
        if begin >= 0 and len(buffer) - begin > _LONGEST:
            yield f"a page or line of more than {_LONGEST >> 20} MB has no end"
            at = begin + len(opening)
            continue
        # what may belong to a page: the end of the buffer may be the beginning of a tag
        kept = begin if begin >= 0 else max(at, len(buffer) - len(opening) + 1)
        try:
            block, late = next(blocks)
        except StopIteration:
            if begin >= 0 and line:
                yield buffer[begin + len(opening) :]
            elif begin >= 0:
                yield "the last one has no end"
            return
        except (EOFError, OSError, zlib.error) as error:
            yield f"the file is broken from here on: {error}"
            return
        if limit is None:
            limit = len(buffer) if late else None
        limit = None if limit is None else limit - kept
        buffer, at = buffer[kept:] + block, 0


def _blocks(unit: Unit) -> Iterator[tuple[bytes, bool]]:
    """Decompressed blocks from the unit's start on, and whether they lie behind its end."""
    with unit.path.open("rb") as raw:
        if unit.path.suffix == ".gz":
            with gzip.GzipFile(fileobj=raw) as stream:
                while block := stream.read(_BLOCK):
                    yield block, False
        elif unit.path.suffix == ".bz2":
            yield from _bzip2_blocks(raw, unit)
        else:
            raw.seek(unit.start)
            place = unit.start
            while block := raw.read(_BLOCK):
                inside = len(block) if unit.stop < 0 else max(0, unit.stop - place)
                if inside:
                    yield block[:inside], False
                if inside < len(block):
                    yield block[inside:], True
                place += len(block)


def _bzip2_blocks(raw: IO[bytes], unit: Unit) -> Iterator[tuple[bytes, bool]]:
    """As `_blocks`; a stream belongs to the unit in which it begins."""
    raw.seek(unit.start)
    place = unit.start  # of the stream that is read
    compressed = b""
    while True:
        decompressor = bz2.BZ2Decompressor()
        late = 0 <= unit.stop <= place
        used = 0
        while not decompressor.eof:
            if not compressed:
                compressed = raw.read(_BLOCK)
                if not compressed:
                    if used:
                        raise EOFError("the compressed file ends too early")
                    return
            used += len(compressed)
            block = decompressor.decompress(compressed, _BLOCK)
            compressed = b""
            if block:
                yield block, late
            while not decompressor.needs_input and not decompressor.eof:
                if block := decompressor.decompress(b"", _BLOCK):
                    yield block, late
        compressed = decompressor.unused_data
        place += used - len(compressed)


def _page(content: bytes) -> Page | str:
    try:
        head = content[: content.find(b"<revision>")]
        title = html.unescape(_element(head, b"title").decode("utf8"))
        redirect = None
        at = head.find(b'<redirect title="')
        if at >= 0:
            start = at + len(b'<redirect title="')
            redirect = html.unescape(head[start : head.index(b'"', start)].decode("utf8"))
        namespace = _element(head, b"ns").decode("ascii", "replace")
        source = _text(content)
    except ValueError as error:
        return f"{content[:80]!r}: {error}"
    return Page(title, namespace, redirect, source)


def _element(content: bytes, name: bytes) -> bytes:
    start = content.find(b"<" + name + b">")
    stop = content.find(b"</" + name + b">", start)
    if start < 0 or stop < 0:
        raise ProblemError(f"it has no {name.decode()}")
    return content[start + len(name) + 2 : stop]


def _text(content: bytes) -> bytes:
    start = content.find(b"<text")
    if start < 0:
        return b""
    begin = content.index(b">", start) + 1
    if content[begin - 2 : begin] == b"/>":
        return b""
    text = content[begin : content.index(b"</text>", begin)]
    if b"&" not in text:
        return text
    for entity, character in (
        (b"&lt;", b"<"),
        (b"&gt;", b">"),
        (b"&quot;", b'"'),
        (b"&#039;", b"'"),
        (b"&amp;", b"&"),
    ):
        text = text.replace(entity, character)
    return text
