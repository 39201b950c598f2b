"""How often a name is a link where it occurs at all: all text is searched for names."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ...arrays import read_only
from .arrays import TEXTS, chunks
from .articles import article_parts
from .kernels import count_names
from .stages import Build, Stage
from .string_index import StringIndex
from .workers import spread

__all__ = ["link_probabilities"]

#: Words of the longest name that is searched for.
LONGEST = 6


class NamesTask(NamedTuple):
    """A part of the articles, and the folders of the stages of names and of occurrences."""

    part: Path
    stages: Path
    names: str
    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / self.part.name


_opened: dict[Path, StringIndex] = {}


def count_part(task: NamesTask) -> None:
    """Count in how many articles of a part each name occurs."""
    if task.output.exists():
        return
    folder = task.stages / task.names
    if folder not in _opened:
        _opened.clear()
        _opened[folder] = StringIndex.of_folder(folder, "names")
    index = _opened[folder]
    with np.load(task.part, allow_pickle=False) as arrays:
        bodies = np.frombuffer(zlib.decompress(arrays["bodies"].tobytes()), np.uint8)
    seen = np.zeros(len(index), np.int32)
    counts = np.zeros(len(index), np.int32)
    codes, buckets, shift, data, offsets = index.kernel_arguments()
    table = data, offsets, seen, counts
    count_names(read_only(bodies), LONGEST, codes, buckets, shift, *table)
    rows = np.flatnonzero(counts)
    temporary = task.folder / f".{uuid4().hex}.npz"
    np.savez(temporary, rows=rows, counts=counts[rows])
    temporary.replace(task.output)


def link_probabilities(build: Build, articles: Stage, names: Stage) -> Iterator[tuple[str, float]]:
    """Names, and the articles in which each is a link over those in which it occurs.

    Mihalcea and Csomai (2007), *Wikify!*, keyphraseness.
    """
    stage = build.stage("occurrences", [articles.key, names.key, str(LONGEST)])
    if not stage.done:
        stage.folder.mkdir(parents=True, exist_ok=True)
        parts = article_parts(articles)
        tasks = [NamesTask(part, build.folder, names.key, stage.folder) for part in parts]
        hidden = not build.progress
        with tqdm(total=len(tasks), unit="part", desc="names in text", disable=hidden) as bar:
            for _ in spread(build, count_part, tasks):
                bar.update()
        stage.drop("links")
        stage.append("links", _shares(tasks, names.read("articles", np.float32)))
        stage.finish()
        known = int((~np.isnan(stage.read("links", np.float32))).sum())
        build.report(f"link probabilities: of {known:,} names")
    shares = stage.read("links", np.float32)
    table = StringIndex.of_folder(names.folder, "names").table
    for part in chunks(len(shares), TEXTS):
        known = part.start + np.flatnonzero(~np.isnan(shares[part]))
        yield from zip(table.take(known), shares[known].tolist(), strict=True)


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
