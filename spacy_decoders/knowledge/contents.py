"""Writing a concept base."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ProblemError
from ..graph import ConceptGraph
from .aliases import CASES, letter_case, normalise
from .concepts import Concept
from .database import APPLICATION, FOLDER, INDEXES, NAME, SEARCH, TABLES, VERSION, written
from .texts import title_words

__all__ = [
    "add_candidates", "finish", "lost_links", "uses_of", "write_concept_base", "write_folder",
]  # fmt: skip


def write_concept_base(
    folder: str | Path,
    concepts: Iterable[Concept],
    *,
    source: str = "",
    url: str = "",
    hubs: int = 0,
    searched: bool = True,
) -> Path:
    """Write a concept base; return its folder.

    The folder is written atomically: to a temporary folder, which is then renamed.

    Parameters
    ----------
    folder
        Where to put it; a knowledge base that is there already is replaced.
    concepts
        What goes into it. Of concepts with the same identifier the first is kept; links to
        concepts that do not exist are left out, and counted in the manifest, with an example.
    source
        Where the concepts come from, for the manifest.
    url
        The page about a concept, with ``{id}``, ``{title}`` or ``{qid}`` in it, for concepts
        without one of their own.
    hubs
        The size of the graph's hub index; 256 suit millions of concepts, 0 a graph small enough
        to be searched without one.
    searched
        Whether to build the full-text index, by which concepts are found by their words.

    Raises
    ------
    ProblemError
        If there are no concepts, or the folder holds something else than a knowledge base.
    """
    found: dict[str, Concept] = {}
    for concept in concepts:
        found.setdefault(concept.id, concept)
    if not found:
        raise ProblemError("source: there is no concept in it.")
    if url and not url.startswith(("http://", "https://")):
        raise ProblemError(f"url: expected http:// or https://, got {url!r}.")
    # numbers break ties: ordered by a hash, they do not depend on the order of the input
    order = sorted(found.values(), key=lambda concept: _digest(concept.id))
    numbers = {concept.id: number for number, concept in enumerate(order)}
    links = np.array(
        [(numbers[of.id], numbers.get(link, -1)) for of in order for link in of.links], np.int64
    ).reshape(-1, 2)
    known = links[:, 1] >= 0
    unknown = ((of.id, link) for of in order for link in of.links if link not in numbers)
    lost = {"lost_links": int((~known).sum()), "lost_link": next(unknown, None)}
    graph = ConceptGraph.from_edges(links[known], vertices=np.arange(len(order)))
    if hubs:
        graph.index_hubs(hubs)
    write_folder(
        folder,
        graph,
        map(_row, range(len(order)), order),
        (use for number, of in enumerate(order) for use in uses_of(number, of.aliases, {})),
        {"source": source, "url": url, **lost},
        searched=searched,
    )
    return Path(folder)


def lost_links(count: int, of: str, to: str) -> str:
    """Say how many links were left out, with an example."""
    links = "link" if count == 1 else "links"
    return f"left out: {count:,} {links} to unknown concepts, such as of {of!r} to {to!r}"


def _digest(identity: str) -> bytes:
    return hashlib.blake2b(identity.encode("utf8"), digest_size=8).digest()


def _row(number: int, concept: Concept) -> tuple[Any, ...]:
    """The row of a concept."""
    return (
        number,
        concept.id,
        concept.title,
        concept.description,
        concept.type,
        int(concept.qid[1:]) if concept.qid else None,
        concept.url,
        concept.text if concept.text not in ("", concept.description) else None,
    )


def uses_of(
    number: int, aliases: Mapping[str, float], shares: Mapping[str, float | None]
) -> Iterator[tuple[Any, ...]]:
    """Rows of a concept's uses: alias, number, count, counts by letter case, share of links."""
    for alias, count in aliases.items():
        cases = [0.0] * len(CASES)
        cases[letter_case(alias)] = count
        name = normalise(alias)
        yield name, number, count, *cases, shares.get(name)


def add_candidates(connection: sqlite3.Connection, uses: Iterable[tuple[Any, ...]]) -> None:
    """Store rows of uses, summed by alias and concept."""
    connection.execute(
        "CREATE TEMP TABLE uses(alias TEXT, concept INTEGER, count REAL, lower REAL, "
        "capitalised REAL, upper REAL, mixed REAL, link REAL)"
    )
    connection.executemany("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?)", uses)
    connection.execute(
        "INSERT INTO candidates SELECT alias, sum(count), concept, sum(lower), sum(capitalised), "
        "sum(upper), sum(mixed), max(link) FROM uses WHERE alias != '' GROUP BY alias, concept "
        "ORDER BY 1, 2 DESC, 3"
    )
    connection.execute("DROP TABLE uses")


def write_folder(
    folder: str | Path,
    graph: ConceptGraph,
    concepts: Iterable[tuple[Any, ...]],
    uses: Iterable[tuple[Any, ...]],
    facts: Mapping[str, Any],
    *,
    searched: bool,
) -> None:
    """Write the folder of a base at once or not at all.

    The vertices of the graph are the numbers of concepts, `concepts` the rows of their table, and
    `facts` entries of the manifest. A row of `uses` is a normalised alias, a concept's number, how
    often the one means the other, how often of that it is written in each of
    :data:`~.aliases.CASES`, and the share of the alias's occurrences that are links, or None. If
    `searched`, the full-text index is built.
    """
    header = {**facts, "text": searched}
    words: Counter[str] = Counter()

    def counting_words() -> Iterator[tuple[Any, ...]]:
        for row in concepts:
            words.update(dict.fromkeys(title_words(row[2]), 1))
            yield row

    def write_others(inside: Path) -> None:
        graph.save(inside / "graph")
        settings = (f"application_id = {APPLICATION}", f"user_version = {VERSION}")
        with written(inside / NAME, *settings) as connection:
            for statement in TABLES:
                connection.execute(statement)
            row = "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            connection.executemany(f"INSERT INTO concepts {row}", counting_words())
            connection.executemany("INSERT INTO words VALUES (?, ?)", sorted(words.items()))
            add_candidates(connection, uses)
            types = "SELECT DISTINCT type FROM concepts WHERE type != ''"
            connection.execute(f"INSERT INTO types {types}")
            for statement in INDEXES:
                connection.execute(statement)
            if searched:
                connection.execute(SEARCH)
                for command in ("rebuild", "optimize"):
                    connection.execute("INSERT INTO search(search) VALUES (?)", (command,))
            header.update(_counted(connection))

    FOLDER.write(folder, {}, header, write_others)


_COUNTS = {
    "concepts": "count(id) FROM concepts",
    "items": "count(qid) FROM concepts",
    "aliases": "count(*) FROM (SELECT 1 FROM candidates GROUP BY alias)",
    "candidates": "count(*) FROM candidates",
    "links": "count(link) FROM candidates",
}


def finish(path: Path) -> dict[str, Any]:
    """Clear the tables of changed links, which a new graph contains; count the contents."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("changes", "links", "unlinked"):
            connection.execute(f"DELETE FROM {table}")
        return _counted(connection)


def _counted(connection: sqlite3.Connection) -> dict[str, Any]:
    return {
        name: connection.execute(f"SELECT {what}").fetchone()[0] for name, what in _COUNTS.items()
    }
