"""From the dumps of a Wikipedia to a concept base, in stages that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from ..errors import ProblemError
from .building.articles import anchors_as_names, read_articles
from .building.facts import join_items, join_types
from .building.folder import Tables, write_folder
from .building.links import PageLinks, read_links
from .building.names import aliases_of, build_aliases, titles_as_names
from .building.occurrences import link_probabilities
from .building.stages import Progress, Stage
from .building.texts import keep_texts, strings_of, words_of_titles
from .building.titles import Titles, read_titles
from .building.wikidata import TYPES, read_wikidata
from .concept_base import ConceptBase

__all__ = ["WikipediaDumps"]


def _silent(line: str) -> None:
    pass


@dataclass(eq=False)
class WikipediaDumps:
    """The dump files of one Wikipedia.

    What does not fit in memory is sorted on disk. Each stage keeps what it has found in a folder
    named after a fingerprint of its inputs: a build that was stopped or killed goes on from its
    last checkpoint, and one over newer dumps takes over nothing but what did not change.

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
    scheduler
        The address of a Dask scheduler, instead of processes; its workers must see the same
        files.
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
    scheduler: str | None = None
    progress: bool = False
    report: Progress = field(default=_silent)

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
        report = self._timed()
        options = {"progress": self.progress}
        spread = {"workers": self.workers, "scheduler": self.scheduler, **options}
        titles = read_titles(self.stages, self.page, self.redirect, report, **options)
        if not len(titles):
            raise ProblemError(f"page: there is no concept in {self.page}.")
        links = read_links(self.stages, titles, self.pagelinks, self.linktarget, report, **options)
        bad = {**titles.bad, **links.bad}
        articles = wikidata = None
        paths = [self.articles] if isinstance(self.articles, Path) else list(self.articles or ())
        if paths:
            articles = read_articles(self.stages, paths, report, **spread)  # type: ignore[arg-type]
            bad["articles"] = int(articles.state["bad"])
        if self.wikidata is not None:
            wikidata = read_wikidata(
                self.stages,
                self.wikidata,
                self.language,
                report,
                **spread,  # type: ignore[arg-type]
            )
            bad["wikidata"] = int(wikidata.state["bad"])
        aliases = self._aliases(titles, links, articles, report)
        shares = None
        if articles is not None:
            shares = link_probabilities(
                self.stages,
                articles,
                aliases,
                report,
                **spread,  # type: ignore[arg-type]
            )
        texts = keep_texts(self.stages, titles, articles, wikidata)
        items = types = None
        if self.page_props is not None or wikidata is not None:
            items = join_items(self.stages, titles, self.page_props, wikidata, report, **options)
            bad["page_props"] = int(items.state["bad"])
        if items is not None and wikidata is not None:
            types = join_types(self.stages, items, wikidata).read("types", np.int16)
        described = articles is not None or wikidata is not None
        tables = Tables(
            ids=titles.ids,
            aliases=aliases_of(aliases, shares),
            title_words=words_of_titles(self.stages, titles),
            graph=links.graph,
            descriptions=strings_of(texts, "descriptions") if described else None,
            texts=None if articles is None else strings_of(texts, "texts"),
            items=None if items is None else items.read("items", np.int64),
            types=types,
            type_names=() if types is None else tuple(TYPES),
        )
        facts = {
            "source": self.page.name,
            "url": f"https://{self.language}.wikipedia.org/wiki/{{id}}",
            "bad_rows": bad,
        }
        write_folder(Path(output), tables, facts, hubs)
        report(f"{output}: written")
        return ConceptBase.open(output), bad

    def _aliases(
        self, titles: Titles, links: PageLinks, articles: Stage | None, report: Progress
    ) -> Stage:
        inputs = [titles.key, links.key, "" if articles is None else articles.key]
        stage = Stage(self.stages, "aliases", inputs)
        if not stage.done:
            uses = titles_as_names(titles, links.received, real=articles is not None)
            if articles is not None:
                uses = chain(uses, anchors_as_names(articles, titles))
            build_aliases(stage, uses, report)
        return stage

    def _check(self) -> None:
        given = {
            name: getattr(self, name)
            for name in ("page", "redirect", "pagelinks", "linktarget", "page_props", "wikidata")
        }
        for name, path in given.items():
            if path is not None and not path.is_file():
                raise ProblemError(f"{name}: {path} does not exist.")
        articles = [self.articles] if isinstance(self.articles, Path) else self.articles or ()
        for path in articles:
            if not path.is_file():
                raise ProblemError(f"articles: {path} does not exist.")

    def _timed(self) -> Progress:
        last = time.perf_counter()

        def report(line: str) -> None:
            nonlocal last
            now = time.perf_counter()
            self.report(f"{line} ({now - last:,.0f} s)")
            last = now

        return report
