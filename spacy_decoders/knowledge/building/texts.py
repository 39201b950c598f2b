"""Descriptions and texts of concepts, and the rows of all that is known of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contents import storable
from ..database import written
from .articles import article_parts
from .lines import lines_of
from .stages import Build, Stage
from .titles import Titles
from .wikidata import TYPES, items_of

__all__ = ["keep_texts", "rows_of_concepts"]

_FILE = "texts.sqlite"


def keep_texts(
    build: Build, titles: Titles, articles: Stage | None, wikidata: Stage | None
) -> Stage:
    """Descriptions, and texts where there are articles, by concept.

    Wikidata's description of a concept takes the place of the article's own.
    """
    keys = ["" if source is None else source.key for source in (articles, wikidata)]
    stage = build.stage("texts", [titles.key, *keys])
    if stage.done:
        return stage
    with written(stage.begun().folder / _FILE) as connection:
        for name in ("texts", "described"):
            connection.execute(
                f"CREATE TABLE {name}(concept INTEGER PRIMARY KEY, description TEXT, text TEXT)"
            )
        for path in [] if articles is None else article_parts(articles):
            with np.load(path, allow_pickle=False) as arrays:
                descriptions, texts = (lines_of(arrays[n]) for n in ("descriptions", "texts"))
                concepts = titles.concept_of_lines(arrays["titles"], len(texts)).tolist()
            _keep(connection, "texts", zip(concepts, descriptions, texts, strict=True))
        for numbers, lines, said in [] if wikidata is None else items_of(wikidata):
            concepts = titles.concept_of_lines(lines, len(numbers)).tolist()
            rows = zip(concepts, said, [""] * len(said), strict=True)
            _keep(connection, "described", (row for row in rows if row[1]))
    stage.finish()
    return stage


def _keep(
    connection: sqlite3.Connection, table: str, rows: Iterator[tuple[int, str, str]]
) -> None:
    connection.executemany(
        f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)",
        ((row[0], storable(row[1]), storable(row[2])) for row in rows if row[0] >= 0),
    )


def rows_of_concepts(
    titles: Titles,
    texts: Stage,
    items: NDArray[np.int64] | None,
    types: NDArray[np.int16] | None,
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table of concepts."""
    names = [*TYPES, ""]  # the last of them where it is unknown, -1
    with closing(sqlite3.connect(texts.folder / _FILE)) as connection:
        own, described = (
            connection.execute(f"SELECT concept, description, text FROM {name} ORDER BY concept")
            for name in ("texts", "described")
        )
        text, said = own.fetchone(), described.fetchone()
        for number, identity in enumerate(titles.identifiers()):
            description = words = ""
            if text is not None and text[0] == number:
                _, description, words = text
                text = own.fetchone()
            if said is not None and said[0] == number:
                description = said[1]
                said = described.fetchone()
            yield (
                number,
                identity,
                identity.replace("_", " "),
                description,
                "" if types is None else names[types[number]],
                None if items is None else int(items[number]) or None,
                "",
                words if words and words != description else None,
            )
