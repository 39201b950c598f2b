"""Anchors and opening text of the articles in a Wikipedia XML dump."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from ...errors import ProblemError
from ..concepts import BadRows
from .pages import Page, Unit, pages
from .wikitext import plain_text

__all__ = ["Article", "ArticleDump", "article_of", "page_title"]

#: Characters of the opening of an article.
_OPENING = 1500
_SHORT = re.compile(rb"\{\{\s*[Ss]hort[ _]description\s*\|\s*(?:1\s*=\s*)?([^{|}]+)")


@dataclass(frozen=True)
class Article:
    """One page of the main name space."""

    title: str  # as pages are named in the SQL dumps, with underscores
    redirect: str | None  # the page it leads to, or None
    text: str  # its opening as plain text
    anchors: tuple[tuple[str, str], ...]  # (page linked to, words of the link) pairs
    description: str = ""  # what `{{Short description}}` says, or ""
    body: str = ""  # all of its plain text
    hidden_anchors: tuple[tuple[str, str], ...] = ()  # the pairs of its templates and tables


def page_title(text: str) -> str:
    """Write a title as the SQL dumps do: underscores, capital first, no section.

    Examples
    --------
    >>> page_title(" jaguar (animal)#Habitat ")
    'Jaguar_(animal)'
    """
    name = "_".join(text.partition("#")[0].replace("_", " ").split())
    return name[:1].upper() + name[1:]


class ArticleDump:
    """The articles of a ``pages-articles.xml`` dump, plain or compressed.

    Attributes
    ----------
    bad
        What the last iteration could not read; a broken end of the file counts as one.
    """

    def __init__(self, path: Path, *, progress: bool = False) -> None:
        self.path = Path(path)
        self.progress = progress
        self.bad = BadRows()
        if not self.path.is_file():
            raise ProblemError(f"source: {self.path} does not exist.")

    def __iter__(self) -> Iterator[Article]:
        self.bad = BadRows()
        found = pages(Unit(self.path))
        for page in tqdm(found, unit="page", desc=self.path.name, disable=not self.progress):
            if isinstance(page, str):
                self.bad.add(self.path.name, page)
            elif page.namespace == "0":
                yield article_of(page)


def article_of(page: Page) -> Article:
    """Read the wikitext of a page."""
    if page.redirect is not None:
        return Article(page_title(page.title), page_title(page.redirect), "", ())
    body, shown, hidden = plain_text(page.source)
    described = _SHORT.search(page.source, 0, 4000)
    description = described.group(1).decode("utf8", "replace").strip() if described else ""
    return Article(
        page_title(page.title),
        None,
        body[:_OPENING],
        _anchors(shown),
        "" if description.lower() == "none" else " ".join(description.split()),
        body,
        _anchors(hidden),
    )


def _anchors(links: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    named = ((page_title(target), words) for target, words in links)
    return tuple((target, words) for target, words in named if target and words)
