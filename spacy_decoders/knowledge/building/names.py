"""From titles, redirects and anchors to names of concepts, and how often each is a link.

For the latter the text of all articles is searched for names.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ..aliases import CASES, letter_cases, normalised
from ..contents import storable
from ..database import written
from .kernels import count_names
from .lines import TEXTS, LineIndex, as_lines
from .stages import Build, Stage, mapped, read_units, write_arrays
from .titles import Titles

__all__ = ["Uses", "index_names", "link_probabilities", "rows_of_uses", "titles_as_names"]

#: Words of the longest name that is searched for.
LONGEST = 6


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


class NamesTask(NamedTuple):
    """A part of the articles, the folder of names, the bits below their buckets; the result."""

    part: Path
    names: Path
    shift: int
    output: Path


def count_part(task: NamesTask) -> int:
    """Count in how many articles of a part each name occurs; returns 1, for a part."""
    if task.output.exists():
        return 1
    codes = mapped(task.names / "codes", np.uint64)
    buckets = mapped(task.names / "buckets", np.int32)
    with np.load(task.part, allow_pickle=False) as arrays:
        bodies = np.frombuffer(zlib.decompress(arrays["bodies"].tobytes()), np.uint8)
    seen, counts = np.zeros((2, len(codes)), np.int32)
    count_names(
        read_only(bodies),
        LONGEST,
        read_only(codes),
        read_only(buckets),
        np.uint64(task.shift),
        seen,
        counts,
    )
    found = np.flatnonzero(counts)
    rows = mapped(task.names / "rows", np.int32)[found]
    write_arrays(task.output, rows=rows, counts=counts[found])
    return 1


def link_probabilities(build: Build, articles: Stage, names: Stage) -> Iterator[tuple[str, float]]:
    """Names, and the articles in which each is a link over those in which it occurs.

    Mihalcea and Csomai (2007), *Wikify!*, keyphraseness.
    """
    stage = build.stage("occurrences", [articles.key, names.key, str(LONGEST)])
    if not stage.done:
        stage.folder.mkdir(parents=True, exist_ok=True)
        tasks = [
            NamesTask(part, names.folder, names.state["shift"], stage.folder / part.name)
            for part in articles.parts()
        ]
        read_units(build, count_part, tasks, "names in text")
        stage.drop("links")
        stage.append("links", _shares(tasks, names.read("articles", np.float32)))
        stage.finish()
        known = int((~np.isnan(stage.read("links", np.float32))).sum())
        build.report(f"link probabilities: of {known:,} names")
    shares = stage.read("links", np.float32)
    path = names.folder / "names"
    with path.open(encoding="utf8", errors="replace", newline="\n") as texts:
        for text, share in zip(texts, shares, strict=True):
            if not math.isnan(share):
                yield text[:-1], float(share)


def _shares(tasks: list[NamesTask], linked: NDArray[np.float32]) -> NDArray[np.float32]:
    occurring = np.zeros(len(linked), np.float32)
    for task in tasks:
        with np.load(task.output, allow_pickle=False) as arrays:
            occurring[arrays["rows"]] += arrays["counts"]
    # no name occurs less often than it is a link; where the text is not cut into words, it may
    # never be found at all, which says nothing
    both = np.maximum(occurring, linked)
    shares = np.full(len(linked), np.nan, np.float32)
    np.divide(linked, both, out=shares, where=occurring > 0)
    return shares
