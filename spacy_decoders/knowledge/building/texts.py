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
        connection.execute(
            "CREATE TABLE texts(concept INTEGER PRIMARY KEY, description TEXT, text TEXT)"
        )
        for path in [] if articles is None else articles.parts():
            with np.load(path, allow_pickle=False) as arrays:
                descriptions, texts = (lines_of(arrays[n]) for n in ("descriptions", "texts"))
                concepts = titles.concept_of_lines(arrays["titles"], len(texts)).tolist()
            connection.executemany(
                "INSERT OR REPLACE INTO texts VALUES (?, ?, ?)",
                (
                    (concept, storable(description), storable(text))
                    for concept, description, text in zip(
                        concepts, descriptions, texts, strict=True
                    )
                    if concept >= 0
                ),
            )
        for numbers, lines, said in [] if wikidata is None else items_of(wikidata):
            concepts = titles.concept_of_lines(lines, len(numbers)).tolist()
            connection.executemany(
                "INSERT INTO texts VALUES (?, ?, '') "
                "ON CONFLICT(concept) DO UPDATE SET description = excluded.description",
                (
                    (concept, storable(description))
                    for concept, description in zip(concepts, said, strict=True)
                    if concept >= 0 and description
                ),
            )
    stage.finish()
    return stage


def rows_of_concepts(
    titles: Titles,
    texts: Stage,
    items: NDArray[np.int64] | None,
    types: NDArray[np.int16] | None,
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table of concepts."""
    names = [*TYPES, ""]  # the last of them where it is unknown, -1
    with closing(sqlite3.connect(texts.folder / _FILE)) as connection:
        known = connection.execute("SELECT concept, description, text FROM texts ORDER BY concept")
        text = known.fetchone()
        for number, identity in enumerate(titles.identifiers()):
            description = words = ""
            if text is not None and text[0] == number:
                _, description, words = text
                text = known.fetchone()
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
