"""Concepts from the SQL dumps of a Wikipedia: which titles stand for each, and their links."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Integers, Integers32
from ...errors import ProblemError
from ...graph import ConceptGraph
from ..dumps.sql import Chunk, SqlTable
from .lines import NONE, TEXTS, LineIndex, taken

__all__ = ["PageLinks", "Titles", "read_links", "read_titles"]

_NEWLINE = 10
#: The most redirects in a row that are followed; longer chains are errors or cycles.
_LONGEST_CHAIN = 8
#: Larger ids, of pages and of link targets, are errors.
_IDS, _TARGETS = 1 << 28, 1 << 30


@dataclass(frozen=True, eq=False)
class Titles:
    """The titles of a Wikipedia, and what they stand for."""

    lines: NDArray[np.uint8]  # the titles of all pages, with underscores, as lines
    starts: Integers  # (pages + 1,): where each begins
    index: LineIndex  # finds them; of two pages of one title the first counts
    place: Integers32  # (largest id + 1,): the page of each id in the dump, -1 for none
    # (pages,): the concept that each stands for, itself or by redirects, -1 for none
    concepts: Integers32
    own: Booleans  # (pages,): whether it is the concept's own, no redirect
    bad: dict[str, int]  # rows left out, by table

    def __len__(self) -> int:
        """The number of concepts."""
        return int(self.own.sum())

    def concept_of_lines(self, lines: NDArray[np.uint8], count: int) -> Integers:
        """The concepts that newline-ended titles stand for, -1 for none."""
        return taken(self.concepts, self.index.find(lines, count))

    def concept_of_pages(self, ids: Integers, *, own: bool = False) -> Integers:
        """The concepts that pages stand for, by their ids in the dump; -1 for none.

        If `own`, redirects have -1, too.
        """
        pages = taken(self.place, ids)
        if own:
            pages = np.where(taken(self.own, pages) == 1, pages, NONE)
        return taken(self.concepts, pages)

    def parts(self) -> Iterator[tuple[list[str], Integers, Booleans]]:
        """Titles, their concepts, and whether they are the concepts' own, some at a time."""
        for first in range(0, len(self.concepts), TEXTS):
            part = slice(first, first + TEXTS)
            texts = [self.text(page) for page in range(len(self.concepts))[part]]
            yield texts, self.concepts[part].astype(np.int64), self.own[part]

    def text(self, page: int) -> str:
        """The title of a page."""
        return str(
            self.lines[self.starts[page] : self.starts[page + 1] - 1].data, "utf8", "replace"
        )


def read_titles(page: Path, redirect: Path) -> Titles:
    """Read the pages of the main namespace, and what redirects lead to."""
    ids, redirects, lines, bad = _pages(page)
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
    for chunk in table.chunks(columns, ["rd_title"]):
        source = taken(place, chunk.numbers[:, 0])
        known = (chunk.numbers[:, 1] == 0) & (taken(first & redirects, source) == 1)
        target[source[known]] = index.find(chunk.texts[0], len(source))[known]
    ends = target
    for _ in range(_LONGEST_CHAIN):
        ends = taken(target, ends)
    return Titles(
        lines=lines,
        starts=_starts(lines),
        index=index,
        place=place,
        concepts=taken(numbers, ends).astype(np.int32),
        own=own,
        bad={"page": bad + len(ids) - len(index.rows), "redirect": table.bad},
    )


def _starts(lines: NDArray[np.uint8]) -> Integers:
    """Where each line begins, and the last ends. **Shape:** ``(lines + 1,)``"""
    return np.concatenate([[0], np.flatnonzero(lines == _NEWLINE) + 1])


