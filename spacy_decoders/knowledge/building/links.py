"""From the pagelinks dump to the concept graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ...graph import ConceptGraph
from ..dumps.sql import Chunk, SqlTable
from .lines import taken
from .titles import Titles

__all__ = ["PageLinks", "read_links"]

#: Link targets are numbered below this.
_TARGETS = 1 << 30


class PageLinks(NamedTuple):
    """The links between the concepts of a Wikipedia."""

    graph: ConceptGraph
    received: NDArray[np.int64]  # (concepts,): from how many others each concept is linked
    bad: dict[str, int]  # rows left out, by table


def read_links(
    titles: Titles, pagelinks: Path, linktarget: Path | None, *, progress: bool = False
) -> PageLinks:
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
        of_target, bad["linktarget"] = _read_targets(linktarget, titles, progress)
    size = len(titles)
    codes = np.concatenate(
        [np.empty(0, np.int64), *_links(table, titles, of_target, progress)], dtype=np.int64
    )
    codes.sort()
    codes = codes[np.diff(codes, prepend=-1) != 0]
    source, target = (codes // size).astype(np.int32), (codes % size).astype(np.int32)
    del codes
    received = np.bincount(target, minlength=size)
    graph = ConceptGraph.from_edges(np.stack([source, target], axis=1), vertices=np.arange(size))
    return PageLinks(graph, received, {"pagelinks": table.bad, **bad})


def _read_targets(path: Path, titles: Titles, progress: bool) -> tuple[NDArray[np.int32], int]:
    """The concept of each link target, -1 for none, and how many rows could not be read."""
    table, of_target = SqlTable(path), np.empty(0, np.int32)
    columns = ["lt_id", "lt_namespace"]
    for chunk in table.chunks(columns, ["lt_title"], progress=progress):
        numbers = chunk.numbers[:, 0]
        known = (numbers >= 0) & (numbers < _TARGETS)
        missing = int(numbers[known].max(initial=-1)) + 1 - len(of_target)
        if missing > 0:
            more = np.full(missing + len(of_target), -1, np.int32)
            of_target = np.concatenate([of_target, more])
        of_target[numbers[known]] = _concepts_of_titles(chunk, titles)[known]
    return of_target, table.bad


def _concepts_of_titles(chunk: Chunk, titles: Titles) -> NDArray[np.int64]:
    """The concept that each title of the main name space stands for; the second number is it."""
    concepts = titles.concept_of_lines(chunk.texts[0], len(chunk.numbers))
    return np.where(chunk.numbers[:, 1] == 0, concepts, -1)


def _links(
    table: SqlTable, titles: Titles, of_target: NDArray[np.int32] | None, progress: bool
) -> Iterator[NDArray[np.int64]]:
    """The links between different concepts, each as ``source * concepts + target``."""
    by_number = of_target is not None
    columns = ["pl_from", "pl_target_id" if by_number else "pl_namespace"]
    for chunk in table.chunks(columns, [] if by_number else ["pl_title"], progress=progress):
        source = titles.concept_of_pages(chunk.numbers[:, 0])
        if of_target is not None:
            target = taken(of_target, chunk.numbers[:, 1])
        else:
            target = _concepts_of_titles(chunk, titles)
        linked = (source >= 0) & (target >= 0) & (source != target)
        yield source[linked] * len(titles) + target[linked]
