"""How often a name is a link where it occurs at all: all text is searched for names."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from .articles import article_parts
from .kernels import count_names
from .stages import Build, Stage, mapped
from .units import read_units, write_arrays

__all__ = ["link_probabilities"]

#: Words of the longest name that is searched for.
LONGEST = 6


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
            for part in article_parts(articles)
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