def _pages(path: Path) -> tuple[Integers, Booleans, NDArray[np.uint8], int]:
    """The pages of the main namespace: ids, whether they are redirects, titles as lines.

    The last is how many rows could not be read.
    """
    table = SqlTable(path)
    ids, redirects, lines = [np.empty(0, np.int64)], [np.empty(0, bool)], [np.empty(0, np.uint8)]
    columns = ["page_id", "page_namespace", "page_is_redirect"]
    for chunk in table.chunks(columns, ["page_title"]):
        numbers, space, redirect = chunk.numbers.T
        kept = (space == 0) & (numbers >= 0) & (numbers < _IDS)
        ids.append(numbers[kept])
        redirects.append(redirect[kept] == 1)
        titles = chunk.texts[0]
        lines.append(titles[np.repeat(kept, np.diff(_starts(titles)))])
    return np.concatenate(ids), np.concatenate(redirects), np.concatenate(lines), table.bad


class PageLinks(NamedTuple):
    """The links between the concepts of a Wikipedia."""

    graph: ConceptGraph
    received: Integers  # (concepts,): how many others link to each
    bad: dict[str, int]  # rows left out, by table


def read_links(titles: Titles, pagelinks: Path, linktarget: Path | None) -> PageLinks:
    """Read the links between concepts.

    Raises `ProblemError` if the links name their targets by number and there is no dump of link
    targets.
    """
    table = SqlTable(pagelinks)
    bad, of_target = {}, None
    if "pl_target_id" in table.columns:
        if linktarget is None:
            raise ProblemError(
                f"linktarget: {pagelinks.name} names its targets by number; give the "
                "linktarget dump of the same day too."
            )
        of_target, bad["linktarget"] = _read_targets(linktarget, titles)
    size = len(titles)
    found = [np.empty(0, np.int64), *_links(table, titles, of_target)]
    codes = np.concatenate(found, dtype=np.int64)
    del found
    codes.sort()
    codes = codes[np.diff(codes, prepend=-1) != 0]
    source, target = (codes // size).astype(np.int32), (codes % size).astype(np.int32)
    del codes
    received = np.bincount(target, minlength=size)
    graph = ConceptGraph.from_edges(np.stack([source, target], axis=1), vertices=np.arange(size))
    return PageLinks(graph, received, {"pagelinks": table.bad, **bad})


def _read_targets(path: Path, titles: Titles) -> tuple[Integers32, int]:
    """The concept of each link target, -1 for none, and how many rows could not be read."""
    table, of_target = SqlTable(path), np.empty(0, np.int32)
    columns = ["lt_id", "lt_namespace"]
    for chunk in table.chunks(columns, ["lt_title"]):
        numbers = chunk.numbers[:, 0]
        known = (numbers >= 0) & (numbers < _TARGETS)
        missing = int(numbers[known].max(initial=-1)) + 1 - len(of_target)
        if missing > 0:
            more = np.full(missing + len(of_target), -1, np.int32)
            of_target = np.concatenate([of_target, more])
        of_target[numbers[known]] = _concepts_of_titles(chunk, titles)[known]
    return of_target, table.bad


def _concepts_of_titles(chunk: Chunk, titles: Titles) -> Integers:
    """The concept of each title, -1 outside the main namespace (the second number)."""
    concepts = titles.concept_of_lines(chunk.texts[0], len(chunk.numbers))
    return np.where(chunk.numbers[:, 1] == 0, concepts, -1)


def _links(table: SqlTable, titles: Titles, of_target: Integers32 | None) -> Iterator[Integers]:
    """The links between different concepts, each as ``source * concepts + target``."""
    by_number = of_target is not None
    columns = ["pl_from", "pl_target_id" if by_number else "pl_namespace"]
    for chunk in table.chunks(columns, [] if by_number else ["pl_title"]):
        source = titles.concept_of_pages(chunk.numbers[:, 0])
        if of_target is not None:
            target = taken(of_target, chunk.numbers[:, 1])
        else:
            target = _concepts_of_titles(chunk, titles)
        linked = (source >= 0) & (target >= 0) & (source != target)
        yield source[linked] * len(titles) + target[linked]
