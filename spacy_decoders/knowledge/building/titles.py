"""From the page and redirect dumps to concepts: which title stands for which concept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from ..dumps.sql import Position, SqlTable
from .arrays import NONE, TEXTS, chunks, taken
from .rows import read_rows
from .spills import PARTS, LineSpill
from .stages import Build, Stage, fingerprint
from .string_index import StringIndex, gathered
from .strings import append_index, finish_index, index_of

__all__ = ["Titles", "read_titles"]

_NEWLINE = 10
# redirects that lead to redirects are followed so far; longer chains are errors or circles
_LONGEST_CHAIN = 8


@dataclass(frozen=True, eq=False)
class Titles:
    """The titles of a Wikipedia, and what they stand for."""

    key: str  # of what they were read from
    index: StringIndex  # all titles, with underscores, in the order of their hashes
    pages: NDArray[np.int32]  # (titles,): the place of each title's page in the dump
    # (pages,): the concept that each page stands for, itself or by redirects, -1 for none
    concepts: NDArray[np.int32]
    # (largest id + 1,): the place of the page with each id, plus 1; 0 for none
    places: NDArray[np.int32]
    redirect: NDArray[np.bool_]  # (pages,): whether each page is a redirect
    ids: StringIndex  # the titles that are no redirects: a row is a concept number
    bad: dict[str, int]  # rows left out, by table

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


def read_titles(build: Build, page: Path, redirect: Path) -> Titles:
    """Run the stages of titles."""
    pages = build.stage("pages", [fingerprint(page)])
    if not pages.done:
        _read_pages(build, pages, page)
        build.report(f"pages: {pages.state['pages']:,}, {pages.state['bad']:,} rows left out")
    index = build.stage("titles", [pages.key])
    if not index.done:
        _sort_titles(index, pages)
        build.report(f"titles: {index.state['concepts']:,} concepts")
    followed = build.stage("redirects", [index.key, fingerprint(redirect)])
    titles, page_rows = index_of(index, "titles"), index.read("pages", np.int32)
    if not followed.done:
        if "bad" not in followed.state:
            _follow_redirects(build, followed, redirect, pages, (titles, page_rows))
        _number_concepts(followed, index.read("numbers", np.int32), int(pages.state["pages"]))
        rows, bad = followed.state["rows"], followed.state["bad"]
        build.report(f"redirects: {rows:,}, {bad:,} rows left out")
    return Titles(
        key=followed.key,
        index=titles,
        pages=page_rows,
        concepts=followed.read("concepts", np.int32),
        places=followed.read("places", np.int32),
        redirect=pages.read("redirect", np.bool_),
        ids=index_of(index, "ids"),
        bad={"page": pages.state["bad"] + index.state["bad"], "redirect": followed.state["bad"]},
    )


def _read_pages(build: Build, stage: Stage, path: Path) -> None:
    """Keep the pages of the main name space: ids, redirects, and titles dealt out by hash."""
    table = SqlTable(path)
    spill = LineSpill(stage, "lines", {"page": np.int32})
    columns = ["page_id", "page_namespace", "page_is_redirect"]
    state = {"pages": 0, "largest": 0, **stage.state}
    for chunk in read_rows(build, stage, table, columns, "page_title", state):
        kept = np.flatnonzero((chunk.numbers[:, 1] == 0) & (chunk.numbers[:, 0] >= 0))
        rows = chunk.numbers[kept]
        stage.append("ids", rows[:, 0].astype(np.int32))
        stage.append("redirect", rows[:, 2] == 1)
        starts = np.concatenate([[0], np.flatnonzero(chunk.lines == _NEWLINE) + 1])
        lines = gathered(chunk.lines, starts, kept)
        spill.add(lines, {"page": state["pages"] + np.arange(len(kept))})
        state["pages"] += len(kept)
        state["largest"] = max(state["largest"], int(rows[:, 0].max(initial=0)))
    stage.finish(**state, bad=table.bad)


def _sort_titles(stage: Stage, pages: Stage) -> None:
    """Sort the titles by hash, part by part, and number those that are no redirects."""
    spill = LineSpill(pages, "lines", {"page": np.int32})
    redirect = pages.read("redirect", np.bool_)
    numbers = stage.scratch("numbers", np.int32, int(pages.state["pages"]))
    state = {"part": 0, "concepts": 0, "bad": 0, **stage.state}
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
        table = index.table
        offsets = np.concatenate([[0], np.cumsum(np.diff(table.offsets)[own])])
        own_titles = StringTable(gathered(table.data, table.offsets, own), offsets)
        append_index(stage, "titles", index.codes, table)
        append_index(stage, "ids", index.codes[own], own_titles)
        state = {
            "part": part + 1,
            "concepts": state["concepts"] + len(own),
            "bad": state["bad"] + len(rows) - len(index),
        }
        stage.checkpoint(**state)
    for name in ("titles", "ids"):
        finish_index(stage, name)
    stage.finish()


def _follow_redirects(
    build: Build,
    stage: Stage,
    path: Path,
    pages: Stage,
    titles: tuple[StringIndex, NDArray[np.int32]],
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
    table, state = SqlTable(path), dict(stage.state)
    columns = ["rd_from", "rd_namespace"]
    for chunk in read_rows(build, stage, table, columns, "rd_title", state):
        source = taken(places, chunk.numbers[:, 0]) - 1
        led_to = taken(page_of, index.find_lines(chunk.lines, len(chunk.numbers)))
        known = (source >= 0) & (chunk.numbers[:, 1] == 0)
        known &= taken(redirect, source) == 1
        target[source[known]] = led_to[known] + 1
    stage.checkpoint(**state, bad=table.bad)


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
