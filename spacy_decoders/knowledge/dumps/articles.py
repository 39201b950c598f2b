"""Anchors and opening text of the articles in a Wikipedia XML dump."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, iterparse

from ...errors import ProblemError
from ..concepts import BadRows
from .sql import open_dump

__all__ = ["Article", "ArticleDump", "page_title"]

#: Characters of wikitext that are read for the opening of an article.
_OPENING = 3000


@dataclass(frozen=True)
class Article:
    """One page of the main name space.

    Attributes
    ----------
    title
        As pages are named in the SQL dumps, with underscores.
    redirect
        The page it leads to, or None.
    text
        Its opening as plain text.
    anchors
        (page linked to, words of the link) pairs.
    """

    title: str
    redirect: str | None
    text: str
    anchors: tuple[tuple[str, str], ...]


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
        with open_dump(self.path, progress=self.progress) as (stream, move_on):
            pages = self._pages(stream)
            while True:
                try:
                    page = next(pages, None)
                except (ParseError, EOFError, OSError) as error:
                    self.bad.add(self.path.name, f"the file is broken from here on: {error}")
                    return
                if page is None:
                    return
                move_on()
                fields = {name: page.findtext(f"{{*}}{name}") or "" for name in ("title", "ns")}
                if fields["ns"] != "0":
                    continue
                try:
                    yield _article(fields["title"], page)
                except Exception as error:  # whatever a parser makes of broken wikitext
                    self.bad.add(fields["title"], repr(error))

    def _pages(self, stream: Any) -> Iterator[Element]:
        root: Element | None = None
        for event, element in iterparse(stream, events=("start", "end")):
            if root is None:
                root = element
            if event == "end" and element.tag.endswith("}page"):
                yield element
                root.clear()  # or the whole dump stays in memory


def _article(title: str, page: Element) -> Article:
    import mwparserfromhell

    redirect = page.find("{*}redirect")
    if redirect is not None:
        return Article(page_title(title), page_title(redirect.get("title", "")), "", ())
    source = page.findtext("{*}revision/{*}text") or ""
    code = mwparserfromhell.parse(source)
    anchors = []
    for link in code.filter_wikilinks():
        target = str(link.title).strip()
        # other name spaces and other wikis have a colon; so do a few articles, which are lost
        if not target or ":" in target or target.startswith("#"):
            continue
        words = link.text.strip_code() if link.text is not None else target.partition("#")[0]
        if words.strip():
            anchors.append((page_title(target), words.strip()))
    opening = mwparserfromhell.parse(source[:_OPENING]).strip_code()
    return Article(page_title(title), None, " ".join(opening.split()), tuple(anchors))
