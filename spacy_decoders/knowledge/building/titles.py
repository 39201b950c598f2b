"""From the page and redirect dumps to concepts: which title stands for which concept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from ..dumps.sql import SqlTable
from .lines import NONE, TEXTS, LineIndex, chunks, taken
from .stages import Build, Stage, fingerprint

__all__ = ["Titles", "read_titles"]

_NEWLINE = 10
# redirects that lead to redirects are followed so far; longer chains are errors or circles
_LONGEST_CHAIN = 8
#: Pages are numbered below this.
_IDS = 1 << 28


@dataclass(frozen=True, eq=False)
class Titles:
    """The titles of a Wikipedia, and what they stand for."""

    key: str  # of what they were read from
    texts: StringTable  # the titles of all pages, with underscores
    index: LineIndex  # finds them; of two pages of one title the first counts
    # (pages,) and (largest id + 1,): the concept that each page, and each by its id in the dump,
    # stands for, itself or by redirects, -1 for none
    concepts: NDArray[np.int32]
    of_id: NDArray[np.int32]
    # the same: whether it is no redirect
    own: NDArray[np.bool_]
    own_id: NDArray[np.bool_]
    pages: NDArray[np.int32]  # (concepts,): the page of each
    bad: dict[str, int]  # rows left out, by table

    def __len__(self) -> int:
        """The number of concepts."""
        return len(self.pages)

    def concept_of_lines(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        """The concepts that newline-ended titles stand for, -1 for none."""
        return taken(self.concepts, self.index.find(lines, count))

    def concept_of_pages(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The concepts that pages stand for, by their ids in the dump; -1 for none."""
        return taken(self.of_id, ids)

    def own_concept_of_pages(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """As `concept_of_pages`, -1 for redirects."""
        return np.where(taken(self.own_id, ids) == 1, taken(self.of_id, ids), NONE)

    def parts(self) -> Iterator[tuple[list[str], NDArray[np.int64], NDArray[np.bool_]]]:
        """Titles, their concepts, and whether they are the concepts' own, some at a time."""
        for part in chunks(len(self.texts), TEXTS):
            yield self.texts[part], self.concepts[part].astype(np.int64), self.own[part]

    def identifiers(self) -> Iterator[str]:
        """The own title of each concept, as in the dump."""
        for part in chunks(len(self.pages), TEXTS):
            yield from self.texts.take(self.pages[part])


def read_titles(build: Build, page: Path, redirect: Path) -> Titles:
    """Run the stage of titles."""
    stage = build.stage("titles", [fingerprint(page), fingerprint(redirect)])
    if not stage.done:
        _read(build, stage.begun(), page, redirect)
        pages, concepts, bad = (stage.state[name] for name in ("pages", "concepts", "bad"))
        build.report(f"titles: of {pages:,} pages, {concepts:,} concepts, {bad} rows left out")
    return Titles(
        key=stage.key,
        texts=StringTable(stage.read("data", np.uint8), stage.read("offsets", np.int64)),
        index=LineIndex(stage.read("codes", np.uint64), stage.read("rows", np.int32)),
        concepts=stage.read("concepts", np.int32),
        of_id=stage.read("of_id", np.int32),
        own=stage.read("own", np.bool_),
        own_id=stage.read("own_id", np.bool_),
        pages=stage.read("pages", np.int32),
        bad=stage.state["bad"],
    )


def _read(build: Build, stage: Stage, page: Path, redirect: Path) -> None:
    ids, redirects, lines, bad = _pages(build, page)
    index = LineIndex.of(lines, len(ids))
    first = np.zeros(len(ids), bool)
    first[index.rows] = True
    own = first & ~redirects
    numbers = np.where(own, np.cumsum(own) - 1, NONE).astype(np.int32)
    place = np.full(int(ids.max(initial=0)) + 1, NONE, np.int32)
    place[ids] = np.arange(len(ids))
    # the page that each leads to, -1 for a redirect that leads nowhere
    target = np.where(own, np.arange(len(ids)), NONE)
    table = SqlTable(redirect)
    columns = ["rd_from", "rd_namespace"]
    for chunk in table.chunks(columns, "rd_title", progress=build.progress):
        source = taken(place, chunk.numbers[:, 0])
        known = (chunk.numbers[:, 1] == 0) & (taken(first & redirects, source) == 1)
        target[source[known]] = index.find(chunk.lines, len(chunk.numbers))[known]
    ends = target
    for _ in range(_LONGEST_CHAIN):
        ends = taken(target, ends)
    concepts = taken(numbers, ends).astype(np.int32)
    stage.append("data", lines[lines != _NEWLINE])
    stage.append("offsets", _starts(lines) - np.arange(len(ids) + 1))
    stage.append("codes", index.codes)
    stage.append("rows", index.rows)
    stage.append("concepts", concepts)
    stage.append("own", own)
    stage.append("of_id", taken(concepts, place).astype(np.int32))
    stage.append("own_id", taken(~redirects, place) == 1)
    stage.append("pages", np.flatnonzero(own).astype(np.int32))
    stage.finish(
        pages=len(ids),
        concepts=int(own.sum()),
        bad={"page": bad + len(ids) - len(index.rows), "redirect": table.bad},
    )


def _starts(lines: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where each line begins, and the last ends. **Shape:** ``(lines + 1,)``"""
    return np.concatenate([[0], np.flatnonzero(lines == _NEWLINE) + 1])


def _pages(
    build: Build, path: Path
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint8], int]:
    """Of the pages of the main name space: ids, whether they are redirects, titles as lines.

    The last is how many rows could not be read.
    """
    table = SqlTable(path)
    ids, redirects, lines = [np.empty(0, np.int64)], [np.empty(0, bool)], [np.empty(0, np.uint8)]
    columns = ["page_id", "page_namespace", "page_is_redirect"]
    for chunk in table.chunks(columns, "page_title", progress=build.progress):
        numbers, space, redirect = chunk.numbers.T
        kept = (space == 0) & (numbers >= 0) & (numbers < _IDS)
        ids.append(numbers[kept])
        redirects.append(redirect[kept] == 1)
        lines.append(chunk.lines[np.repeat(kept, np.diff(_starts(chunk.lines)))])
    return np.concatenate(ids), np.concatenate(redirects), np.concatenate(lines), table.bad
