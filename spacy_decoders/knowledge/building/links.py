"""From the pagelinks dump to the adjacency lists of the concept graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ...graph.adjacency import GraphArrays
from ..dumps.sql import Chunk, SqlTable
from .lines import chunks, taken
from .stages import Build, Stage, fingerprint
from .titles import Titles

__all__ = ["PageLinks", "read_links"]

# a link is (concept, other concept, whether the other links to it): 31 + 31 + 1 bits; a pair has
# no last bit
_FIRST, _SECOND = np.uint64(32), np.uint64(1)
_OF_PAIR, _LOW = np.uint64(31), np.uint64(2**31 - 1)
_NO_LINK = np.uint64(2**64 - 1)
#: Link targets are numbered below this.
_TARGETS = 1 << 30


@dataclass(frozen=True, eq=False)
class PageLinks:
    """The links between the concepts of a Wikipedia."""

    key: str  # of what they were read from
    graph: GraphArrays  # their graph, undirected
    received: NDArray[np.int32]  # (concepts,): from how many others each concept is linked
    bad: dict[str, int]  # rows left out, by table


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
        rows, kept = _write_links(build, links.begun(), table, titles, of_target)
        build.report(f"links: {rows:,}, {kept:,} between concepts, {table.bad:,} left out")
        degrees = _count_links(links, len(titles))
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


def _write_links(
    build: Build,
    stage: Stage,
    table: SqlTable,
    titles: Titles,
    of_target: NDArray[np.int32] | None,
) -> tuple[int, int]:
    """Write the links between different concepts, from both ends; rows read, and links kept."""
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
        stage.append("links", a << _FIRST | b << _SECOND)
        stage.append("links", b << _FIRST | a << _SECOND | np.uint64(1))
        rows, kept = rows + len(linked), kept + len(a)
    return rows, kept


def _count_links(stage: Stage, concepts: int) -> NDArray[np.int64]:
    """Write each pair of linked concepts once, and how often each is linked to; give degrees."""
    received, degrees = np.zeros((2, concepts), np.int64)
    last = _NO_LINK
    for links in _sorted_parts(stage, "links"):
        linked = _different(links, last)
        pairs = _different(linked >> _SECOND, last >> _SECOND)
        _count(received, linked[linked & np.uint64(1) == 1] >> _FIRST)
        _count(degrees, pairs >> _OF_PAIR)
        stage.append("pairs", pairs)
        last = links[-1]
    stage.append("received", received.astype(np.int32))
    stage.drop("links")
    return degrees


def _order(stage: Stage, degrees: NDArray[np.int64]) -> None:
    """Number the concepts by descending degree, and write the sorted lists of these numbers."""
    order = np.argsort(-degrees, kind="stable")
    inner = np.empty(len(order), np.int32)
    inner[order] = np.arange(len(order), dtype=np.int32)
    pairs = stage.read("pairs", np.uint64)
    for part in chunks(len(pairs)):
        first, second = inner[pairs[part] >> _OF_PAIR], inner[pairs[part] & _LOW]
        stage.append("ordered", first.astype(np.uint64) << _OF_PAIR | second.astype(np.uint64))
    for ordered in _sorted_parts(stage, "ordered"):
        stage.append("indices", (ordered & _LOW).astype(np.int32))
    stage.append("indptr", np.concatenate([[0], np.cumsum(degrees[order])]))
    stage.append("inner", inner)
    stage.drop("pairs", "ordered")


def _sorted_parts(stage: Stage, name: str) -> Iterator[NDArray[np.uint64]]:
    """Sort a file, which may be larger than memory, where it lies; give it part by part."""
    path = stage.folder / name
    if path.exists() and path.stat().st_size:
        values = np.memmap(path, np.uint64, "r+")
        values.sort()
        for part in chunks(len(values)):
            yield np.asarray(values[part])


def _different(ordered: NDArray[np.uint64], last: np.uint64) -> NDArray[np.uint64]:
    """Sorted values, each once; `last` came before them."""
    return np.asarray(ordered[np.diff(ordered, prepend=last) != 0])


def _count(counts: NDArray[np.int64], ordered: NDArray[np.uint64]) -> None:
    """Count sorted numbers."""
    if len(ordered):
        first = int(ordered[0])
        found = np.bincount((ordered - ordered[0]).astype(np.int64))
        counts[first : first + len(found)] += found
