"""Descriptions, texts and the words of titles, sorted by concept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from ..string_index import StringIndex, as_lines
from ..tables import Tables
from ..title_words import TitleWords, title_words
from .arrays import TEXTS, chunks
from .articles import article_parts, lines_of
from .spills import PARTS, LineSpill, rows_of_parts
from .stages import Build, Stage
from .strings import append_index, append_strings, finish_index, index_of
from .titles import Titles
from .wikidata import items_of

__all__ = ["keep_texts", "rows_of_text", "shown", "words_of_titles"]

_NAMES = ("descriptions", "texts")
_UNDERSCORE, _SPACE = 95, 32


def keep_texts(
    build: Build, titles: Titles, articles: Stage | None, wikidata: Stage | None
) -> Stage:
    """Descriptions, and texts where there are articles, in the order of the concepts.

    Wikidata's description of a concept takes the place of the article's own.
    """
    sources = (articles, wikidata)
    keys = ["" if source is None else source.key for source in sources]
    stage = build.stage("texts", [titles.key, *keys])
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
    for number in range(int(stage.state.get("part", 0)), PARTS):
        for name in names:
            _append(stage, name, number, *bounds[number : number + 2].tolist())
        stage.checkpoint(dealt=True, part=number + 1)
    stage.finish()
    for number in range(PARTS):
        for name in names:
            stage.drop(f"{name}.{number}", f"{name}.{number}.lines")
    return stage


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
    known = np.flatnonzero(concepts >= 0)
    part = np.searchsorted(bounds, concepts[known], side="right") - 1
    for number, places in rows_of_parts(part):
        rows = known[places]
        stage.append(f"{name}.{number}", concepts[rows])
        stage.append(f"{name}.{number}.lines", as_lines([texts[i] for i in rows.tolist()]))


def _append(stage: Stage, name: str, number: int, low: int, high: int) -> None:
    """Write the texts of a range of concepts, "" for those without."""
    concepts = stage.read(f"{name}.{number}", np.int64)
    texts = [""] * (high - low)
    lines = lines_of(stage.read(f"{name}.{number}.lines", np.uint8))
    for concept, text in zip(concepts.tolist(), lines, strict=True):
        texts[concept - low] = text
    append_strings(stage, name, StringTable.build(texts))


def shown(titles: StringTable) -> StringTable:
    """Titles as they are shown: with spaces for underscores."""
    data = np.where(titles.data == _UNDERSCORE, np.uint8(_SPACE), titles.data)
    return StringTable(data, titles.offsets)


def rows_of_text(tables: Tables, texts: StringTable) -> Iterator[tuple[int, str, str, str]]:
    """Give the number, title, aliases and text of each concept, for the full-text index."""
    of_concept = np.argsort(tables.aliases.concepts, kind="stable")
    sorted_concepts = tables.aliases.concepts[of_concept]
    rows = np.searchsorted(tables.aliases.offsets, of_concept, side="right") - 1
    names = tables.aliases.index.table
    for part in chunks(len(tables.ids), TEXTS):
        numbers = np.arange(part.start, part.stop)
        ends = np.searchsorted(sorted_concepts, np.append(numbers, part.stop))
        known = names.take(rows[ends[0] : ends[-1]])
        for number, title, text, start, stop in zip(
            numbers.tolist(),
            tables.titles.take(numbers),
            texts.take(numbers),
            (ends[:-1] - ends[0]).tolist(),
            (ends[1:] - ends[0]).tolist(),
            strict=True,
        ):
            yield number, title, " ; ".join(known[start:stop]), text


def words_of_titles(build: Build, titles: Titles) -> TitleWords:
    """In how many titles each word occurs."""
    stage = build.stage("title_words", [titles.key])
    if not stage.done:
        spill = LineSpill(stage, "words", {"titles": np.int32})
        if "dealt" not in stage.state:
            for part in chunks(len(titles), TEXTS):
                shown = titles.ids.table.take(np.arange(part.start, part.stop))
                words = [word for title in shown for word in dict.fromkeys(title_words(title))]
                spill.add(as_lines(words), {"titles": np.ones(len(words))})
            stage.checkpoint(dealt=True)
        for number in range(int(stage.state.get("part", 0)), PARTS):
            lines, columns = spill.part(number)
            index, rows, _ = StringIndex.build_lines(lines, len(columns["titles"]))
            append_index(stage, "index", index.codes, index.table)
            counts = np.bincount(rows[rows >= 0], minlength=len(index))
            stage.append("counts", counts.astype(np.int32))
            stage.checkpoint(dealt=True, part=number + 1)
        finish_index(stage, "index")
        stage.finish()
        spill.drop()
    return TitleWords(index_of(stage, "index"), stage.read("counts", np.int32), len(titles))
