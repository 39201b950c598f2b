"""Building a concept base from the dumps of a Wikipedia."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ProblemError
from ..files import beside
from .building.articles import parts_of, read_articles
from .building.lines import as_lines, storable
from .building.names import LinkShares, Uses, anchors_as_names, rows_of_uses, titles_as_names
from .building.titles import PageLinks, Titles, read_links, read_titles
from .building.wikidata import TYPES, Items, read_items
from .concept_base import ConceptBase
from .contents import write_folder

__all__ = ["WikipediaDumps"]


@dataclass(eq=False)
class WikipediaDumps:
    """The dump files of one Wikipedia.

    Titles, links and descriptions are held in memory; names are sorted, and articles kept, on disk
    beside the base.

    Parameters
    ----------
    page, redirect, pagelinks
        ``*-page.sql.gz`` and so on, plain or compressed.
    linktarget
        Needed where pagelinks name their targets by number, as they do since 2024.
    articles
        ``*-pages-articles.xml.bz2``, one or several: anchors, link probabilities, descriptions,
        and text to search. Without it, aliases are titles and redirects alone, counted by the
        links that their concept receives.
    page_props
        ``*-page_props.sql.gz``: the Wikidata items of pages.
    wikidata
        ``wikidata-*-all.json.gz``: items, types and descriptions.
    language
        The language of the Wikipedia, such as ``"en"``, and of Wikidata's descriptions.
    workers
        Processes that read the files of articles, each file by one.
    """

    page: Path
    redirect: Path
    pagelinks: Path
    linktarget: Path | None = None
    articles: Path | Sequence[Path] | None = None
    page_props: Path | None = None
    wikidata: Path | None = None
    language: str = "en"
    workers: int = 1

    def build(self, output: str | Path, *, hubs: int = 0) -> tuple[ConceptBase, dict[str, int]]:
        """Build the base; return it, and how many rows of each dump could not be read.

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
        titles = read_titles(self.page, self.redirect)
        if not len(titles):
            raise ProblemError(f"page: there is no concept in {self.page}.")
        links = read_links(titles, self.pagelinks, self.linktarget)
        if hubs:
            links.graph.index_hubs(hubs)
        bad = {**titles.bad, **links.bad}
        items = read_items(titles, self.page_props, self.wikidata, self.language)
        paths = self._article_paths()
        with beside(Path(output).resolve()) as folder:
            shares = None
            if paths:
                bad["articles"] = read_articles(paths, folder, self.workers)
                shares = LinkShares.count(_uses(titles, links, folder, paths), parts_of(folder))
            bad |= items.bad
            facts = {
                "source": self.page.name,
                "url": f"https://{self.language}.wikipedia.org/wiki/{{id}}",
                "bad_rows": bad,
            }
            write_folder(
                output,
                links.graph,
                _rows_of_concepts(titles, folder, items),
                rows_of_uses(_uses(titles, links, folder, paths), shares),
                facts,
                searched=bool(paths),
            )
        return ConceptBase.open(output), bad

    def _article_paths(self) -> list[Path]:
        return [self.articles] if isinstance(self.articles, Path) else list(self.articles or ())

    def _check(self) -> None:
        names = ("page", "redirect", "pagelinks", "linktarget", "page_props", "wikidata")
        given = [(name, getattr(self, name)) for name in names]
        given += [("articles", path) for path in self._article_paths()]
        for name, path in given:
            if path is not None and not path.is_file():
                raise ProblemError(f"{name}: {path} is no file.")
        if self.workers < 1:
            raise ProblemError(f"workers: expected at least 1, got {self.workers}.")


def _uses(titles: Titles, links: PageLinks, folder: Path, articles: list[Path]) -> Iterator[Uses]:
    yield from titles_as_names(titles, links.received, real=bool(articles))
    yield from anchors_as_names(parts_of(folder), titles)


def _rows_of_concepts(titles: Titles, folder: Path, items: Items) -> Iterator[tuple[Any, ...]]:
    """The rows of the table of concepts, those with articles first.

    Wikidata's description of a concept takes the place of the article's own.
    """
    pages = np.flatnonzero(titles.own)
    types = [*TYPES, ""]  # -1, which means unknown, takes the last

    def row(concept: int, description: str = "", text: str = "") -> tuple[Any, ...]:
        identity = titles.text(pages[concept])
        said = storable(items.descriptions.get(concept, description))
        text = storable(text)
        return (
            concept,
            identity,
            identity.replace("_", " "),
            said,
            types[items.types[concept]],
            int(items.numbers[concept]) or None,
            "",
            text if text not in ("", said) else None,
        )

    left = np.ones(len(titles), bool)
    for part in parts_of(folder):
        concepts = titles.concept_of_lines(as_lines(part.titles), len(part.titles)).tolist()
        for concept, *said in zip(concepts, part.descriptions, part.texts, strict=True):
            if concept >= 0 and left[concept]:
                left[concept] = False
                yield row(concept, *said)
    yield from map(row, np.flatnonzero(left).tolist())
