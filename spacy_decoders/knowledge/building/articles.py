"""From articles to anchors, descriptions and texts: units of the dump, in parallel."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..aliases import normalised
from ..dumps.articles import Article, article_of
from ..dumps.pages import Unit, pages, units
from .lines import as_lines, lines_of
from .names import Uses
from .stages import Build, Stage, UnitResults, fingerprint, read_units
from .titles import Titles

__all__ = ["ArticlePart", "anchors_as_names", "read_articles"]

#: Pages of a file of results.
PAGES = 10_000
#: Bytes of a dump that one task reads, and reads again if it is killed.
UNIT = 1 << 27


class ArticleTask(NamedTuple):
    """A unit of the dump, and where its results go."""

    unit: Unit
    results: UnitResults


@dataclass
class ArticlePart:
    """What was found in some pages."""

    #: Of each article.
    titles: list[str] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    articles: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: How often the words of a link lead to a page, in text and in all.
    anchors: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: The normalised text of each article, to count how often names occur.
    bodies: list[str] = field(default_factory=list)
    #: Pages read, and those of them that could not be.
    pages: int = 0
    bad: list[str] = field(default_factory=list)

    def add(self, article: Article) -> None:
        if article.redirect is not None:
            return
        self.titles.append(article.title)
        self.descriptions.append(article.description or _first_sentence(article.text))
        self.texts.append(article.text)
        self.bodies.append(article.body)
        self.anchors.update(article.anchors)
        self.anchors.update(article.hidden_anchors)
        self.articles.update(set(article.anchors))

    def write(self, results: UnitResults, place: int) -> None:
        """Write all to a file."""
        keys = list(self.anchors)
        bodies = as_lines(normalised(self.bodies)) if self.bodies else np.empty(0, np.uint8)
        results.write(
            place,
            titles=as_lines(self.titles),
            descriptions=as_lines(self.descriptions),
            texts=as_lines(self.texts),
            targets=as_lines([target for target, _ in keys]),
            words=as_lines([words for _, words in keys]),
            counts=np.array([self.anchors[key] for key in keys], np.float32),
            articles=np.array([self.articles[key] for key in keys], np.float32),
            bodies=np.frombuffer(zlib.compress(bodies.tobytes(), 1), np.uint8),
            facts=np.array([self.pages, len(self.bad)], np.int64),
            bad=as_lines(self.bad[:20]),
        )


def read_unit(task: ArticleTask) -> int:
    """Read one unit, unless an earlier build has; returns its pages."""
    if task.results.total is not None:
        return task.results.total
    place = total = 0
    part = ArticlePart()
    for page in pages(task.unit):
        part.pages += 1
        if isinstance(page, str):
            part.bad.append(page)
        elif page.namespace == "0":
            part.add(article_of(page))
        if part.pages == PAGES:
            part.write(task.results, place)
            total, place, part = total + PAGES, place + 1, ArticlePart()
    if part.pages:
        part.write(task.results, place)
        total += part.pages
    return task.results.finish(total)


def read_articles(build: Build, paths: Sequence[Path]) -> Stage:
    """Run the stage of articles, which needs no other."""
    stage = build.stage("articles", [str(PAGES), str(UNIT), *map(fingerprint, paths)])
    if stage.done:
        return stage
    stage.folder.mkdir(parents=True, exist_ok=True)
    cut = [unit for path in paths for unit in units(path, UNIT)]
    tasks = [ArticleTask(unit, UnitResults(stage.folder, i)) for i, unit in enumerate(cut)]
    total = read_units(build, read_unit, tasks, "articles")
    bad, examples = 0, []
    for part in stage.parts():
        with np.load(part, allow_pickle=False) as arrays:
            bad += int(arrays["facts"][1])
            examples += lines_of(arrays["bad"])
    stage.finish(pages=total, bad=bad, examples=examples[:20])
    build.report(f"articles: {total:,} pages, {bad:,} left out")
    return stage


def anchors_as_names(articles: Stage, titles: Titles) -> Iterator[Uses]:
    """The words of links, and what they lead to."""
    for path in articles.parts():
        with np.load(path, allow_pickle=False) as arrays:
            counts, within = arrays["counts"].astype(float), arrays["articles"].astype(float)
            concepts = titles.concept_of_lines(arrays["targets"], len(counts))
            words = lines_of(arrays["words"])
        kept = np.flatnonzero(concepts >= 0)
        names = [words[i] for i in kept.tolist()]
        yield Uses(names, concepts[kept], counts[kept], within[kept], True)


def _first_sentence(text: str) -> str:
    head, stop, _ = text[:300].partition(". ")
    return head + stop.strip()
