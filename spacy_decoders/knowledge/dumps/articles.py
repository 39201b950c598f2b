"""Anchors, descriptions and text of the articles in a Wikipedia XML dump.

Markup is removed kind by kind, from the inside out.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from ...readers.text_lines import whole_lines
from ..concepts import BadRows
from .sql import open_dump

__all__ = ["Article", "articles", "page_title", "plain_text"]

#: Characters of the opening of an article.
_OPENING = 1500
#: A page of more bytes than this has lost its end tag.
_LONGEST = 1 << 26
_SHORT = re.compile(r"\{\{\s*[Ss]hort[ _]description\s*\|\s*(?:1\s*=\s*)?([^{|}]+)")
#: Comments, and elements whose content is no text; one without an end is left as it is.
_NO_TEXT = re.compile(
    r"<!--.*?-->|<(ref|math|gallery|timeline|syntaxhighlight|source|score|chem|graph|mapframe"
    r"|imagemap|templatestyles)\b[^<>]{0,2000}?(?:/>|>.{0,100000}?</\1\s*>)",
    re.DOTALL | re.IGNORECASE,
)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>|''+")
#: Templates and tables with none of their kind within.
_NESTED = (
    re.compile(r"\{\{[^{}]*(?:(?:\{(?!\{)|\}(?!\}))[^{}]*)*\}\}"),
    re.compile(r"\{\|[^{|]*(?:(?:\{(?!\|)|\|(?!\}))[^{|]*)*\|\}"),
)
#: The deepest nesting of templates that is removed.
_DEEPEST = 40
#: Links to other namespaces and wikis, with the links in their captions. In titles, a colon is
#: followed by a space.
_ELSEWHERE = re.compile(
    r"\[\[[^\[\]|\n]*?:[^ _\[\]|][^\[\]]*(?:(?:\[\[[^\[\]]*\]\]|\[[^\[\]]*\])[^\[\]]*)*\]\]"
)
#: Each part can end in one place only, so that an unclosed link causes no backtracking.
_WEB = re.compile(r"\[https?:[^\s\]]{0,2000}(?![^\s\]])\s*(?!\s)([^\]\n]{0,2000})\]")
#: Headings, rests of tables, rules; the markers of lists.
_LINES = re.compile(r"^(?:[=|!].*|--.*|[*#;:]+)", re.MULTILINE)
#: Page, section, words, and trailing letters: ``[[bus]]es``.
_LINK = re.compile(r"\[\[([^\[\]|{}\n#]*)(#[^\[\]|{}\n]*)?(?:\|([^\[\]\n]*))?\]\]([a-zA-Z]*)")
#: Takes the place of removed markup, which separates a link from the letters after it.
_GONE = "\0"

Links = list[tuple[str, str]]


@dataclass(frozen=True)
class Article:
    """One page of the main namespace that is no redirect."""

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


def articles(path: Path, bad: BadRows) -> Iterator[Article]:
    """Read the articles of a ``pages-articles.xml`` dump, plain or compressed.

    Pages that can't be read go to `bad`.

    Raises `ProblemError` if the file is damaged or ends too early.
    """
    for source in _pages(path, bad):
        try:
            page = fromstring(source)
        except ParseError as error:
            bad.add(path.name, f"{source[:80]!r}: {error}")
            continue
        if page.findtext("ns") == "0" and page.find("redirect") is None:
            yield _article(page)


def _pages(path: Path, bad: BadRows) -> Iterator[bytes]:
    """The pages of a dump, in which, as it is machine-written, their tags begin and end lines."""
    with open_dump(path) as stream:
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


def _anchors(links: Links) -> tuple[tuple[str, str], ...]:
    named = ((page_title(target), words) for target, words in links)
    return tuple((target, words) for target, words in named if target and words)


# --- wikitext -------------------------------------------------------------------------


def plain_text(source: str) -> tuple[str, Links, Links]:
    """The text of an article, without markup, and its links.

    Templates, tables, references, headings and images are left out, and white space is collapsed.
    The links are (page linked to, words of the link) pairs: first those in the text, then those of
    templates and tables.

    Examples
    --------
    >>> plain_text("A [[Felidae|cat]].{{see [[Big cat]]s}}")
    ('A cat.', [('Felidae', 'cat')], [('Big cat', 'Big cats')])
    """
    shown: Links = []
    hidden: Links = []

    def hide(match: re.Match[str]) -> str:
        for link in _LINK.finditer(_ELSEWHERE.sub("", match[0])):
            _collect(link, hidden)
        return _GONE

    def show(link: re.Match[str]) -> str:
        return _collect(link, shown)

    text = source.replace(_GONE, "")
    text = _TAGS.sub(_GONE, _NO_TEXT.sub(_GONE, text))
    text = html.unescape(text)
    for nested in _NESTED:
        for _ in range(_DEEPEST):
            text, count = nested.subn(hide, text)
            if not count:
                break
    text = _WEB.sub(r"\1", _ELSEWHERE.sub(_GONE, text))
    text = _LINK.sub(show, _LINES.sub("", text))
    for left in (_GONE, "[[", "]]"):
        text = text.replace(left, "")
    return " ".join(text.split()), shown, hidden


def _collect(link: re.Match[str], links: Links) -> str:
    """Add a link, unless it leads to a section of the same page; return its words."""
    page, section, words, tail = link.groups("")
    words = words if link[3] is not None else page + section
    words = " ".join((words + tail).replace(_GONE, "").split())
    if page.strip():
        links.append((page.strip(), words))
    return words
