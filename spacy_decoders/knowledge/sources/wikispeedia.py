"""The articles of Wikispeedia, a Wikipedia for schools, and the links among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from ..concepts import BadRows, Concept
from .concept_files import find_table, rows_of

__all__ = ["Wikispeedia"]

#: Types of the categories that have one.
_TYPES = {"People": "person", "Countries": "place"}


class Wikispeedia:
    """The articles of ``wikispeedia_paths-and-graph`` (West and Leskovec 2012, by SNAP).

    An article is known by its title, with and without what stands in brackets; that counts once
    and once more for every article that links to it.

    Parameters
    ----------
    folder
        With ``articles.tsv``, ``links.tsv`` and ``categories.tsv``.

    Attributes
    ----------
    bad
        What the last iteration could not read.
    """

    def __init__(self, folder: Path) -> None:
        self.tables = [find_table(Path(folder), n) for n in ("articles", "links", "categories")]
        self.bad = BadRows()

    def __iter__(self) -> Iterator[Concept]:
        self.bad = BadRows()
        articles, links, categories = self.tables
        targets: dict[str, list[str]] = {}
        received: Counter[str] = Counter()
        for source, target in rows_of(links, 2, self.bad):
            targets.setdefault(source, []).append(unquote(target))
            received[target] += 1
        category: dict[str, list[str]] = {}
        for name, path in rows_of(categories, 2, self.bad):
            category.setdefault(name, []).append(path.removeprefix("subject."))
        for (name,) in rows_of(articles, 1, self.bad):
            title = unquote(name).replace("_", " ")
            paths = category.get(name, [])
            top = next((path.split(".")[0] for path in paths), "")
            uses = 1.0 + received[name]
            yield Concept(
                id=unquote(name),
                title=title,
                aliases={title: uses, title.partition(" (")[0] or title: uses},
                links=tuple(targets.get(name, ())),
                description=", ".join(path.replace(".", ": ").replace("_", " ") for path in paths),
                type=_TYPES.get(top, top.replace("_", " ").lower()),
                url=f"https://en.wikipedia.org/wiki/{name}",
            )
