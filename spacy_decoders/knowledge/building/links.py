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
from .arrays import chunks, ranges, taken
from .rows import read_rows
from .spills import PARTS, KeySpill
from .stages import Build, Stage, fingerprint
from .titles import Titles

__all__ = ["PageLinks", "read_links"]

# a key is (concept, other concept, whether the other links to it): 31 + 31 + 1 bits
_FIRST, _SECOND = np.uint64(32), np.uint64(1)
_LOW = np.uint64(2**31 - 1)


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
    targets = None
    if "pl_target_id" in table.columns:
        if linktarget is None:
            raise ProblemError(
                f"linktarget: {pagelinks.name} names its targets by number; give the "
                "linktarget dump of the same day too."
            )
        targets = build.stage("targets", [titles.key, fingerprint(linktarget)])
        if not targets.done:
            _read_targets(build, targets, linktarget, titles)
            rows, bad = targets.state["rows"], targets.state["bad"]
            build.report(f"link targets: {rows:,}, {bad:,} left out")
        inputs.append(targets.key)
    links = build.stage("links", inputs)
    if not links.done:
        of_target = None if targets is None else targets.read("concepts", np.int32)
        _read_links(build, links, table, titles, of_target)
        rows, kept, bad = (links.state[name] for name in ("rows", "kept", "bad"))
        build.report(f"links: {rows:,}, {kept:,} between concepts, {bad:,} left out")
    unique = build.stage("neighbours", [links.key])
    if not unique.done:
        _deduplicate(unique, links, len(titles))
    graph = build.stage("graph", [unique.key])
    if not graph.done:
        _order(graph, unique, len(titles))
        build.report(f"graph: {graph.size('indices') // 8:,} links")
    bad_rows = {"pagelinks": int(links.state["bad"])}
    if targets is not None:
        bad_rows["linktarget"] = int(targets.state["bad"])
    return PageLinks(
        key=graph.key,
        graph=GraphArrays(
            graph.read("indptr", np.int64),
            graph.read("indices", np.int32),
            np.arange(len(titles)),
            graph.read("inner", np.int32),
        ),
        received=unique.read("received", np.int32),
        bad=bad_rows,
    )


def _read_targets(build: Build, stage: Stage, path: Path, titles: Titles) -> None:
    """The concept of each link target, plus 1; 0 for none."""
    table, state = SqlTable(path), dict(stage.state)
    columns = ["lt_id", "lt_namespace"]
    for chunk in read_rows(build, stage, table, columns, "lt_title", state):
        numbers = chunk.numbers[:, 0]
        known = numbers >= 0
        concepts = _concepts_of_titles(chunk, titles)
        size = max(stage.size("concepts") // 4, int(numbers.max(initial=0)) + 1)
        of_target = stage.scratch("concepts", np.int32, size)
        of_target[numbers[known]] = concepts[known] + 1
    stage.finish(**state, bad=table.bad)


def _concepts_of_titles(chunk: Chunk, titles: Titles) -> NDArray[np.int64]:
    """The concept that each title of the main name space stands for; the second number is it."""
    concepts = titles.concept_of_lines(chunk.lines, len(chunk.numbers))
    return np.where(chunk.numbers[:, 1] == 0, concepts, -1)


def _read_links(
    build: Build,
    stage: Stage,
    table: SqlTable,
    titles: Titles,
    of_target: NDArray[np.int32] | None,
) -> None:
    """Deal out the links between different concepts, both ways."""
    spill = KeySpill(stage, "keys", _even(len(titles)))
    state = {"kept": 0, **stage.state}
    by_number = of_target is not None
    columns = ["pl_from", "pl_target_id" if by_number else "pl_namespace"]
    text = None if by_number else "pl_title"
    for chunk in read_rows(build, stage, table, columns, text, state):
        source = titles.concept_of_pages(chunk.numbers[:, 0])
        if of_target is not None:
            target = taken(of_target, chunk.numbers[:, 1]) - 1
        else:
            target = _concepts_of_titles(chunk, titles)
        linked = (source >= 0) & (target >= 0) & (source != target)
        a, b = source[linked].astype(np.uint64), target[linked].astype(np.uint64)
        spill.add(source[linked], a << _FIRST | b << _SECOND)
        spill.add(target[linked], b << _FIRST | a << _SECOND | np.uint64(1))
        state["kept"] += len(a)
    stage.finish(**state, bad=table.bad)


def _even(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count, PARTS + 1).astype(np.int64))


def _deduplicate(stage: Stage, links: Stage, count: int) -> None:
    """Sorted neighbours of each concept, its degree, and how many concepts link to it."""
    spill = KeySpill(links, "keys", _even(count))
    for number, keys in spill.parts(int(stage.state.get("part", 0))):
        low, high = spill.bounds[number : number + 2].tolist()
        directed = keys[np.diff(keys, prepend=np.uint64(2**64 - 1)) != 0]
        received = (directed[directed & np.uint64(1) == 1] >> _FIRST).astype(np.int64)
        pairs = directed >> _SECOND
        pairs = pairs[np.diff(pairs, prepend=np.uint64(2**64 - 1)) != 0]
        owner = (pairs >> np.uint64(31)).astype(np.int64)
        stage.append("neighbours", (pairs & _LOW).astype(np.int32))
        stage.append("degrees", np.bincount(owner - low, minlength=high - low).astype(np.int32))
        stage.append(
            "received", np.bincount(received - low, minlength=high - low).astype(np.int32)
        )
        stage.checkpoint(part=number + 1)
    stage.finish()
    spill.drop()


def _order(stage: Stage, unique: Stage, count: int) -> None:
    """Number the concepts by descending degree, and sort the lists of these numbers."""
    degrees = unique.read("degrees", np.int32)
    order = np.argsort(-degrees, kind="stable")
    inner = np.empty(count, np.int32)
    inner[order] = np.arange(count, dtype=np.int32)
    ordered = degrees[order]
    # every part has about as many links, whatever the hubs have
    bounds = ranges(ordered, PARTS)
    spill = KeySpill(stage, "keys", bounds)
    if "dealt" not in stage.state:
        for first, keys in _renumbered(unique, degrees, inner):
            spill.add(first, keys)
        stage.checkpoint(dealt=True)
    for number, keys in spill.parts(int(stage.state.get("part", 0))):
        stage.append("indices", (keys & np.uint64(2**32 - 1)).astype(np.int32))
        stage.checkpoint(dealt=True, part=number + 1)
    stage.append("indptr", np.concatenate([[0], np.cumsum(ordered, dtype=np.int64)]))
    stage.append("inner", inner)
    stage.finish()
    spill.drop()


def _renumbered(
    unique: Stage, degrees: NDArray[np.int32], inner: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint64]]]:
    neighbours = unique.read("neighbours", np.int32)
    starts = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    for part in chunks(len(neighbours)):
        low, high = np.searchsorted(starts, [part.start, part.stop - 1], side="right") - 1
        lengths = np.clip(starts[low + 1 : high + 2], part.start, part.stop)
        lengths = np.diff(lengths, prepend=part.start)
        first = np.repeat(inner[low : high + 1], lengths)
        second = inner[neighbours[part]].astype(np.uint64)
        yield first, first.astype(np.uint64) << _FIRST | second
