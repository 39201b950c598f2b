"""From titles, redirects and anchors to the alias table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..aliases import AliasTable, normalised
from ..letter_case import letter_cases
from ..string_index import as_lines
from .spills import PARTS, LineSpill
from .stages import Progress, Stage
from .strings import append_index, append_offsets, finish_index, index_of
from .titles import Titles

__all__ = ["Uses", "aliases_of", "build_aliases", "titles_as_names"]


class Uses(NamedTuple):
    """How often names mean concepts."""

    names: list[str]  # as written
    concepts: NDArray[np.int64]  # (names,)
    counts: NDArray[Any]  # (names,): how often they mean them
    articles: NDArray[Any]  # (names,): in how many articles they do as links
    cased: bool  # whether the first letter's case means anything: that of titles does not


_COLUMNS = {"concept": np.int32, "count": np.float32, "articles": np.float32, "case": np.int8}


def titles_as_names(titles: Titles, received: NDArray[np.int32], *, real: bool) -> Iterator[Uses]:
    """Titles without their brackets, and redirects.

    Each counts once and, unless there are `real` uses to outweigh it, once more for every concept
    that links to what it means.
    """
    for texts, concepts, own in titles.parts():
        kept = np.flatnonzero(concepts >= 0)
        names = [texts[i].replace("_", " ") for i in kept.tolist()]
        shortened = [
            (name.partition(" (")[0] or name) if is_own else name
            for name, is_own in zip(names, own[kept].tolist(), strict=True)
        ]
        counts = np.ones(len(kept)) if real else 1.0 + received[concepts[kept]]
        yield Uses(shortened, concepts[kept], counts, np.zeros(len(kept)), False)


def build_aliases(stage: Stage, uses: Iterator[Uses], report: Progress) -> None:
    """Deal out all names by a hash, and make a table of each part."""
    spill = LineSpill(stage, "names", _COLUMNS)
    if "dealt" not in stage.state:
        for part in uses:
            _deal(spill, part)
        stage.checkpoint(dealt=True)
    for number in range(int(stage.state.get("part", 0)), PARTS):
        lines, columns = spill.part(number)
        table = AliasTable.build_lines(
            lines, columns["concept"], columns["count"], columns["case"]
        )
        rows = table.index.find_lines(lines, len(columns["concept"]))
        articles = np.zeros(len(table), np.float64)
        np.add.at(articles, rows[rows >= 0], columns["articles"][rows >= 0])
        _append_table(stage, table)
        stage.append("articles", articles.astype(np.float32))
        stage.checkpoint(dealt=True, part=number + 1)
    finish_index(stage, "aliases")
    stage.finish()
    spill.drop()
    count, candidates = stage.size("aliases.codes") // 8, stage.size("concepts") // 4
    report(f"aliases: {count:,}, {candidates:,} candidates")


def _deal(spill: LineSpill, uses: Uses) -> None:
    case = letter_cases(uses.names)
    if not uses.cased:
        # the first letter of a title is always a capital: the others must tell
        told = np.array([not name[1:].islower() and len(name) > 1 for name in uses.names], bool)
        case = np.where(told, case, -1)
    texts = normalised(uses.names)
    kept = np.array([bool(text) for text in texts], bool)
    lines = as_lines([text for text in texts if text])
    columns = {
        "concept": uses.concepts,
        "count": uses.counts,
        "articles": uses.articles,
        "case": case,
    }
    spill.add(lines, {name: values[kept] for name, values in columns.items()})


def _append_table(stage: Stage, table: AliasTable) -> None:
    assert table.uses is not None and table.cases is not None
    append_offsets(stage, "entries", table.offsets, stage.size("concepts") // 4)
    append_index(stage, "aliases", table.index.codes, table.index.table)
    stage.append("concepts", table.concepts)
    stage.append("priors", table.priors)
    stage.append("uses", table.uses)
    stage.append("cases", table.cases)


def aliases_of(stage: Stage, links: NDArray[np.float32] | None = None) -> AliasTable:
    """The table that a finished stage has."""
    return AliasTable(
        index_of(stage, "aliases"),
        stage.read("entries", np.int64),
        stage.read("concepts", np.int32),
        stage.read("priors", np.float32),
        stage.read("uses", np.float32),
        links,
        stage.read("cases", np.uint8).reshape(-1, 4),
    )
