"""What Wikidata says of concepts: their items and types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..dumps.sql import SqlTable
from .lines import NONE, taken
from .stages import Build, Stage, fingerprint
from .titles import Titles
from .wikidata import items_of, types_of

__all__ = ["join_items", "types_of_items"]

_ITEM = b"wikibase_item\x1fQ"


def join_items(
    build: Build, titles: Titles, page_props: Path | None, wikidata: Stage | None
) -> Stage:
    """The Wikidata item of each concept, 0 for none."""
    inputs = [titles.key, "" if wikidata is None else wikidata.key]
    inputs.append("" if page_props is None else fingerprint(page_props))
    stage = build.stage("items", inputs)
    if stage.done:
        return stage
    items = np.zeros(len(titles), np.int64)
    bad = 0
    if wikidata is not None:
        for numbers, lines, _ in items_of(wikidata):
            concepts = titles.concept_of_lines(lines, len(numbers))
            items[concepts[concepts >= 0]] = numbers[concepts >= 0]
    if page_props is not None:
        bad = _read_props(build, page_props, titles, items)
    stage.begun().append("items", items)
    stage.finish(bad=bad)
    build.report(f"Wikidata items: of {int((items > 0).sum()):,} concepts, {bad:,} rows left out")
    return stage


def _read_props(build: Build, path: Path, titles: Titles, items: NDArray[np.int64]) -> int:
    """Read the page_props dump; a page's own item counts, not those of redirects to it."""
    table = SqlTable(path)
    texts = ["pp_propname", "pp_value"]
    name_first = table.columns.index(texts[0]) < table.columns.index(texts[1])
    for chunk in table.chunks(["pp_page"], texts, progress=build.progress):
        concepts = titles.own_concept_of_pages(chunk.numbers[:, 0]).tolist()
        for concept, line in zip(concepts, bytes(chunk.lines).split(b"\n"), strict=False):
            if concept < 0 or b"wikibase_item" not in line:
                continue
            given = line if name_first else b"\x1f".join(line.split(b"\x1f")[::-1])
            digits = given[len(_ITEM) :]
            if given.startswith(_ITEM) and digits.isdigit() and len(digits) < 18:
                items[concept] = int(digits)
    return table.bad


def types_of_items(items: NDArray[np.int64], wikidata: Stage) -> NDArray[np.int16]:
    """The place of the type of each item in `TYPES`, -1 where unknown."""
    known, types = types_of(wikidata)
    place = np.searchsorted(known, items)
    found = (taken(known, place) == items) & (items > 0)
    return np.where(found, taken(types, place), NONE).astype(np.int16)
