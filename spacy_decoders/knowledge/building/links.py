"""From the pagelinks dump to the adjacency lists of the concept graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ...graph.adjacency import GraphArrays
from ..dumps.sql import Chunk, SqlTable
from .arrays import chunks, ranges, rows_of_parts, taken
from .stages import Build, Stage, fingerprint
from .titles import Titles

__all__ = ["PageLinks", "read_links"]

# a key is (concept, other concept, whether the other links to it): 31 + 31 + 1 bits
_FIRST, _SECOND = np.uint64(32), np.uint64(1)
_LOW = np.uint64(2**31 - 1)
_NOT_A_KEY = np.uint64(2**64 - 1)
#: Files that keys are dealt out over, to be sorted one by one.
_PARTS = 64
#: Link targets are numbered below this.
_TARGETS = 1 << 30


@dataclass(frozen=True, eq=False)
class PageLinks:
    """The links between the concepts of a Wikipedia."""

    key: str  # of what they were read from
    graph: GraphArrays  # their graph, undirected
    received: NDArray[np.int32]  # (concepts,): from how many others each concept is linked
    bad: dict[str, int]  # rows left out, by table


class _Keys:
    """Pairs of numbers as 64-bit keys, dealt out over files by ranges of the first."""

    def __init__(self, stage: Stage, bounds: NDArray[np.int64]) -> None:
        self.stage = stage
        self.bounds = bounds  # where the ranges begin, and the last ends

    def add(self, first: NDArray[Any], keys: NDArray[np.uint64]) -> None:
        """Deal out keys; `first` tells the range of each."""
        part = (np.searchsorted(self.bounds, first, side="right") - 1).astype(np.uint8)
        for number, rows in rows_of_parts(part):
            self.stage.append(f"keys.{number}", keys[rows])

    def parts(self) -> Iterator[tuple[int, int, NDArray[np.uint64]]]:
        """The bounds and the sorted keys of each file, which is removed."""
        for number in range(len(self.bounds) - 1):
            low, high = self.bounds[number : number + 2].tolist()
            yield low, high, np.sort(self.stage.read(f"keys.{number}", np.uint64))
            self.stage.drop(f"keys.{number}")


def read_links(
    build: Build, titles: Titles, pagelinks: Path, linktarget: Path | None
) -> PageLinks:
    """Run the stages of links.

    Raises
    ------
    ProblemError
        If the links name their targets by number and there is no dump of link targets.
    """
    table = SqlTable(pagelinks)
    inputs = [titles.key, fingerprint(pagelinks)]
    bad, of_target = {}, None
    if "pl_target_id" in table.columns:
        if linktarget is None:
            raise ProblemError(
                f"linktarget: {pagelinks.name} names its targets by number; give the "
                "linktarget dump of the same day too."
            )
        targets = build.stage("targets", [titles.key, fingerprint(linktarget)])
        if not targets.done:
            _read_targets(build, targets.begun(), linktarget, titles)
        of_target = targets.read("concepts", np.int32)
        inputs.append(targets.key)
        bad["linktarget"] = int(targets.state["bad"])
    links = build.stage("links", inputs)
    if not links.done:
        keys = _Keys(links.begun(), np.unique(np.linspace(0, len(titles), _PARTS + 1).astype(int)))
        rows, kept = _deal_links(build, keys, table, titles, of_target)
        build.report(f"links: {rows:,}, {kept:,} between concepts, {table.bad:,} left out")
        degrees = _sort_links(links, keys)
        _order(links, degrees)
        links.finish(bad=table.bad)
        build.report(f"graph: {len(links.read('indices', np.int32)) // 2:,} links")
    return PageLinks(
        key=links.key,
        graph=GraphArrays(
            links.read("indptr", np.int64),
            links.read("indices", np.int32),
            np.arange(len(titles)),
            links.read("inner", np.int32),
        ),
        received=links.read("received", np.int32),
        bad={"pagelinks": int(links.state["bad"]), **bad},
    )


def _read_targets(build: Build, stage: Stage, path: Path, titles: Titles) -> None:
    """The concept of each link target, plus 1; 0 for none."""
    table, of_target = SqlTable(path), np.zeros(0, np.int32)
    rows = 0
    columns = ["lt_id", "lt_namespace"]
    for chunk in table.chunks(columns, "lt_title", progress=build.progress):
        numbers = chunk.numbers[:, 0]
        known = (numbers >= 0) & (numbers < _TARGETS)
        size = int(numbers[known].max(initial=-1)) + 1
        if size > len(of_target):
            of_target = np.concatenate([of_target, np.zeros(2 * size - len(of_target), np.int32)])
        of_target[numbers[known]] = _concepts_of_titles(chunk, titles)[known] + 1
        rows += len(numbers)
    stage.append("concepts", of_target)
    stage.finish(bad=table.bad)
    build.report(f"link targets: {rows:,}, {table.bad:,} left out")


def _concepts_of_titles(chunk: Chunk, titles: Titles) -> NDArray[np.int64]:
    """The concept that each title of the main name space stands for; the second number is it."""
    concepts = titles.concept_of_lines(chunk.lines, len(chunk.numbers))
    return np.where(chunk.numbers[:, 1] == 0, concepts, -1)


def _deal_links(
    build: Build,
    keys: _Keys,
    table: SqlTable,
    titles: Titles,
    of_target: NDArray[np.int32] | None,
) -> tuple[int, int]:
    """Deal out the links between different concepts, both ways; rows read, and links kept."""
    rows = kept = 0
    by_number = of_target is not None
    columns = ["pl_from", "pl_target_id" if by_number else "pl_namespace"]
    text = None if by_number else "pl_title"
    for chunk in table.chunks(columns, text, progress=build.progress):
        source = titles.concept_of_pages(chunk.numbers[:, 0])
        if of_target is not None:
            target = taken(of_target, chunk.numbers[:, 1]) - 1
        else:
            target = _concepts_of_titles(chunk, titles)
        linked = (source >= 0) & (target >= 0) & (source != target)
        a, b = source[linked].astype(np.uint64), target[linked].astype(np.uint64)
        keys.add(source[linked], a << _FIRST | b << _SECOND)
        keys.add(target[linked], b << _FIRST | a << _SECOND | np.uint64(1))
        rows, kept = rows + len(linked), kept + len(a)
    return rows, kept


def _sort_links(stage: Stage, keys: _Keys) -> NDArray[np.int64]:
    """Write the neighbours of each concept, and how many concepts link to it; give degrees."""
    degrees = [np.empty(0, np.int64)]
    for low, high, sorted_keys in keys.parts():
        directed = sorted_keys[np.diff(sorted_keys, prepend=_NOT_A_KEY) != 0]
        received = (directed[directed & np.uint64(1) == 1] >> _FIRST).astype(np.int64)
        pairs = directed >> _SECOND
        pairs = pairs[np.diff(pairs, prepend=_NOT_A_KEY) != 0]
        owner = (pairs >> np.uint64(31)).astype(np.int64)
        stage.append("neighbours", (pairs & _LOW).astype(np.int32))
        degrees.append(np.bincount(owner - low, minlength=high - low))
        counts = np.bincount(received - low, minlength=high - low)
        stage.append("received", counts.astype(np.int32))
    return np.concatenate(degrees)


def _order(stage: Stage, degrees: NDArray[np.int64]) -> None:
    """Number the concepts by descending degree, and sort the lists of these numbers."""
    order = np.argsort(-degrees, kind="stable")
    inner = np.empty(len(order), np.int32)
    inner[order] = np.arange(len(order), dtype=np.int32)
    ordered = degrees[order]
    # every part has about as many links, whatever the hubs have
    keys = _Keys(stage, ranges(ordered, _PARTS))
    neighbours = stage.read("neighbours", np.int32)
    starts = np.concatenate([[0], np.cumsum(degrees)])
    for part in chunks(len(neighbours)):
        low, high = np.searchsorted(starts, [part.start, part.stop - 1], side="right") - 1
        lengths = np.clip(starts[low + 1 : high + 2], part.start, part.stop)
        lengths = np.diff(lengths, prepend=part.start)
        first = np.repeat(inner[low : high + 1], lengths)
        second = inner[neighbours[part]].astype(np.uint64)
        keys.add(first, first.astype(np.uint64) << _FIRST | second)
    for _, _, sorted_keys in keys.parts():
        stage.append("indices", (sorted_keys & np.uint64(2**32 - 1)).astype(np.int32))
    stage.append("indptr", np.concatenate([[0], np.cumsum(ordered)]))
    stage.append("inner", inner)
    stage.drop("neighbours")
