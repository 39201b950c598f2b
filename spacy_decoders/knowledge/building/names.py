"""From titles, redirects and anchors to names of concepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..aliases import CASES, letter_cases, normalised
from ..contents import storable
from ..database import written
from .lines import TEXTS, LineIndex, as_lines
from .stages import Build, Stage
from .titles import Titles

__all__ = ["Uses", "index_names", "rows_of_uses", "titles_as_names"]


class Uses(NamedTuple):
    """How often names mean concepts."""

    names: list[str]  # as written
    concepts: NDArray[np.int64]  # (names,)
    counts: NDArray[Any]  # (names,): how often they mean them
    articles: NDArray[Any]  # (names,): in how many articles they do as links
    cased: bool  # whether the first letter's case means anything: that of titles does not


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


def rows_of_uses(uses: Iterable[Uses]) -> Iterator[tuple[Any, ...]]:
    """Normalised names, concepts, counts, and counts by case."""
    for part in uses:
        cases = letter_cases(part.names)
        if not part.cased:
            # the first letter of a title is always a capital: the others must tell
            told = [not name[1:].islower() and len(name) > 1 for name in part.names]
            cases = np.where(np.array(told, bool), cases, -1)
        counts = np.asarray(part.counts, np.float64)
        table = np.where(np.arange(len(CASES)) == cases[:, None], counts[:, None], 0.0)
        yield from zip(
            map(storable, normalised(part.names)),
            part.concepts.tolist(),
            counts.tolist(),
            *table.T.tolist(),
            strict=True,
        )


def index_names(build: Build, stage: Stage, uses: Iterable[Uses]) -> None:
    """Index the different names, and count in how many articles each is a link."""
    lines: list[NDArray[np.uint8]] = []
    with written(stage.begun().folder / "names.sqlite") as connection:
        connection.execute("CREATE TABLE uses(name TEXT, articles REAL)")
        for part in uses:
            connection.executemany(
                "INSERT INTO uses VALUES (?, ?)",
                zip(map(storable, normalised(part.names)), part.articles.tolist(), strict=True),
            )
        rows = connection.execute(
            "SELECT name, sum(articles) FROM uses WHERE name != '' GROUP BY name"
        )
        counts: list[float] = []
        while some := rows.fetchmany(TEXTS):
            lines.append(as_lines([name for name, _ in some]))
            counts += [count for _, count in some]
    names = np.concatenate(lines)
    index = LineIndex.of(names, len(counts))
    buckets, shift = index.buckets()
    stage.append("names", names)
    stage.append("articles", np.array(counts, np.float32))
    stage.append("codes", index.codes)
    stage.append("rows", index.rows)
    stage.append("buckets", buckets)
    stage.drop("names.sqlite")
    stage.finish(shift=shift)
    build.report(f"names: {len(counts):,}")
