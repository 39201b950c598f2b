"""Wikitext as plain text with its links: markup is taken away kind by kind, inside out."""

from __future__ import annotations

import html
import re

__all__ = ["plain_text"]

#: Comments, and elements whose content is no text; one that has lost its end is left as it is.
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
#: Templates in templates are looked into so far.
_DEEPEST = 40
#: Links to other name spaces and wikis, with the links of their captions. Titles have a blank
#: behind a colon.
_ELSEWHERE = re.compile(
    r"\[\[[^\[\]|\n]*?:[^ _\[\]|][^\[\]]*(?:(?:\[\[[^\[\]]*\]\]|\[[^\[\]]*\])[^\[\]]*)*\]\]"
)
#: Each part ends in one place only: of a link that is not closed, no other is tried.
_WEB = re.compile(r"\[https?:[^\s\]]{0,2000}(?![^\s\]])\s*(?!\s)([^\]\n]{0,2000})\]")
#: Headings, what is left of tables, rules; the signs of lists.
_LINES = re.compile(r"^(?:[=|!].*|--.*|[*#;:]+)", re.MULTILINE)
#: Page, section, words, and letters behind: ``[[bus]]es``.
_LINK = re.compile(r"\[\[([^\[\]|{}\n#]*)(#[^\[\]|{}\n]*)?(?:\|([^\[\]\n]*))?\]\]([a-zA-Z]*)")
#: Stands where markup was, which parts a link from the letters behind it.
_GONE = "\0"

Links = list[tuple[str, str]]


def plain_text(source: str) -> tuple[str, Links, Links]:
    """The text of an article, without markup, and its links.

    Templates, tables, references, headings and images are left out, and white space is joined. The
    links are (page linked to, words of the link) pairs, those in the text and, apart, those of
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
