"""Descriptions, texts and the words of titles, sorted by concept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from ..string_index import StringIndex, as_lines, buckets_of
from ..title_words import TitleWords, title_words
from .arrays import TEXTS, chunks
from .articles import article_parts, lines_of
from .spills import PARTS, LineSpill
from .stages import Stage
from .titles import Titles
from .wikidata import items_of

__all__ = ["keep_texts", "strings_of", "words_of_titles"]

_NAMES = ("descriptions", "texts")


def keep_texts(
    stages: Path, titles: Titles, articles: Stage | None, wikidata: Stage | None
) -> Stage:
    """Descriptions, and texts where there are articles, in the order of the concepts.

    Wikidata's description of a concept takes the place of the article's own.
    """
    sources = (articles, wikidata)
    keys = ["" if source is None else source.key for source in sources]
    stage = Stage(stages, "texts", [titles.key, *keys])
    if stage.done:
        return stage
    bounds = np.linspace(0, len(titles), PARTS + 1).astype(np.int64)
    if "dealt" not in stage.state:
        for number, (concepts, texts) in enumerate(_texts(titles, *sources)):
            if number < int(stage.state.get("next", 0)):
                continue
            for name, found in zip(_NAMES, texts, strict=False):
                _deal(stage, name, bounds, concepts, found)
            if stage.due():
                stage.checkpoint(next=number + 1)
        stage.checkpoint(dealt=True)
    names = _NAMES if articles is not None else _NAMES[:1]
    if not stage.size("descriptions.offsets"):
        for name in names:
            stage.append(f"{name}.offsets", np.zeros(1, np.int64))
    for number in range(int(stage.state.get("part", 0)), PARTS):
        for name in names:
            _append(stage, name, number, *bounds[number : number + 2].tolist())
        stage.checkpoint(dealt=True, part=number + 1)
    stage.finish()
    for number in range(PARTS):
        for name in names:
            stage.drop(f"{name}.{number}", f"{name}.{number}.lines")
    return stage


def strings_of(stage: Stage, name: str) -> StringTable:
    """A table that a finished stage has."""
    return StringTable(
        stage.read(f"{name}.data", np.uint8), stage.read(f"{name}.offsets", np.int64)
    )


def _texts(
    titles: Titles, articles: Stage | None, wikidata: Stage | None
) -> Iterator[tuple[NDArray[np.int64], list[list[str]]]]:
    """Concepts with their descriptions and, from articles, their texts; some at a time."""
    for path in [] if articles is None else article_parts(articles):
        with np.load(path, allow_pickle=False) as arrays:
            texts = [lines_of(arrays[name]) for name in _NAMES]
            yield titles.concept_of_lines(arrays["titles"], len(texts[0])), texts
    for numbers, lines, descriptions in [] if wikidata is None else items_of(wikidata):
        concepts = titles.concept_of_lines(lines, len(numbers))
        described = np.array([bool(text) for text in descriptions], bool)
        yield np.where(described, concepts, -1), [descriptions]


def _deal(
    stage: Stage,
    name: str,
    bounds: NDArray[np.int64],
    concepts: NDArray[np.int64],
    texts: list[str],
) -> None:
    part = np.searchsorted(bounds, concepts, side="right") - 1
    for number in np.unique(part[concepts >= 0]).tolist():
        rows = np.flatnonzero((part == number) & (concepts >= 0))
        stage.append(f"{name}.{number}", concepts[rows])
        stage.append(f"{name}.{number}.lines", as_lines([texts[i] for i in rows.tolist()]))


def _append(stage: Stage, name: str, number: int, low: int, high: int) -> None:
    """Write the texts of a range of concepts, "" for those without."""
    concepts = stage.read(f"{name}.{number}", np.int64)
    texts = [""] * (high - low)
    lines = lines_of(stage.read(f"{name}.{number}.lines", np.uint8))
    for concept, text in zip(concepts.tolist(), lines, strict=True):
        texts[concept - low] = text
    table = StringTable.build(texts)
    stage.append(f"{name}.offsets", stage.size(f"{name}.data") + table.offsets[1:])
    stage.append(f"{name}.data", table.data)


def words_of_titles(stages: Path, titles: Titles) -> TitleWords:
    """In how many titles each word occurs."""
    stage = Stage(stages, "title_words", [titles.key])
    if not stage.done:
        spill = LineSpill(stage, "words", {"titles": np.int32})
        if "dealt" not in stage.state:
            for part in chunks(len(titles), TEXTS):
                shown = titles.ids.table.take(np.arange(part.start, part.stop))
                words = [word for title in shown for word in dict.fromkeys(title_words(title))]
                spill.add(as_lines(words), {"titles": np.ones(len(words))})
            stage.checkpoint(dealt=True)
        if not stage.size("offsets"):
            stage.append("offsets", np.zeros(1, np.int64))
        for number in range(int(stage.state.get("part", 0)), PARTS):
            lines, columns = spill.part(number)
            index, rows, _ = StringIndex.build_lines(lines, len(columns["titles"]))
            stage.append("offsets", stage.size("data") + index.table.offsets[1:])
            stage.append("data", index.table.data)
            stage.append("codes", index.codes)
            counts = np.bincount(rows[rows >= 0], minlength=len(index))
            stage.append("counts", counts.astype(np.int32))
            stage.checkpoint(dealt=True, part=number + 1)
        stage.append("buckets", buckets_of(stage.read("codes", np.uint64)))
        stage.finish()
        spill.drop()
    table = StringTable(stage.read("data", np.uint8), stage.read("offsets", np.int64))
    codes, buckets = stage.read("codes", np.uint64), stage.read("buckets", np.int64)
    return TitleWords(
        StringIndex(codes, buckets, table), stage.read("counts", np.int32), len(titles)
    )
