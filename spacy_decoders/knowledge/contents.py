"""What goes into a concept base, and writing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ProblemError
from ..graph import ConceptGraph
from ..graph.strings import StringTable
from .aliases import AliasTable
from .concepts import Concept
from .string_index import StringIndex
from .tables import Tables
from .title_words import TitleWords

if TYPE_CHECKING:
    from .concept_base import ConceptBase

__all__ = ["Contents", "write_concept_base"]


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a concept base."""

    #: One of each per concept.
    ids: Sequence[str]
    titles: Sequence[str]
    descriptions: Sequence[str]
    #: How often each alias means which concept, by its place in `ids`.
    aliases: Sequence[str]
    alias_concepts: ArrayLike
    alias_counts: ArrayLike
    #: Pairs of places in `ids`. **Shape:** ``(edges, 2)``
    edges: NDArray[np.int64]
    #: Words by which each concept is found; empty for no full-text index.
    texts: Sequence[str] = ()
    #: The place in :data:`~.letter_case.CASES` of how each alias is written, -1 where unknown;
    #: None to tell by the alias itself.
    alias_cases: ArrayLike | None = None
    #: One of each per concept, "" where unknown; empty where all are.
    types: Sequence[str] = ()
    qids: Sequence[str] = ()
    urls: Sequence[str] = ()
    #: For some aliases, how often they are links where they occur at all.
    link_probabilities: Sequence[tuple[str, float]] = ()

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
            types=[concept.type for concept in found],
            qids=[concept.qid for concept in found],
            urls=[concept.url for concept in found],
        )
        return contents, len(pairs) - len(edges)


def write_concept_base(
    folder: str | Path,
    contents: Contents,
    *,
    source: str = "",
    url: str = "",
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
    url
        The page about a concept, with ``{id}``, ``{title}`` or ``{qid}`` in it, for concepts
        without one of their own.
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
    from .concept_base import ConceptBase

    if not contents.ids:
        raise ProblemError("source: there is no concept in it.")
    if url and not url.startswith(("http://", "https://")):
        raise ProblemError(f"url: expected http:// or https://, got {url!r}.")
    ids, numbers, collisions = StringIndex.build(contents.ids)
    if collisions or len(ids) < len(contents.ids):
        raise ProblemError("source: the same identifier stands for two concepts.")
    order = np.argsort(numbers)
    concepts = numbers[np.asarray(contents.alias_concepts, np.int64)]
    alias_table = _alias_table(contents, concepts)
    tables = Tables(
        ids=ids,
        titles=_strings(contents.titles, order),
        descriptions=_strings(contents.descriptions, order),
        title_words=TitleWords.build(contents.titles),
        aliases=alias_table,
        graph=ConceptGraph.from_edges(numbers[contents.edges], vertices=np.arange(len(ids))),
        **_facts(contents, order),
    )
    rows = _rows_of_text(contents, order, concepts) if contents.texts else None
    tables.write(folder, {"source": source, "url": url}, rows, hubs=hubs, progress=progress)
    return ConceptBase.open(folder)


def _alias_table(contents: Contents, concepts: NDArray[np.int64]) -> AliasTable:
    table = AliasTable.build(
        contents.aliases, concepts, contents.alias_counts, cases=contents.alias_cases
    )
    if not contents.link_probabilities:
        return table
    rows = table.find([alias for alias, _ in contents.link_probabilities])
    shares = np.array([share for _, share in contents.link_probabilities], np.float32)
    return table.with_links(rows, shares)


def _facts(contents: Contents, order: NDArray[np.int64]) -> dict[str, Any]:
    """The tables of what only some sources know."""
    found: dict[str, Any] = {}
    if any(contents.types):
        names = sorted({*contents.types} - {""})
        if len(names) >= 2**15:
            raise ProblemError(f"type: at most {2**15 - 1:,} types fit; got {len(names):,}.")
        number = {"": -1, **{name: i for i, name in enumerate(names)}}
        found["types"] = np.array([number[contents.types[i]] for i in order], np.int16)
        found["type_names"] = names
    if any(contents.qids):
        qids = [contents.qids[i] for i in order]
        found["items"] = np.array([int(qid[1:]) if qid else 0 for qid in qids], np.int64)
    if any(contents.urls):
        found["urls"] = _strings(contents.urls, order)
    if any(contents.texts) and list(contents.texts) != list(contents.descriptions):
        found["texts"] = _strings(contents.texts, order)
    return found


def _strings(texts: Sequence[str], order: NDArray[np.int64]) -> StringTable:
    return StringTable.build(texts[i] for i in order)


def _rows_of_text(
    contents: Contents, order: NDArray[np.int64], concepts: NDArray[np.int64]
) -> Iterator[tuple[int, str, str, str]]:
    """Give the number, title, aliases and text of each concept, for the full-text index."""
    names: list[list[str]] = [[] for _ in contents.ids]
    for alias, concept in zip(contents.aliases, concepts, strict=True):
        names[concept].append(alias)
    for number, i in enumerate(order):
        yield number, contents.titles[i], " ; ".join(names[number]), contents.texts[i]
