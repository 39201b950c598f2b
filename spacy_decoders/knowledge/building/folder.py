"""From finished stages to the folder of a concept base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import ConceptGraph
from ...graph.adjacency import GraphArrays
from ...graph.strings import StringTable
from ..aliases import AliasTable
from ..layout import FOLDER
from ..string_index import StringIndex
from ..text_index import TextIndex
from ..title_words import TitleWords
from .arrays import TEXTS, chunks

__all__ = ["Tables", "write_folder"]

_UNDERSCORE, _SPACE = 95, 32


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a base, by concept number.

    Attributes
    ----------
    ids, aliases, title_words, graph
        As in the base.
    descriptions, texts
        None where there are none.
    items
        Numbers of Wikidata items, 0 for none; None where none is known.
    types, type_names
        As in the base; no names where none is known.
    """

    ids: StringIndex
    aliases: AliasTable
    title_words: TitleWords
    graph: GraphArrays
    descriptions: StringTable | None = None
    texts: StringTable | None = None
    items: NDArray[np.int64] | None = None
    types: NDArray[np.int16] | None = None
    type_names: tuple[str, ...] = ()


def write_folder(folder: Path, tables: Tables, facts: dict[str, Any], hubs: int) -> None:
    """Write the folder at once or not at all; arrays go from file to file."""
    count = len(tables.ids)
    data, offsets = tables.ids.table.data, tables.ids.table.offsets
    shown = np.where(data == _UNDERSCORE, np.uint8(_SPACE), data)
    none = StringTable(np.empty(0, np.uint8), np.zeros(count + 1, np.int64))
    arrays = {
        **tables.ids.arrays("ids"),
        "titles.data": shown,
        "titles.offsets": offsets,
        **_strings("descriptions", tables.descriptions or none),
        **tables.title_words.arrays(),
        **tables.aliases.arrays(),
    }
    if tables.texts is not None:
        arrays |= _strings("texts", tables.texts)
    if tables.items is not None:
        arrays["qids"] = tables.items
    if tables.types is not None:
        arrays["types.numbers"] = tables.types
        arrays |= _strings("types", StringTable.build(tables.type_names))

    def write_others(inside: Path) -> None:
        graph = ConceptGraph(tables.graph)
        if hubs:
            graph.index_hubs(hubs, progress=True)
        graph.save(inside / "graph")
        if tables.texts is not None:
            TextIndex.build(inside / "text.sqlite", _rows_of_text(tables, shown))

    more = {
        "concepts": count,
        "aliases": len(tables.aliases),
        "candidates": len(tables.aliases.concepts),
        "text": tables.texts is not None,
    }
    FOLDER.write(folder, arrays, {**facts, **more}, write_others)


def _strings(name: str, table: StringTable) -> dict[str, NDArray[Any]]:
    return {f"{name}.data": table.data, f"{name}.offsets": table.offsets}


def _rows_of_text(tables: Tables, shown: NDArray[np.uint8]) -> Iterator[tuple[int, str, str, str]]:
    """Give the number, title, aliases and text of each concept, for the full-text index."""
    assert tables.texts is not None
    titles = StringTable(shown, tables.ids.table.offsets)
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
            titles.take(numbers),
            tables.texts.take(numbers),
            (ends[:-1] - ends[0]).tolist(),
            (ends[1:] - ends[0]).tolist(),
            strict=True,
        ):
            yield number, title, " ; ".join(known[start:stop]), text
