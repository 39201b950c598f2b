"""Anchors, descriptions and text of the articles in a Wikipedia XML dump."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from ...readers.text_lines import whole_lines
from ..concepts import BadRows
from .sql import open_dump
from .wikitext import plain_text

__all__ = ["Article", "articles", "page_title"]

#: Characters of the opening of an article.
_OPENING = 1500
#: A page of more bytes than this has lost its end.
_LONGEST = 1 << 26
_SHORT = re.compile(r"\{\{\s*[Ss]hort[ _]description\s*\|\s*(?:1\s*=\s*)?([^{|}]+)")


@dataclass(frozen=True)
class Article:
    """One page of the main name space that is no redirect."""

    title: str  # as pages are named in the SQL dumps, with underscores
    description: str  # what `{{Short description}}` says, or the first sentence
    text: str  # its opening as plain text
    body: str  # all of its plain text
    anchors: tuple[tuple[str, str], ...]  # (page linked to, words of the link) pairs
    hidden_anchors: tuple[tuple[str, str], ...]  # the pairs of its templates and tables


def page_title(text: str) -> str:
    """Write a title as the SQL dumps do: underscores, capital first, no section.

    Examples
    --------
    >>> page_title(" jaguar (animal)#Habitat ")
    'Jaguar_(animal)'
    """
    name = "_".join(text.partition("#")[0].replace("_", " ").split())
    return name[:1].upper() + name[1:]


def articles(path: Path, bad: BadRows, *, progress: bool = False) -> Iterator[Article]:
    """Read the articles of a ``pages-articles.xml`` dump, plain or compressed.

    Pages that can't be read go to `bad`.

    Raises `ProblemError` if the file is damaged or ends too early.
    """
    for source in _pages(path, bad, progress):
        try:
            page = fromstring(source)
        except ParseError as error:
            bad.add(path.name, f"{source[:80]!r}: {error}")
            continue
        if page.findtext("ns") == "0" and page.find("redirect") is None:
            yield _article(page)


def _pages(path: Path, bad: BadRows, progress: bool) -> Iterator[bytes]:
    """The pages of a dump, which is written by a machine: their tags begin and end lines."""
    with open_dump(path, progress=progress) as stream:
        page: list[bytes] = []
        size = 0
        for line in whole_lines(stream, path):
            begins = line.lstrip().startswith(b"<page>")
            if begins or size > _LONGEST:
                if page:
                    bad.add(path.name, f"{page[0][:80]!r}: the page has no end")
                page, size = [], 0
            if begins or page:
                page.append(line)
                size += len(line)
            if page and line.rstrip().endswith(b"</page>"):
                yield b"".join(page)
                page, size = [], 0
        if page:
            bad.add(path.name, f"{page[0][:80]!r}: the page has no end")


def _article(page: Element) -> Article:
    source = page.findtext("revision/text") or ""
    body, shown, hidden = plain_text(source)
    text = body[:_OPENING]
    described = _SHORT.search(source, 0, 4000)
    description = " ".join(described[1].split()) if described else ""
    return Article(
        title=page_title(page.findtext("title") or ""),
        description=_first_sentence(text) if description.lower() in ("", "none") else description,
        text=text,
        body=body,
        anchors=_anchors(shown),
        hidden_anchors=_anchors(hidden),
    )


def _first_sentence(text: str) -> str:
    head, stop, _ = text[:300].partition(". ")
    return head + stop.strip()


def _anchors(links: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    named = ((page_title(target), words) for target, words in links)
    return tuple((target, words) for target, words in named if target and words)
