"""Descriptions and texts, sorted by concept, and all that is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph.strings import StringTable
from .arrays import TEXTS, chunks
from .articles import article_parts, lines_of
from .spills import PARTS, rows_of_parts
from .stages import Build, Stage
from .string_index import as_lines
from .strings import append_strings, strings_of
from .titles import Titles
from .wikidata import TYPES, items_of

__all__ = ["keep_texts", "rows_of_concepts"]

_NAMES = ("descriptions", "texts")


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


def rows_of_concepts(
    titles: Titles,
    texts: Stage,
    items: NDArray[np.int64] | None,
    types: NDArray[np.int16] | None,
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table of concepts."""
    ids = titles.ids.table
    tables = [strings_of(texts, name) if texts.size(f"{name}.data") else None for name in _NAMES]
    names = [*TYPES, ""]  # the last of them where it is unknown, -1
    for part in chunks(len(titles), TEXTS):
        numbers = np.arange(part.start, part.stop)
        described, written = (
            [""] * len(numbers) if table is None else table.take(numbers) for table in tables
        )
        for number, identity, description, text in zip(
            numbers.tolist(), ids.take(numbers), described, written, strict=True
        ):
            yield (
                number,
                identity,
                identity.replace("_", " "),
                description,
                "" if types is None else names[types[number]],
                int(items[number]) or None if items is not None else None,
                "",
                text if text and text != description else None,
            )
