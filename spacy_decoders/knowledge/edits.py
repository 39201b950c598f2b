"""Editing a concept base: transactions in its file, and the graph with changed links."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import threading
import warnings
import weakref
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ProblemError, StorageError
from ..graph import ConceptGraph
from .aliases import normalise
from .concept_table import ConceptTable
from .concepts import Concept
from .contents import add_candidates, lost_links, uses_of
from .database import NAME, Database
from .texts import title_words

__all__ = ["EditableConcepts", "checked_concept", "remove_folder"]

_FIELDS = ("title", "description", "type", "qid", "url", "text")
#: Held while a base takes a copy of its file.
_COPYING = threading.Lock()


class EditableConcepts(ConceptTable):
    """Concepts that can be changed, in a copy of the folder's file or, `in_place`, in itself."""

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        database: Database,
        graph: ConceptGraph,
        *,
        in_place: bool = False,
    ) -> None:
        super().__init__(manifest, database)
        self.folder = folder
        self._in_place = in_place
        self._written = graph
        #: The graph after so many changes, in one assignment: threads may see different states.
        self._latest = (0, graph)

    @property
    def graph(self) -> ConceptGraph:  # type: ignore[override]
        """Links between concepts; a vertex is a concept number.

        After a change of links it is rebuilt when it is next needed, without a hub index, in a
        second for some ten million links.
        """
        version, graph = self._latest
        if not self._database.file.live:
            return graph
        with self._database.snapshot():
            cache = self._database.cache("graph")
            if not cache:
                cache["version"] = self._database.ask_one(
                    "SELECT coalesce(max(number), 0) FROM changes WHERE of_links"
                )
            if cache["version"] != version:
                graph = self._changed_graph()
                self._latest = cache["version"], graph
        return graph

    def _changed_graph(self) -> ConceptGraph:
        arrays = self._written.arrays
        sources = np.repeat(arrays.outer, np.diff(arrays.indptr))
        targets = arrays.outer[arrays.indices]
        dropped = np.array(self._database.ask("SELECT concept FROM unlinked"), np.int64).ravel()
        kept = (sources < targets) & ~np.isin(sources, dropped) & ~np.isin(targets, dropped)
        edges = np.stack([sources[kept], targets[kept]], axis=1)
        new = np.array(self._database.ask("SELECT first, second FROM links"), np.int64)
        return ConceptGraph.from_edges(
            np.concatenate([edges, new.reshape(-1, 2)]), vertices=np.arange(self._database.size)
        )

    def check_graph(self) -> None:
        """Raise a `StorageError` if the graph is not one of these concepts."""
        with self._database.snapshot():
            graph, count = self.graph, self._database.size
        if len(graph) != count or graph.vertices[[0, -1]].tolist() != [0, count - 1]:
            raise StorageError(
                f"folder: {self._database.file.path.parent / 'graph'} is not the graph of the "
                f"{count} concepts of the knowledge base; build it again."
            )

    def add(self, concept: Concept | Mapping[str, Any]) -> int:
        """Add a concept, and return its number.

        Links to concepts that do not exist are left out, with a warning.

        Raises
        ------
        ProblemError
            If its identifier is taken, or a field is wrong.
        """
        concept = checked_concept(concept)
        if self.number(concept.id) >= 0:
            raise ProblemError(f"concept: {concept.id!r} exists already; update it instead.")
        with self._change(links=True) as connection:
            number: int = connection.execute(
                "INSERT INTO concepts(id, title, description, type, url) "
                "VALUES (?, '', '', '', '') RETURNING number",
                (concept.id,),
            ).fetchone()[0]
            self._write(connection, number, concept, {item.name for item in fields(Concept)})
        self._warn_of_unknown(concept)
        return number

    def update(self, identity: str, **values: Any) -> None:
        """Replace fields of a concept; other fields stay.

        Links to concepts that do not exist are left out, with a warning.

        Raises
        ------
        ProblemError
            If there is no such concept or field, or its value is wrong.
        """
        number = self._found(identity)
        if "id" in values:
            raise ProblemError("id: it can't be changed; remove the concept and add another.")
        given = {"title": self.titles[number], **values, "id": identity}
        concept = checked_concept(given)
        with self._change(links="links" in values) as connection:
            self._unindex(connection, number)
            self._write(connection, number, concept, values)
        self._warn_of_unknown(concept)

    def _warn_of_unknown(self, concept: Concept) -> None:
        """Warn of the links that were left out."""
        known = self.ids.find(concept.links) >= 0
        if not known.all():
            said = lost_links(sum(~known), concept.id, concept.links[known.argmin()])
            fix = "add these first, or update the links when they are there"
            warnings.warn(f"{said}; {fix}.", stacklevel=3)

    def remove(self, identity: str) -> None:
        """Remove a concept with its aliases and links; its number is not used again.

        Raises
        ------
        ProblemError
            If there is no such concept.
        """
        number = self._found(identity)
        with self._change(links=True) as connection:
            self._unindex(connection, number)
            self._count_words(connection, number, -1)
            connection.execute("DELETE FROM candidates WHERE concept = ?", (number,))
            _unlink(connection, number)
            connection.execute(
                "UPDATE concepts SET id = NULL, title = '', description = '', type = '', "
                "qid = NULL, url = '', text = NULL WHERE number = ?",
                (number,),
            )

    @property
    def changed(self) -> bool:
        """Whether it has changes that are not in its folder, but in a copy."""
        return self._database.file.path.parent != self.folder

    def _change(self, *, links: bool) -> AbstractContextManager[sqlite3.Connection]:
        """Give a connection for a transaction, in a copy unless changes are `in_place`."""
        with _COPYING:
            if not self._in_place and not self.changed:
                place = tempfile.mkdtemp(prefix="concepts-")
                weakref.finalize(self._database, remove_folder, place, os.getpid())
                self._database.go_live(Path(place) / NAME)
        return self._database.change(links=links)

    def _write(
        self, connection: sqlite3.Connection, number: int, concept: Concept, known: Collection[str]
    ) -> None:
        values = {name: getattr(concept, name) for name in _FIELDS if name in known}
        if "title" in known:
            self._count_words(connection, number, -1)
        if "qid" in known:
            values["qid"] = int(concept.qid[1:]) if concept.qid else None
        if "text" in known:  # NULL where the description stands for it
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
        if self._database.searched:
            connection.execute(
                "INSERT INTO search(rowid, title, aliases, body) "
                "SELECT number, title, aliases, body FROM searchable WHERE number = ?",
                (number,),
            )

    def _unindex(self, connection: sqlite3.Connection, number: int) -> None:
        """Delete a concept from the full-text index, before any of its words changes."""
        if self._database.searched:
            connection.execute(
                "INSERT INTO search(search, rowid, title, aliases, body) "
                "SELECT 'delete', number, title, aliases, body FROM searchable WHERE number = ?",
                (number,),
            )

    def _count_words(self, connection: sqlite3.Connection, number: int, change: int) -> None:
        """Add `change` to the counts of the words of a concept's title."""
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
    """Add aliases to a concept, or replace those it has; known shares of links stay."""
    names = json.dumps([normalise(alias) for alias in aliases])
    known = "SELECT alias, link FROM candidates WHERE alias IN (SELECT value FROM json_each(?))"
    shares = dict(connection.execute(known, (names,)).fetchall())
    if instead:
        connection.execute("DELETE FROM candidates WHERE concept = ?", (number,))
    add_candidates(connection, uses_of(number, aliases, shares))


def _unlink(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (number,))
    connection.execute("DELETE FROM links WHERE first = ? OR second = ?", (number, number))


def checked_concept(given: Concept | Mapping[str, Any]) -> Concept:
    """Return a concept, or one made of a mapping; `ProblemError` if that is invalid."""
    try:
        return given if isinstance(given, Concept) else Concept.of(given)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"concept: {error}.") from error


def remove_folder(place: str, process: int) -> None:
    """Remove a temporary folder, in the process that made it alone and not in its forks."""
    if os.getpid() == process:
        shutil.rmtree(place, ignore_errors=True)
