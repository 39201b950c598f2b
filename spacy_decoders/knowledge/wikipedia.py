"""From the dumps of a Wikipedia to the contents of a concept base, in stages that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError
from .concept_base import Contents
from .dumps.articles import ArticleDump
from .dumps.sql import Chunk, SqlTable
from .string_index import StringIndex, as_lines

__all__ = ["WikipediaDumps"]

# redirects that lead to redirects are followed so far; longer chains are errors or circles
_LONGEST_CHAIN = 8


@dataclass(eq=False)
class WikipediaDumps:
    """The dump files of one Wikipedia.

    Parameters
    ----------
    page, redirect, pagelinks
        ``*-page.sql.gz`` and so on, plain or compressed.
    stages
        A folder for what each stage has found: a build that was stopped goes on from there.
    linktarget
        Needed where pagelinks name their targets by number, as they do since 2024.
    articles
        ``*-pages-articles.xml.bz2``: anchors, and text to search. Without it, aliases are
        titles and redirects alone, counted by the links that their page receives.
    progress
        Whether to show progress bars.
    """

    page: Path
    redirect: Path
    pagelinks: Path
    stages: Path
    linktarget: Path | None = None
    articles: Path | None = None
    progress: bool = False

    def contents(self) -> tuple[Contents, dict[str, int]]:
        """Run the stages; returns the contents, and how many rows each stage left out."""
        edges = self._stage("links", self._links)
        bad = {"page": int(self._pages["bad"]), "links": int(edges["bad"])}
        bad["redirect"] = int(self._resolved["bad"])
        titles = [self._title_list[page] for page in np.flatnonzero(~self._pages["redirect"])]
        shown = [title.replace("_", " ") for title in titles]
        names, name_concepts = self._names(shown)
        received = np.bincount(edges["edges"][:, 1], minlength=len(titles))
        counts = 1.0 + received[name_concepts]
        texts: list[str] = []
        if self.articles is not None:
            anchors = self._stage("anchors", self._anchors)
            bad["articles"] = int(anchors["bad"])
            texts = _split(anchors["texts"])
            names = [*names, *_split(anchors["aliases"])]
            name_concepts = np.concatenate([name_concepts, anchors["concepts"]])
            # real uses outweigh the mere existence of a name
            counts = np.concatenate([np.ones(len(counts)), anchors["counts"]])
        contents = Contents(
            ids=titles,
            titles=shown,
            descriptions=[_opening(text) for text in texts] or [""] * len(titles),
            aliases=names,
            alias_concepts=name_concepts,
            alias_counts=counts,
            edges=edges["edges"],
            texts=texts,
        )
        return contents, bad

    # --- stages: arrays by name, kept on disk -------------------------------------

    def _stage(self, name: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        path = self.stages / f"{name}.npz"
        if not path.exists():
            self.stages.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{name}.{uuid4().hex}.npz")
            np.savez(temporary, **run())
            temporary.replace(path)
        with np.load(path, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}

    @cached_property
    def _pages(self) -> dict[str, Any]:
        return self._stage("pages", self._read_pages)

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """Concept number of each page that is no redirect, -1 for a redirect."""
        redirect = self._pages["redirect"]
        return np.where(redirect, -1, np.cumsum(~redirect) - 1)

    @cached_property
    def _titles(self) -> tuple[StringIndex, NDArray[np.int64]]:
        """Index of all titles, and the page of each of its rows."""
        index, rows, _ = StringIndex.build(_split(self._pages["titles"]))
        page_of = np.full(len(index), -1, np.int64)
        page_of[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
        return index, page_of

    @cached_property
    def _resolved(self) -> dict[str, Any]:
        return self._stage("redirects", self._read_redirects)

    def _read_pages(self) -> dict[str, Any]:
        table = SqlTable(self.page)
        columns = ["page_id", "page_namespace", "page_is_redirect"]
        numbers, titles = [], []
        for chunk in table.chunks(columns, "page_title", progress=self.progress):
            kept = chunk.numbers[:, 1] == 0
            numbers.append(chunk.numbers[kept])
            texts = chunk.texts()
            titles += [texts[i] for i in np.flatnonzero(kept).tolist()]
        merged = np.concatenate(numbers) if numbers else np.empty((0, 3), np.int64)
        return {
            "ids": merged[:, 0],
            "redirect": merged[:, 2] == 1,
            "titles": as_lines(titles),
            "bad": table.bad,
        }

    def _read_redirects(self) -> dict[str, Any]:
        """For each page the concept that it stands for, itself or by redirects; -1 for none."""
        table = SqlTable(self.redirect)
        target = np.arange(len(self._pages["ids"]))
        target[self._pages["redirect"]] = -1
        columns = ["rd_from", "rd_namespace"]
        for chunk in table.chunks(columns, "rd_title", progress=self.progress):
            source = _taken(self._page_of_id, chunk.numbers[:, 0])
            led_to = self._page_by_title(chunk.lines, len(chunk.numbers))
            known = (source >= 0) & (chunk.numbers[:, 1] == 0)
            known &= _taken(self._pages["redirect"], source) == 1
            target[source[known]] = led_to[known]
        for _ in range(_LONGEST_CHAIN):
            target = _taken(target, target)
        return {"concept": _taken(self._numbers, target), "bad": table.bad}

    def _links(self) -> dict[str, Any]:
        table = SqlTable(self.pagelinks)
        if "pl_target_id" in table.columns:
            targets = self._link_targets()
            chunks = table.chunks(["pl_from", "pl_target_id"], progress=self.progress)
            pairs = [
                self._edges(chunk.numbers[:, 0], _taken(targets, chunk.numbers[:, 1]))
                for chunk in chunks
            ]
        else:
            chunks = table.chunks(["pl_from", "pl_namespace"], "pl_title", progress=self.progress)
            pairs = [
                self._edges(chunk.numbers[:, 0], self._led_to(chunk, chunk.numbers[:, 1]))
                for chunk in chunks
            ]
        edges = np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)
        return {"edges": edges, "bad": table.bad}

    def _anchors(self) -> dict[str, Any]:
        assert self.articles is not None
        source = ArticleDump(self.articles, progress=self.progress)
        texts = [""] * int((~self._pages["redirect"]).sum())
        uses: Counter[tuple[str, str]] = Counter()
        for article in source:
            if article.redirect is not None:
                continue
            uses.update(article.anchors)
            page = self._page_by_title(as_lines([article.title]), 1)
            concept = int(_taken(self._numbers, page)[0])
            if concept >= 0:
                texts[concept] = article.text
        pairs = list(uses)
        pages = self._page_by_title(as_lines([target for target, _ in pairs]), len(pairs))
        concepts = self._concept(pages)
        kept = np.flatnonzero(concepts >= 0).tolist()
        return {
            "aliases": as_lines([pairs[i][1] for i in kept]),
            "concepts": concepts[kept],
            "counts": np.array([uses[pairs[i]] for i in kept], np.float64),
            "texts": as_lines(texts),
            "bad": source.bad.count,
        }

    # --- look-ups ----------------------------------------------------------------------

    @cached_property
    def _page_of_id(self) -> NDArray[np.int64]:
        """Place of the page with each id, -1 for none."""
        ids = self._pages["ids"]
        places = np.full(int(ids.max(initial=-1)) + 1, -1)
        places[ids] = np.arange(len(ids))
        return places

    def _page_by_title(self, lines: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
        index, page_of = self._titles
        return _taken(page_of, index.find_lines(lines, count))

    def _concept(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        return _taken(self._resolved["concept"], pages)

    def _led_to(self, chunk: Chunk, namespaces: NDArray[np.int64]) -> NDArray[np.int64]:
        """The concept that each title of the main name space stands for."""
        concepts = self._concept(self._page_by_title(chunk.lines, len(chunk.numbers)))
        return np.where(namespaces == 0, concepts, -1)

    def _edges(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Edges between concepts, from page numbers and concepts; links to itself left out."""
        origin = self._concept(_taken(self._page_of_id, sources))
        kept = (origin >= 0) & (targets >= 0) & (origin != targets)
        return np.stack([origin[kept], targets[kept]], axis=1)

    def _link_targets(self) -> NDArray[np.int64]:
        """Concept of each link target number, -1 for none."""
        if self.linktarget is None:
            raise ProblemError(
                f"linktarget: {self.pagelinks.name} names its targets by number; give the "
                "linktarget dump of the same day too."
            )
        table = SqlTable(self.linktarget)
        numbers, concepts = [], []
        columns = ["lt_id", "lt_namespace"]
        for chunk in table.chunks(columns, "lt_title", progress=self.progress):
            numbers.append(chunk.numbers[:, 0])
            concepts.append(self._led_to(chunk, chunk.numbers[:, 1]))
        merged = np.concatenate(numbers) if numbers else np.empty(0, np.int64)
        targets = np.full(int(merged.max(initial=0)) + 1, -1, np.int64)
        if len(merged):
            targets[merged] = np.concatenate(concepts)
        return targets

    @cached_property
    def _title_list(self) -> list[str]:
        return _split(self._pages["titles"])

    def _names(self, shown: list[str]) -> tuple[list[str], NDArray[np.int64]]:
        """Titles without their brackets, and redirects, as aliases."""
        names = [title.partition(" (")[0] or title for title in shown]
        redirects = np.flatnonzero(self._pages["redirect"] & (self._resolved["concept"] >= 0))
        names += [self._title_list[page].replace("_", " ") for page in redirects]
        concepts = [np.arange(len(shown)), self._resolved["concept"][redirects]]
        return names, np.concatenate(concepts)


def _taken(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """``values[places]``, -1 where a place is negative or beyond the end."""
    inside = (places >= 0) & (places < len(values))
    taken = np.full(len(places), -1, np.int64)
    taken[inside] = values[places[inside]]
    return taken


def _split(lines: NDArray[np.uint8]) -> list[str]:
    return lines.tobytes().decode("utf8").split("\n")[:-1]


def _opening(text: str) -> str:
    """The first sentence or so of a text."""
    head, stop, _ = text[:300].partition(". ")
    return head + stop.strip()
