"""Anchors, descriptions and texts of articles, from the files of a dump in parallel."""

from __future__ import annotations

import pickle  # safe here: the files were written by the same build
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ...process_pool import spawned_pool
from ..aliases import normalise
from ..concepts import BadRows
from ..dumps.articles import Article, articles
from .lines import as_lines

__all__ = ["ArticlePart", "parts_of", "read_articles"]

#: Articles of a part.
_ARTICLES = 10_000


class ArticlePart(NamedTuple):
    """What was found in some articles."""

    # of each article
    titles: list[str]
    descriptions: list[str]
    texts: list[str]
    #: By page and link words: the number of links, and of articles with such a link in the text.
    anchors: Counter[tuple[str, str]]
    within: Counter[tuple[str, str]]
    #: The normalised text of each article, as compressed lines, to count how often names occur.
    bodies: bytes

    @classmethod
    def of(cls, found: Sequence[Article]) -> ArticlePart:
        """What was found in these articles."""
        part = cls(
            [article.title for article in found],
            [article.description for article in found],
            [article.text for article in found],
            Counter(),
            Counter(),
            zlib.compress(as_lines(normalise(article.body) for article in found).tobytes(), 1),
        )
        for article in found:
            part.anchors.update(article.anchors)
            part.anchors.update(article.hidden_anchors)
            part.within.update(set(article.anchors))
        return part


def read_articles(paths: Sequence[Path], folder: Path, workers: int) -> int:
    """Read dumps of articles, each by one process, into the files of a folder.

    Returns how many articles could not be read.
    """
    tasks = [(path, folder / f"{number:04d}") for number, path in enumerate(paths)]
    if workers == 1 or len(tasks) == 1:
        return sum(map(_read_file, tasks))
    with spawned_pool(workers) as pool:
        return sum(pool.map(_read_file, tasks))


def _read_file(task: tuple[Path, Path]) -> int:
    path, folder = task
    folder.mkdir()
    bad = BadRows()
    found = articles(path, bad)
    for number, some in enumerate(iter(lambda: list(islice(found, _ARTICLES)), [])):
        (folder / f"{number:06d}").write_bytes(pickle.dumps(ArticlePart.of(some)))
    return bad.count


def parts_of(folder: Path) -> Iterator[ArticlePart]:
    """What was read into a folder, in the order of the dumps."""
    for path in sorted(folder.glob("*/*")):
        yield pickle.loads(path.read_bytes())
