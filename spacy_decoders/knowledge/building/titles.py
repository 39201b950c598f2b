"""From the page and redirect dumps to concepts: which title stands for which concept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from ..dumps.sql import Position, SqlTable
from ..string_index import StringIndex, buckets_of, gathered
from .arrays import NONE, TEXTS, chunks, taken
from .spills import PARTS, LineSpill
from .stages import Progress, Stage, fingerprint

__all__ = ["Titles", "read_titles"]

_NEWLINE = 10
# redirects that lead to redirects are followed so far; longer chains are errors or circles
_LONGEST_CHAIN = 8


@dataclass(frozen=True, eq=False)
class Titles:
    """The titles of a Wikipedia, and what they stand for.

    Attributes
    ----------
    key
        Of what they were read from.
    index
        All titles, with underscores, in the order of their hashes.
    pages
        The place of each title's page in the dump. **Shape:** ``(titles,)``
    concepts
        The concept that each page stands for, itself or by redirects, -1 for none.
        **Shape:** ``(pages,)``
    places
        The place of the page with each id, plus 1; 0 for none. **Shape:** ``(largest id + 1,)``
    redirect
        Whether each page is a redirect. **Shape:** ``(pages,)``
    ids
        The titles that are no redirects: a row is a concept number.
    bad
        Rows left out, by table.
    """

    key: str
    index: StringIndex
    pages: NDArray[np.int32]
    concepts: NDArray[np.int32]
    places: NDArray[np.int32]
    redirect: NDArray[np.bool_]
    ids: StringIndex
    bad: dict[str, int]

    def __len__(self) -> int:
        """The number of concepts."""
        return len(self.ids)

    def concept_of_lines(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        """The concepts that newline-ended titles stand for, -1 for none."""
        return taken(self.concepts, taken(self.pages, self.index.find_lines(lines, count)))

    def concept_of_pages(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The concepts that pages stand for, by their ids in the dump; -1 for none."""
        return taken(self.concepts, taken(self.places, ids) - 1)

    def own_concept_of_pages(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """As `concept_of_pages`, -1 for redirects."""
        places = taken(self.places, ids) - 1
        return np.where(taken(self.redirect, places) == 0, taken(self.concepts, places), NONE)

    def parts(self) -> Iterator[tuple[list[str], NDArray[np.int64], NDArray[np.bool_]]]:
        """Titles, their concepts, and whether they are the concepts' own, some at a time."""
        for part in chunks(len(self.index), TEXTS):
            concepts = taken(self.concepts, self.pages[part])
            texts = self.index.table.take(np.arange(part.start, part.stop))
            codes = taken(self.ids.codes.view(np.int64), concepts)
            yield texts, concepts, codes == self.index.codes[part].view(np.int64)


def read_titles(
    stages: Path, page: Path, redirect: Path, report: Progress, *, progress: bool
) -> Titles:
    """Run the stages of titles."""
    pages = Stage(stages, "pages", [fingerprint(page)])
    if not pages.done:
        _read_pages(pages, page, progress)
        report(f"pages: {pages.state['pages']:,}, {pages.state['bad']:,} rows left out")
    index = Stage(stages, "titles", [pages.key])
    if not index.done:
        _sort_titles(index, pages)
        report(f"titles: {index.state['concepts']:,} concepts")
    followed = Stage(stages, "redirects", [index.key, fingerprint(redirect)])
    count = int(pages.state["pages"])
    titles = _index(index, "titles", int(index.state["titles"]))
    page_rows = index.read("pages", np.int32)
    if not followed.done:
        if "rows" not in followed.state:
            _follow_redirects(followed, redirect, pages, (titles, page_rows), progress)
        _number_concepts(followed, index.read("numbers", np.int32), count)
        bad = followed.state["bad"]
        report(f"redirects: {followed.state['rows']:,}, {bad:,} rows left out")
    return Titles(
        key=followed.key,
        index=titles,
        pages=page_rows,
        concepts=followed.read("concepts", np.int32),
        places=followed.read("places", np.int32),
        redirect=pages.read("redirect", np.bool_),
        ids=_index(index, "ids", int(index.state["concepts"])),
        bad={"page": pages.state["bad"] + index.state["bad"], "redirect": followed.state["bad"]},
    )


def _index(stage: Stage, name: str, count: int) -> StringIndex:
    table = StringTable(
        stage.read(f"{name}.data", np.uint8), stage.read(f"{name}.offsets", np.int64)
    )
    codes = stage.read(f"{name}.codes", np.uint64)
    return StringIndex(codes[:count], stage.read(f"{name}.buckets", np.int64), table)


def _read_pages(stage: Stage, path: Path, progress: bool) -> None:
    """Keep the pages of the main name space: ids, redirects, and titles dealt out by hash."""
    table = SqlTable(path)
    spill = LineSpill(stage, "lines", {"page": np.int32})
    columns = ["page_id", "page_namespace", "page_is_redirect"]
    start = Position(*stage.state.get("position", ()))
    pages, largest = int(stage.state.get("pages", 0)), int(stage.state.get("largest", 0))
    for chunk in table.chunks(columns, "page_title", start=start, progress=progress):
        kept = np.flatnonzero((chunk.numbers[:, 1] == 0) & (chunk.numbers[:, 0] >= 0))
        rows = chunk.numbers[kept]
        stage.append("ids", rows[:, 0].astype(np.int32))
        stage.append("redirect", rows[:, 2] == 1)
        lines = _kept_lines(chunk.lines, kept)
        spill.add(lines, {"page": np.arange(pages, pages + len(kept))})
        pages += len(kept)
        largest = max(largest, int(rows[:, 0].max(initial=0)))
        if stage.due():
            stage.checkpoint(position=chunk.after, pages=pages, largest=largest)
    stage.finish(pages=pages, largest=largest, bad=table.bad)


def _kept_lines(lines: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    ends = np.flatnonzero(lines == _NEWLINE)
    return gathered(lines, np.concatenate([[0], ends + 1]), rows)


def _sort_titles(stage: Stage, pages: Stage) -> None:
    """Sort the titles by hash, part by part, and number those that are no redirects."""
    spill = LineSpill(pages, "lines", {"page": np.int32})
    redirect = pages.read("redirect", np.bool_)
    numbers = stage.scratch("numbers", np.int32, int(pages.state["pages"]))
    state = {"part": 0, "titles": 0, "concepts": 0, "bad": 0, **stage.state}
    for name in ("titles", "ids"):
        if not stage.size(f"{name}.offsets"):
            stage.append(f"{name}.offsets", np.zeros(1, np.int64))
    for part in range(int(state["part"]), PARTS):
        lines, columns = spill.part(part)
        index, rows, _ = StringIndex.build_lines(lines, len(columns["page"]))
        page_of = np.full(len(index), NONE, np.int32)
        # of two pages of one title the first counts
        page_of[rows[rows >= 0][::-1]] = columns["page"][rows >= 0][::-1]
        own = np.flatnonzero(~redirect[page_of])
        # plus 1: pages that are left out stay 0
        numbers[page_of[own]] = state["concepts"] + 1 + np.arange(len(own))
        stage.append("pages", page_of)
        _append_strings(stage, "titles", index, np.arange(len(index)))
        _append_strings(stage, "ids", index, own)
        state = {
            "part": part + 1,
            "titles": state["titles"] + len(index),
            "concepts": state["concepts"] + len(own),
            "bad": state["bad"] + len(rows) - len(index),
        }
        stage.checkpoint(**state)
    for name in ("titles", "ids"):
        stage.append(f"{name}.buckets", buckets_of(stage.read(f"{name}.codes", np.uint64)))
    stage.finish()


def _append_strings(stage: Stage, name: str, index: StringIndex, rows: NDArray[np.int64]) -> None:
    table = index.table
    lengths = np.diff(table.offsets)[rows]
    stage.append(f"{name}.offsets", stage.size(f"{name}.data") + np.cumsum(lengths))
    stage.append(f"{name}.data", gathered(table.data, table.offsets, rows))
    stage.append(f"{name}.codes", index.codes[rows])


def _follow_redirects(
    stage: Stage,
    path: Path,
    pages: Stage,
    titles: tuple[StringIndex, NDArray[np.int32]],
    progress: bool,
) -> None:
    """The page that each page leads to, plus 1; 0 for a redirect that leads nowhere."""
    index, page_of = titles
    ids, redirect = pages.read("ids", np.int32), pages.read("redirect", np.bool_)
    places = stage.scratch("places", np.int32, int(pages.state["largest"]) + 1)
    target = stage.scratch("target", np.int32, len(ids))
    if not stage.state:
        for part in chunks(len(ids)):
            number = np.arange(part.start, part.stop, dtype=np.int32) + 1
            places[ids[part]] = number
            target[part] = np.where(redirect[part], 0, number)
        stage.checkpoint(position=Position())
    table = SqlTable(path)
    start = Position(*stage.state["position"])
    rows = start.rows
    for chunk in table.chunks(
        ["rd_from", "rd_namespace"], "rd_title", start=start, progress=progress
    ):
        source = taken(places, chunk.numbers[:, 0]) - 1
        led_to = taken(page_of, index.find_lines(chunk.lines, len(chunk.numbers)))
        known = (source >= 0) & (chunk.numbers[:, 1] == 0)
        known &= taken(redirect, source) == 1
        target[source[known]] = led_to[known] + 1
        rows = chunk.after.rows
        if stage.due():
            stage.checkpoint(position=chunk.after)
    stage.checkpoint(position=Position(rows=rows, bad=table.bad), rows=rows, bad=table.bad)


def _number_concepts(stage: Stage, numbers: NDArray[np.int32], count: int) -> None:
    """Follow redirects to their ends, and give each page its concept."""
    target = stage.read("target", np.int32)
    for part in chunks(count):
        ends = target[part].astype(np.int64) - 1
        for _ in range(_LONGEST_CHAIN):
            ends = np.where(ends >= 0, taken(target, ends) - 1, NONE)
        found = np.where(ends >= 0, taken(numbers, ends) - 1, NONE)
        stage.append("concepts", found.astype(np.int32))
    stage.finish()
    stage.drop("target")
