"""The tables of a concept base, by concept number, and writing them to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import ConceptGraph
from ..graph.strings import StringTable
from .aliases import AliasTable
from .layout import FOLDER
from .string_index import StringIndex
from .text_index import TextIndex
from .title_words import TitleWords

__all__ = ["Tables"]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a base."""

    # As in the base
    ids: StringIndex
    titles: StringTable
    descriptions: StringTable
    title_words: TitleWords
    aliases: AliasTable
    graph: ConceptGraph
    # None where there are none, or the texts are the descriptions
    texts: StringTable | None = None
    urls: StringTable | None = None
    # Numbers of Wikidata items, 0 for none; None where none is known
    items: NDArray[np.int64] | None = None
    # As in the base; None where none is known
    types: NDArray[np.int16] | None = None
    type_names: Sequence[str] = ()

    def write(
        self,
        folder: str | Path,
        facts: Mapping[str, Any],
        rows_of_text: Iterable[tuple[int, str, str, str]] | None,
        *,
        hubs: int,
        progress: bool,
    ) -> None:
        """Write the folder at once or not at all.

        Parameters
        ----------
        facts
            Of the manifest, beside the counts.
        rows_of_text
            Number, title, aliases and text of each concept, for the full-text index; None for
            no index.
        hubs, progress
            As for :func:`.contents.write_concept_base`.
        """
        arrays = {
            **self.ids.arrays("ids"),
            **self.titles.arrays("titles"),
            **self.descriptions.arrays("descriptions"),
            **self.title_words.arrays(),
            **self.aliases.arrays(),
        }
        for name, table in (("texts", self.texts), ("urls", self.urls)):
            if table is not None:
                arrays |= table.arrays(name)
        if self.items is not None:
            arrays["qids"] = self.items
        if self.types is not None:
            arrays["types.numbers"] = self.types
            arrays |= StringTable.build(self.type_names).arrays("types")

        def write_others(inside: Path) -> None:
            if hubs:
                self.graph.index_hubs(hubs, progress=progress)
            self.graph.save(inside / "graph")
            if rows_of_text is not None:
                TextIndex.build(inside / "text.sqlite", rows_of_text)

        counts = {
            "concepts": len(self.ids),
            "aliases": len(self.aliases),
            "candidates": len(self.aliases.concepts),
            "text": rows_of_text is not None,
        }
        FOLDER.write(folder, arrays, {**facts, **counts}, write_others)
