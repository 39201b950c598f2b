"""What goes into a concept base, and writing it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_scores
from ..errors import ProblemError
from ..graph import ConceptGraph
from .aliases import normalise, normalised
from .concepts import Concept
from .database import APPLICATION, FOLDER, INDEXES, NAME, SEARCH, TABLES, VERSION, written
from .letter_case import CASES, letter_cases
from .title_words import title_words

__all__ = ["Contents", "finish", "storable", "write_concept_base", "write_folder"]


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
) -> Path:
    """Write a concept base; return its folder.

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
    if not contents.ids:
        raise ProblemError("source: there is no concept in it.")
    if url and not url.startswith(("http://", "https://")):
        raise ProblemError(f"url: expected http:// or https://, got {url!r}.")
    if len(set(contents.ids)) < len(contents.ids):
        raise ProblemError("source: the same identifier stands for two concepts.")
    # by a hash: numbers, by which ties are broken, do not follow the order of the input
    order = sorted(range(len(contents.ids)), key=lambda i: _digest(contents.ids[i]))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    graph = ConceptGraph.from_edges(numbers[contents.edges], vertices=np.arange(len(order)))
    if hubs:
        graph.index_hubs(hubs, progress=progress)
    write_folder(
        folder,
        graph,
        _rows(contents, order),
        _uses(contents, numbers),
        ((normalise(alias), float(share)) for alias, share in contents.link_probabilities),
        {"source": source, "url": url},
        searched=bool(contents.texts),
    )
    return Path(folder)


def _digest(identity: str) -> bytes:
    return hashlib.blake2b(identity.encode("utf8", "replace"), digest_size=8).digest()


def _rows(contents: Contents, order: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """The table of concepts."""
    for number, i in enumerate(order):
        description = contents.descriptions[i]
        text = contents.texts[i] if contents.texts else ""
        qid = contents.qids[i] if contents.qids else ""
        yield (
            number,
            storable(contents.ids[i]),
            storable(contents.titles[i]),
            storable(description),
            storable(contents.types[i]) if contents.types else "",
            int(qid[1:]) if qid else None,
            storable(contents.urls[i]) if contents.urls else "",
            storable(text) if text and text != description else None,
        )


def _uses(contents: Contents, numbers: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
    """Normalised aliases with their concepts, counts, and counts by case."""
    aliases = contents.aliases
    shape = (len(aliases),)
    places = checked_indices("alias_concepts", contents.alias_concepts, shape, low=0)
    counts = checked_scores(
        "alias_counts", contents.alias_counts, shape, dtype=np.float64, forbidden=False
    )
    if (counts <= 0).any():
        raise ProblemError("alias_counts: how often an alias is used must be greater than 0.")
    given = contents.alias_cases
    cases = letter_cases(aliases) if given is None else np.asarray(given, np.int64)
    table = np.where(np.arange(len(CASES)) == cases[:, None], counts[:, None], 0.0)
    return zip(
        map(storable, normalised(aliases)),
        numbers[places].tolist(),
        counts.tolist(),
        *table.T.tolist(),
        strict=True,
    )


def write_folder(
    folder: str | Path,
    graph: ConceptGraph,
    concepts: Iterable[tuple[Any, ...]],
    uses: Iterable[tuple[Any, ...]],
    links: Iterable[tuple[str, float]],
    facts: Mapping[str, Any],
    *,
    searched: bool,
) -> None:
    """Write the folder of a base at once or not at all.

    Parameters
    ----------
    folder
        As for :func:`write_concept_base`.
    graph
        A vertex is the number of a concept.
    concepts
        The rows of the table of concepts.
    uses
        Normalised aliases, the numbers of concepts, how often the one means the other, and how
        often of that it is written in which of :data:`~.letter_case.CASES`.
    links
        For some normalised aliases how often they are links where they occur.
    facts
        For the manifest.
    searched
        Whether there is a full-text index.
    """
    header = {**facts, "text": searched}

    def write_others(inside: Path) -> None:
        graph.save(inside / "graph")
        header.update(_fill(inside / NAME, concepts, uses, links, searched=searched))

    FOLDER.write(folder, {}, header, write_others)


def storable(text: str) -> str:
    """A text that is in UTF-8: lone surrogates, which broken dumps contain, are question marks."""
    return text if text.isascii() else text.encode("utf8", "replace").decode("utf8")


#: What is gathered as it comes, sorted and summed, and thrown away.
_GATHERED = (
    "CREATE TEMP TABLE uses(alias TEXT, concept INTEGER, count REAL, lower REAL, "
    "capitalised REAL, upper REAL, mixed REAL)",
    "CREATE TEMP TABLE linked(alias TEXT PRIMARY KEY, share REAL) WITHOUT ROWID",
)
_SORTED = (
    "INSERT INTO candidates SELECT alias, sum(count), concept, sum(lower), sum(capitalised), "
    "sum(upper), sum(mixed), (SELECT share FROM linked WHERE linked.alias = uses.alias) "
    "FROM uses WHERE alias != '' GROUP BY alias, concept ORDER BY 1, 2 DESC, 3",
    "INSERT INTO types SELECT DISTINCT type FROM concepts WHERE type != ''",
)
_COUNTS = {
    "concepts": "count(id) FROM concepts",
    "items": "count(qid) FROM concepts",
    "aliases": "count(*) FROM (SELECT 1 FROM candidates GROUP BY alias)",
    "candidates": "count(*) FROM candidates",
    "links": "count(link) FROM candidates",
}


def finish(path: Path) -> dict[str, Any]:
    """Forget which links were changed, now that a new graph has them; count what there is."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("changes", "links", "unlinked"):
            connection.execute(f"DELETE FROM {table}")
        return _counted(connection)


def _counted(connection: sqlite3.Connection) -> dict[str, Any]:
    return {
        name: connection.execute(f"SELECT {what}").fetchone()[0] for name, what in _COUNTS.items()
    }


def _fill(
    path: Path,
    concepts: Iterable[tuple[Any, ...]],
    uses: Iterable[tuple[Any, ...]],
    links: Iterable[tuple[str, float]],
    *,
    searched: bool,
) -> dict[str, Any]:
    """Write the database, and count what is in it."""

    words: Counter[str] = Counter()

    def worded() -> Iterator[tuple[Any, ...]]:
        for row in concepts:
            words.update(dict.fromkeys(title_words(row[2]), 1))
            yield row

    settings = (f"application_id = {APPLICATION}", f"user_version = {VERSION}")
    with written(path, *settings) as connection:
        for statement in (*TABLES, *_GATHERED):
            connection.execute(statement)
        connection.executemany("INSERT INTO concepts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", worded())
        connection.executemany("INSERT INTO words VALUES (?, ?)", sorted(words.items()))
        connection.executemany("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?)", uses)
        connection.executemany("INSERT OR REPLACE INTO linked VALUES (?, ?)", links)
        for statement in (*_SORTED, *INDEXES):
            connection.execute(statement)
        if searched:
            connection.execute(SEARCH)
            for command in ("rebuild", "optimize"):
                connection.execute("INSERT INTO search(search) VALUES (?)", (command,))
        return _counted(connection)
