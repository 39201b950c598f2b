"""A folder with all data of some concepts, opened in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ProblemError, StorageError
from ..graph import ConceptGraph
from ..graph.storage import FolderFormat
from ..graph.strings import StringTable
from . import aliases, title_words
from .aliases import AliasTable
from .concepts import Concept
from .string_index import StringIndex, index_arrays
from .text_index import TextIndex
from .title_words import TitleWords

__all__ = ["ConceptBase", "Contents", "write_concept_base"]

_STRINGS = {"data": ("|u1", 1), "offsets": ("<i8", 1)}
_FOLDER = FolderFormat(
    kind="knowledge base",
    header_name="manifest.json",
    arrays={
        **index_arrays("ids"),
        **{f"titles.{field}": kind for field, kind in _STRINGS.items()},
        **{f"descriptions.{field}": kind for field, kind in _STRINGS.items()},
        **title_words.ARRAYS,
        **aliases.ARRAYS,
    },
    others=("text.sqlite", "graph/graph.json"),
)


@dataclass(frozen=True, eq=False)
class ConceptBase:
    """Concepts with their identifiers, names, aliases, graph and words.

    Concepts are numbered, in the order of a hash of their identifiers. Arrays are mapped into
    memory, not read.

    Attributes
    ----------
    folder
        Where it lies.
    manifest
        Version, counts and checksums.
    ids
        Identifiers; a row is a concept number.
    titles, descriptions
        By concept number.
    title_words
        How rare the words of titles are.
    aliases
        Mentions and the concepts that they may mean.
    graph
        Links between concepts; a vertex is a concept number.
    text
        Finds concepts by words; None where it was built without.
    """

    folder: Path
    manifest: dict[str, Any]
    ids: StringIndex
    titles: StringTable
    descriptions: StringTable
    title_words: TitleWords
    aliases: AliasTable
    graph: ConceptGraph
    text: TextIndex | None

    @classmethod
    def open(cls, folder: str | Path) -> ConceptBase:
        """Open a folder that `write_concept_base` made.

        Its contents are checked: sizes and types, and that all indices are within their arrays.
        The indices of its graph are read for that; :meth:`verify` compares all files with their
        checksums.

        Raises
        ------
        StorageError
            If it is no such folder, of another version, or a file is missing, foreign, cut
            short, or holds what can't be.
        """
        stored = _FOLDER.read(folder)
        ids = StringIndex.of_stored(stored, "ids")
        count = len(ids)
        graph = ConceptGraph.open(stored.folder / "graph")
        if len(graph) != count or graph.vertices[[0, -1]].tolist() != [0, count - 1]:
            raise StorageError(
                f"folder: {stored.folder / 'graph'} is no graph of the {count} concepts of the "
                "knowledge base; build it again."
            )
        text = "text.sqlite" in stored.header["files"]
        return cls(
            folder=stored.folder,
            manifest=dict(stored.header),
            ids=ids,
            titles=StringTable.of_stored(stored, "titles.data", "titles.offsets", count),
            descriptions=StringTable.of_stored(
                stored, "descriptions.data", "descriptions.offsets", count
            ),
            title_words=TitleWords.of_stored(stored),
            aliases=AliasTable.of_stored(stored, count),
            graph=graph,
            text=TextIndex(stored.folder / "text.sqlite", concepts=count) if text else None,
        )

    def verify(self) -> None:
        """Compare every file with its checksum.

        Raises
        ------
        StorageError
            If a file was changed.
        """
        _FOLDER.read(self.folder, verify=True)
        ConceptGraph.open(self.folder / "graph", verify=True)

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, identity: str) -> int:
        """Number of the concept with an identifier, -1 if there is none."""
        return int(self.ids.find([identity])[0])

    def id(self, concept: int) -> str:
        """Identifier of a concept."""
        if concept < 0:
            raise IndexError(concept)
        return self.ids.table[concept]

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        # the folder travels to other processes, not its contents
        return ConceptBase.open, (self.folder,)


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a concept base.

    Attributes
    ----------
    ids, titles, descriptions
        One of each per concept.
    aliases, alias_concepts, alias_counts
        How often each alias means which concept, by its place in `ids`.
    edges
        Pairs of places in `ids`. **Shape:** ``(edges, 2)``
    texts
        Words by which each concept is found; empty for no full-text index.
    """

    ids: Sequence[str]
    titles: Sequence[str]
    descriptions: Sequence[str]
    aliases: Sequence[str]
    alias_concepts: ArrayLike
    alias_counts: ArrayLike
    edges: NDArray[np.int64]
    texts: Sequence[str] = ()

    @classmethod
    def of(cls, concepts: Iterable[Concept]) -> tuple[Contents, int]:
        """Gather concepts; returns them and the number of links to unknown concepts.

        A second concept with an identifier that is taken already is left out.
        """
        found = list({concept.id: concept for concept in reversed(list(concepts))}.values())
        place = {concept.id: i for i, concept in enumerate(found)}
        pairs = [(i, link) for i, concept in enumerate(found) for link in concept.links]
        edges = [(i, place[link]) for i, link in pairs if link in place]
        aliases = [
            (alias, i, count)
            for i, concept in enumerate(found)
            for alias, count in concept.aliases.items()
        ]
        contents = cls(
            ids=[concept.id for concept in found],
            titles=[concept.title for concept in found],
            descriptions=[concept.description for concept in found],
            aliases=[alias for alias, _, _ in aliases],
            alias_concepts=np.array([i for _, i, _ in aliases], np.int64),
            alias_counts=np.array([count for _, _, count in aliases], np.float64),
            edges=np.array(edges, np.int64).reshape(-1, 2),
            texts=[concept.text or concept.description for concept in found],
        )
        return contents, len(pairs) - len(edges)


