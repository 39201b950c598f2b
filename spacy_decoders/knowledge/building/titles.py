"""From the page and redirect dumps to concepts: which title stands for which concept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from ..dumps.sql import SqlTable
from .arrays import NONE, TEXTS, chunks, taken
from .stages import Build, Stage, fingerprint
from .string_index import StringIndex, gathered

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
    index: StringIndex  # all titles, with underscores
    # (titles,) and (largest id + 1,): the concept that each title, and each page by its id in the
    # dump, stands for, itself or by redirects, -1 for none
    concepts: NDArray[np.int32]
    of_id: NDArray[np.int32]
    # the same: whether it is no redirect
    own: NDArray[np.bool_]
    own_id: NDArray[np.bool_]
    ids: StringTable  # the titles that are no redirects, by concept number, as in the dump
    bad: dict[str, int]  # rows left out, by table

    def __len__(self) -> int:
        """The number of concepts."""
        return len(self.ids)

    def concept_of_lines(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        """The concepts that newline-ended titles stand for, -1 for none."""
        return taken(self.concepts, self.index.find_lines(lines, count))

    def concept_of_pages(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The concepts that pages stand for, by their ids in the dump; -1 for none."""
        return taken(self.of_id, ids)

    def own_concept_of_pages(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """As `concept_of_pages`, -1 for redirects."""
        return np.where(taken(self.own_id, ids) == 1, taken(self.of_id, ids), NONE)

    def parts(self) -> Iterator[tuple[list[str], NDArray[np.int64], NDArray[np.bool_]]]:
        """Titles, their concepts, and whether they are the concepts' own, some at a time."""
        for part in chunks(len(self.index), TEXTS):
            texts = self.index.table.take(np.arange(part.start, part.stop))
            yield texts, self.concepts[part].astype(np.int64), self.own[part]


def read_titles(build: Build, page: Path, redirect: Path) -> Titles:
    """Run the stage of titles."""
    stage = build.stage("titles", [fingerprint(page), fingerprint(redirect)])
    if not stage.done:
        _read(build, stage.begun(), page, redirect)
        pages, concepts, bad = (stage.state[name] for name in ("pages", "concepts", "bad"))
        build.report(f"titles: of {pages:,} pages, {concepts:,} concepts, {bad} rows left out")
    return Titles(
        key=stage.key,
        index=StringIndex.of_folder(stage.folder, "titles"),
        concepts=stage.read("concepts", np.int32),
        of_id=stage.read("of_id", np.int32),
        own=stage.read("own", np.bool_),
        own_id=stage.read("own_id", np.bool_),
        ids=StringTable(stage.read("ids.data", np.uint8), stage.read("ids.offsets", np.int64)),
        bad=stage.state["bad"],
    )


def _read(build: Build, stage: Stage, page: Path, redirect: Path) -> None:
    ids, redirects, lines, bad = _pages(build, page)
    index, rows, _ = StringIndex.build_lines(lines, len(ids))
    page_of = np.full(len(index), NONE, np.int32)
    # of two pages of one title the first counts
    page_of[rows[rows >= 0][::-1]] = np.flatnonzero(rows >= 0)[::-1]
    is_concept = np.zeros(len(ids), bool)
    is_concept[page_of] = True
    is_concept &= ~redirects
    numbers = np.where(is_concept, np.cumsum(is_concept) - 1, NONE).astype(np.int32)
    place = np.full(int(ids.max(initial=0)) + 1, NONE, np.int32)
    place[ids] = np.arange(len(ids))
    # the page that each leads to, -1 for a redirect that leads nowhere
    target = np.where(redirects, NONE, np.arange(len(ids)))
    table = SqlTable(redirect)
    columns = ["rd_from", "rd_namespace"]
    for chunk in table.chunks(columns, "rd_title", progress=build.progress):
        source = taken(place, chunk.numbers[:, 0])
        known = (source >= 0) & (chunk.numbers[:, 1] == 0) & (taken(redirects, source) == 1)
        led_to = taken(page_of, index.find_lines(chunk.lines, len(chunk.numbers)))
        target[source[known]] = led_to[known]
    ends = target
    for _ in range(_LONGEST_CHAIN):
        ends = taken(target, ends)
    concepts = taken(numbers, ends).astype(np.int32)
    index.save(stage, "titles")
    stage.append("concepts", concepts[page_of])
    stage.append("own", is_concept[page_of])
    stage.append("of_id", taken(concepts, place).astype(np.int32))
    stage.append("own_id", taken(~redirects, place) == 1)
    starts = np.concatenate([[0], np.flatnonzero(lines == _NEWLINE) + 1])
    kept = np.flatnonzero(is_concept)
    texts = gathered(lines, starts, kept)
    stage.append("ids.data", texts[texts != _NEWLINE])
    stage.append("ids.offsets", np.concatenate([[0], np.cumsum(np.diff(starts)[kept] - 1)]))
    stage.finish(
        pages=len(ids),
        concepts=len(kept),
        bad={"page": bad + len(ids) - len(index), "redirect": table.bad},
    )


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
        numbers, space, _ = chunk.numbers.T
        kept = np.flatnonzero((space == 0) & (numbers >= 0) & (numbers < _IDS))
        starts = np.concatenate([[0], np.flatnonzero(chunk.lines == _NEWLINE) + 1])
        ids.append(chunk.numbers[kept, 0])
        redirects.append(chunk.numbers[kept, 2] == 1)
        lines.append(gathered(chunk.lines, starts, kept))
    return np.concatenate(ids), np.concatenate(redirects), np.concatenate(lines), table.bad
