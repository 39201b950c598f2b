"""From the dumps of a Wikipedia to a concept base, in stages that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import ProblemError
from ..graph import ConceptGraph
from .building.articles import anchors_as_names, read_articles
from .building.links import read_links
from .building.names import (
    Uses,
    index_names,
    link_probabilities,
    rows_of_uses,
    titles_as_names,
)
from .building.stages import Build, Progress
from .building.texts import keep_texts, rows_of_concepts
from .building.titles import read_titles
from .building.wikidata import join_items, read_wikidata, types_of_items
from .concept_base import ConceptBase
from .contents import write_folder

__all__ = ["WikipediaDumps"]


@dataclass(eq=False)
class WikipediaDumps:
    """The dump files of one Wikipedia.

    What does not fit in memory is sorted on disk. Each stage keeps what it has found in a folder
    named after a fingerprint of its inputs: a build that was stopped or killed goes on behind the
    last one that is done, and one over newer dumps takes over nothing but what did not change.

    Parameters
    ----------
    page, redirect, pagelinks
        ``*-page.sql.gz`` and so on, plain or compressed.
    stages
        A folder for the stages, as large as the decompressed titles and links.
    linktarget
        Needed where pagelinks name their targets by number, as they do since 2024.
    articles
        ``*-pages-articles.xml.bz2``, one or several: anchors, link probabilities, descriptions,
        and text to search. Without it, aliases are titles and redirects alone, counted by the
        links that their concept receives. Multistream dumps, several files and plain ones are
        read in parallel.
    page_props
        ``*-page_props.sql.gz``: the Wikidata items of pages.
    wikidata
        ``wikidata-*-all.json.bz2``: items, types and descriptions.
    language
        The language of the Wikipedia, such as ``"en"``: of Wikidata's descriptions, and in
        the addresses of pages.
    workers
        Processes for articles and Wikidata.
    progress
        Whether to show progress bars.
    report
        Is told a line at the end of each stage.
    """

    page: Path
    redirect: Path
    pagelinks: Path
    stages: Path
    linktarget: Path | None = None
    articles: Path | Sequence[Path] | None = None
    page_props: Path | None = None
    wikidata: Path | None = None
    language: str = "en"
    workers: int = 1
    progress: bool = False
    report: Progress = field(default=lambda line: None)

    def build(self, output: str | Path, *, hubs: int = 0) -> tuple[ConceptBase, dict[str, int]]:
        """Build the base; returns it, and how many rows of each dump could not be read.

        Parameters
        ----------
        output
            The folder to write; a knowledge base that is there already is replaced.
        hubs
            As for :func:`~.contents.write_concept_base`.

        Raises
        ------
        ProblemError
            If a dump is missing, damaged or of the wrong kind, or holds no concept.
        """
        self._check()
        build = Build(self.stages, self._timed(), self.workers, self.progress)
        titles = read_titles(build, self.page, self.redirect)
        if not len(titles):
            raise ProblemError(f"page: there is no concept in {self.page}.")
        links = read_links(build, titles, self.pagelinks, self.linktarget)
        bad = {**titles.bad, **links.bad}
        articles = wikidata = None
        if paths := self._article_paths():
            articles = read_articles(build, paths)
            bad["articles"] = int(articles.state["bad"])
        if self.wikidata is not None:
            wikidata = read_wikidata(build, self.wikidata, self.language)
            bad["wikidata"] = int(wikidata.state["bad"])

        def uses() -> Iterator[Uses]:
            yield from titles_as_names(titles, links.received, real=articles is not None)
            if articles is not None:
                yield from anchors_as_names(articles, titles)

        shares: Iterable[tuple[str, float]] = ()
        if articles is not None:
            names = build.stage("names", [titles.key, links.key, articles.key])
            if not names.done:
                index_names(build, names, uses())
            shares = link_probabilities(build, articles, names)
        texts = keep_texts(build, titles, articles, wikidata)
        items = types = None
        if self.page_props is not None or wikidata is not None:
            found = join_items(build, titles, self.page_props, wikidata)
            bad["page_props"] = int(found.state["bad"])
            items = found.read("items", np.int64)
            if wikidata is not None:
                types = types_of_items(items, wikidata)
        graph = ConceptGraph(links.graph)
        if hubs:
            graph.index_hubs(hubs, progress=True)
        facts = {
            "source": self.page.name,
            "url": f"https://{self.language}.wikipedia.org/wiki/{{id}}",
            "bad_rows": bad,
        }
        write_folder(
            output,
            graph,
            rows_of_concepts(titles, texts, items, types),
            rows_of_uses(uses()),
            shares,
            facts,
            searched=articles is not None,
        )
        build.report(f"{output}: written")
        return ConceptBase.open(output), bad

    def _article_paths(self) -> list[Path]:
        return [self.articles] if isinstance(self.articles, Path) else list(self.articles or ())

    def _check(self) -> None:
        names = ("page", "redirect", "pagelinks", "linktarget", "page_props", "wikidata")
        given = [(name, getattr(self, name)) for name in names]
        given += [("articles", path) for path in self._article_paths()]
        for name, path in given:
            if path is not None and not path.is_file():
                raise ProblemError(f"{name}: {path} does not exist.")

    def _timed(self) -> Progress:
        last = time.perf_counter()

        def report(line: str) -> None:
            nonlocal last
            now = time.perf_counter()
            self.report(f"{line} ({now - last:,.0f} s)")
            last = now

        return report
