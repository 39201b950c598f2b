"""Changes of a concept base: transactions in its file, and the graph that they lead to."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import fields

import numpy as np

from ..errors import StorageError
from ..graph import ConceptGraph
from .aliases import normalise
from .concepts import Concept
from .contents import add_candidates, uses_of
from .database import Database
from .texts import title_words

__all__ = ["Edits"]

_FIELDS = ("title", "description", "type", "qid", "url", "text")


class Edits:
    """What changes the concepts of a base, given its graph as it was written."""

    def __init__(self, database: Database, graph: ConceptGraph) -> None:
        self.database = database
        self._written = graph
        self._graph = graph
        self._version = 0

    @property
    def graph(self) -> ConceptGraph:
        """The graph with all changes of links."""
        if not self.database.file.live:
            return self._graph
        cache = self.database.cache("graph")
        if not cache:
            cache["version"] = self.database.ask_one(
                "SELECT coalesce(max(number), 0) FROM changes WHERE of_links"
            )
        if cache["version"] != self._version:
            self._graph = self._changed_graph()
            self._version = cache["version"]
        return self._graph

    def _changed_graph(self) -> ConceptGraph:
        arrays = self._written.arrays
        sources = np.repeat(arrays.outer, np.diff(arrays.indptr))
        targets = arrays.outer[arrays.indices]
        dropped = np.array(self.database.ask("SELECT concept FROM unlinked"), np.int64).ravel()
        kept = (sources < targets) & ~np.isin(sources, dropped) & ~np.isin(targets, dropped)
        edges = np.stack([sources[kept], targets[kept]], axis=1)
        new = np.array(self.database.ask("SELECT first, second FROM links"), np.int64)
        return ConceptGraph.from_edges(
            np.concatenate([edges, new.reshape(-1, 2)]), vertices=np.arange(self.database.size)
        )

    def check_graph(self) -> None:
        """Raise a `StorageError` if the graph is one of other concepts."""
        graph, count = self.graph, self.database.size
        if len(graph) != count or graph.vertices[[0, -1]].tolist() != [0, count - 1]:
            raise StorageError(
                f"folder: {self.database.file.path.parent / 'graph'} is no graph of the {count} "
                "concepts of the knowledge base; build it again."
            )

    def add(self, concept: Concept) -> int:
        """Add a concept and return its number."""
        with self.database.change(links=True) as connection:
            number: int = connection.execute(
                "INSERT INTO concepts(id, title, description, type, url) "
                "VALUES (?, '', '', '', '') RETURNING number",
                (concept.id,),
            ).fetchone()[0]
            self._write(connection, number, concept, {item.name for item in fields(Concept)})
        return number

    def update(self, number: int, concept: Concept, known: Collection[str]) -> None:
        """Replace the fields of `known`."""
        with self.database.change(links="links" in known) as connection:
            self._unsearch(connection, number)
            self._write(connection, number, concept, known)

    def remove(self, number: int) -> None:
        """Take a concept out; its number stays."""
        with self.database.change(links=True) as connection:
            self._unsearch(connection, number)
            self._count_words(connection, number, -1)
            connection.execute("DELETE FROM candidates WHERE concept = ?", (number,))
            _unlink(connection, number)
            connection.execute(
                "UPDATE concepts SET id = NULL, title = '', description = '', type = '', "
                "qid = NULL, url = '', text = NULL WHERE number = ?",
                (number,),
            )

    def _write(
        self, connection: sqlite3.Connection, number: int, concept: Concept, known: Collection[str]
    ) -> None:
        values = {name: getattr(concept, name) for name in _FIELDS if name in known}
        if "title" in known:
            self._count_words(connection, number, -1)
        if "qid" in known:
            values["qid"] = int(concept.qid[1:]) if concept.qid else None
        if "text" in known:  # the description stands for one that is missing
            values["text"] = concept.text or None
        for name, value in values.items():
            connection.execute(f"UPDATE concepts SET {name} = ? WHERE number = ?", (value, number))
        if "title" in known:
            self._count_words(connection, number, 1)
        if "type" in known and concept.type:
            connection.execute("INSERT OR IGNORE INTO types VALUES (?)", (concept.type,))
        if "aliases" in known:
            _add_aliases(connection, number, concept.aliases, instead=True)
        elif "title" in known:
            names = "SELECT 1 FROM candidates WHERE concept = ? AND alias = ?"
            name = normalise(concept.title)
            if name and not connection.execute(names, (number, name)).fetchone():
                _add_aliases(connection, number, {concept.title: 1.0})
        if "links" in known:
            _unlink(connection, number)
            for identity in concept.links:
                connection.execute(
                    "INSERT OR IGNORE INTO links SELECT min(number, ?), max(number, ?) "
                    "FROM concepts WHERE id = ?",
                    (number, number, identity),
                )
        if self.database.searched:
            connection.execute(
                "INSERT INTO search(rowid, title, aliases, body) "
                "SELECT number, title, aliases, body FROM searchable WHERE number = ?",
                (number,),
            )

    def _unsearch(self, connection: sqlite3.Connection, number: int) -> None:
        """Take a concept's words out of the index, before any of them changes."""
        if self.database.searched:
            connection.execute(
                "INSERT INTO search(search, rowid, title, aliases, body) "
                "SELECT 'delete', number, title, aliases, body FROM searchable WHERE number = ?",
                (number,),
            )

    def _count_words(self, connection: sqlite3.Connection, number: int, change: int) -> None:
        """Count the words of a concept's title one time more or less."""
        select = "SELECT title FROM concepts WHERE number = ?"
        (title,) = connection.execute(select, (number,)).fetchone()
        for word in dict.fromkeys(title_words(title)):
            connection.execute(
                "INSERT INTO words VALUES (?, ?) "
                "ON CONFLICT DO UPDATE SET titles = titles + excluded.titles",
                (word, change),
            )
        if change < 0:
            connection.execute("DELETE FROM words WHERE titles < 1")


def _add_aliases(
    connection: sqlite3.Connection,
    number: int,
    aliases: Mapping[str, float],
    *,
    instead: bool = False,
) -> None:
    """Give a concept more aliases, or others; what is known of how often they are links stays."""
    names = json.dumps([normalise(alias) for alias in aliases])
    known = "SELECT alias, link FROM candidates WHERE alias IN (SELECT value FROM json_each(?))"
    shares = dict(connection.execute(known, (names,)).fetchall())
    if instead:
        connection.execute("DELETE FROM candidates WHERE concept = ?", (number,))
    add_candidates(connection, uses_of(number, aliases, shares))


def _unlink(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (number,))
    connection.execute("DELETE FROM links WHERE first = ? OR second = ?", (number, number))