def write_concept_base(
    folder: str | Path,
    contents: Contents,
    *,
    source: str = "",
    hubs: int = 0,
    progress: bool = False,
) -> ConceptBase:
    """Write a concept base and open it.

    The folder is written atomically: to a temporary folder, which is then renamed.

    Parameters
    ----------
    folder
        Where to put it; a knowledge base that is there already is replaced.
    contents
        What goes into it.
    source
        Where that comes from, for the manifest.
    hubs
        Vertices of highest degree to index distances to; 256 suit millions of concepts, 0
        a graph that is searched in no time as it is.
    progress
        Whether to show progress bars.

    Raises
    ------
    ProblemError
        If there are no concepts, or something else than a knowledge base is in the place.
    """
    if not contents.ids:
        raise ProblemError("source: there is no concept in it.")
    ids, numbers, collisions = StringIndex.build(contents.ids)
    if collisions or len(ids) < len(contents.ids):
        raise ProblemError("source: the same identifier stands for two concepts.")
    order = np.argsort(numbers)
    concepts = numbers[np.asarray(contents.alias_concepts, np.int64)]
    alias_table = AliasTable.build(contents.aliases, concepts, contents.alias_counts)
    titles = StringTable.build(contents.titles[i] for i in order)
    descriptions = StringTable.build(contents.descriptions[i] for i in order)
    arrays = {
        **ids.arrays("ids"),
        "titles.data": titles.data,
        "titles.offsets": titles.offsets,
        "descriptions.data": descriptions.data,
        "descriptions.offsets": descriptions.offsets,
        **TitleWords.build(contents.titles).arrays(),
        **alias_table.arrays(),
    }
    facts = {
        "source": source,
        "concepts": len(ids),
        "aliases": len(alias_table),
        "candidates": len(alias_table.concepts),
        "text": bool(contents.texts),
    }

    def write_others(inside: Path) -> None:
        graph = ConceptGraph.from_edges(
            numbers[contents.edges], vertices=np.arange(len(ids)), progress=progress
        )
        if hubs:
            graph.index_hubs(hubs, progress=progress)
        graph.save(inside / "graph")
        if contents.texts:
            TextIndex.build(inside / "text.sqlite", _rows_of_text(contents, order, concepts))

    _FOLDER.write(folder, arrays, facts, write_others)
    return ConceptBase.open(folder)


def _rows_of_text(
    contents: Contents, order: NDArray[np.int64], concepts: NDArray[np.int64]
) -> Iterator[tuple[int, str, str, str]]:
    """Give the number, title, aliases and text of each concept, for the full-text index."""
    names: list[list[str]] = [[] for _ in contents.ids]
    for alias, concept in zip(contents.aliases, concepts, strict=True):
        names[concept].append(alias)
    for number, i in enumerate(order):
        yield number, contents.titles[i], " ; ".join(names[number]), contents.texts[i]
