"""Titled sections of HTML documentation, to train on: headings, and the text below each."""

import gzip
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Annotated

import typer

#: Elements whose content is no running text, and those that end by themselves.
SKIPPED = frozenset({
    "pre", "script", "style", "nav", "table", "svg", "math", "footer", "aside", "form", "button",
    "select", "figure", "header",
})  # fmt: skip
EMPTY = frozenset({"br", "img", "hr", "input", "meta", "link", "area", "base", "col", "wbr"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
NO_TEXT = re.compile(
    r"sidebar|related|headerlink|nav(header|footer|bar)|toc|highlight|breadcrumb|math |footnote"
    r"|admonition|menu|versionmodified"
)
#: Titles that say nothing of what is below them.
GENERIC = re.compile(
    r"(see also|references?|examples?|notes?|introduction|overview|summary|(table of )?contents"
    r"|index|parameters|returns|conclusions?|exercises?|further reading|description|synopsis"
    r"|caveats?|acknowledge?ments?|authors?|options|usage|tutorials?|faq|todo|bugs?|api.*"
    r"|release notes.*|version .*|what.s new.*|.*documentation|other.*|.*\d+\.\d+.*)",
    re.IGNORECASE,
)
NUMBER = re.compile(r"^(Chapter |Appendix )?([0-9]+|[A-Z](?=\.))(\.[0-9]+)*\.?[\s—:-]+")


class Sections(HTMLParser):
    """Collects the headings of a page, each with the text up to the next."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[str, bool]] = []
        self._heading: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in EMPTY:
            return
        of_class = dict(attrs).get("class") or ""
        skipped = tag in SKIPPED or (
            tag not in ("html", "body") and NO_TEXT.search(of_class) is not None
        )
        self._open.append((tag, skipped))
        if tag in HEADINGS and not self._is_skipped:
            self._heading = ""
        self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if all(tag != name for name, _ in self._open):
            return
        while self._open.pop()[0] != tag:
            pass
        if self._heading is not None and tag in HEADINGS:
            self.found.append((self._heading, ""))
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._is_skipped:
            return
        if self._heading is not None:
            self._heading += data
        elif self.found:
            title, text = self.found[-1]
            self.found[-1] = title, text + data

    @property
    def _is_skipped(self) -> bool:
        return any(skipped for _, skipped in self._open)


def main(
    folder: Path,
    output: Path,
    most: Annotated[int, typer.Option(help="Sections at most, drawn at random")] = 300,
    a_page: Annotated[int, typer.Option(help="Sections of one page at most")] = 10,
    seed: int = 0,
) -> None:
    """Write the titled sections of all pages below a folder as JSON lines."""
    draw = random.Random(seed)
    seen: set[str] = set()
    rows: list[dict[str, str]] = []
    for page in sorted(folder.rglob("*.html")):
        parser = Sections()
        parser.feed(page.read_text(encoding="utf8", errors="ignore"))
        good = []
        for heading, body in parser.found:
            title = NUMBER.sub("", " ".join(re.sub("[¶#§]", "", heading).split()))
            text = " ".join(re.sub("[¶§]", "", body).split())
            if is_good(title, text) and text[:80] not in seen:
                seen.add(text[:80])
                good.append({"id": page.name, "title": title, "text": text})
        rows += draw.sample(good, min(a_page, len(good)))
    rows = draw.sample(rows, min(most, len(rows)))
    with gzip.open(output, "wt", encoding="utf8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{output}: {len(rows)} sections")


def is_good(title: str, text: str) -> bool:
    """Whether a title is one, and there is enough running text that it could be the title of."""
    letters = sum(c.isalpha() for c in text)
    return (
        1 <= len(title.split()) <= 9
        and re.search("[A-Za-z]{3}", title) is not None
        and not re.search(r"[_(){}=<>]", title)
        and GENERIC.fullmatch(title) is None
        and 50 <= len(text.split()) <= 1500
        and letters > 0.7 * len(text.replace(" ", ""))
    )


if __name__ == "__main__":
    typer.run(main)
