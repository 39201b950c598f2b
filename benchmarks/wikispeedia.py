"""The articles of Wikispeedia, a selection of Wikipedia for schools, and the links among them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["Wikispeedia", "read_wikispeedia"]


class Wikispeedia(NamedTuple):
    """Titles, the categories of each article, and links as pairs of places among the titles."""

    titles: list[str]
    categories: list[list[str]]
    links: list[tuple[int, int]]

    def targets(self) -> list[list[int]]:
        """The articles that each links to, in the order of the file, repeats included."""
        out: list[list[int]] = [[] for _ in self.titles]
        for source, target in self.links:
            out[source].append(target)
        return out


def read_wikispeedia(folder: Path) -> Wikispeedia:
    """Read ``articles.tsv``, ``categories.tsv`` and ``links.tsv``."""
    names = [name for (name,) in _rows(folder / "articles.tsv")]
    place = {name: i for i, name in enumerate(names)}
    categories: list[list[str]] = [[] for _ in names]
    for name, category in _rows(folder / "categories.tsv"):
        categories[place[name]].append(category)
    links = [(place[source], place[target]) for source, target in _rows(folder / "links.tsv")]
    return Wikispeedia([unquote(name) for name in names], categories, links)


def _rows(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]
