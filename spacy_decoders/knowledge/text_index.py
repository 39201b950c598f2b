"""Finding concepts by the words of their title, aliases and text: BM25 with weighted fields."""

from __future__ import annotations

import errno
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterable
from contextlib import closing
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StorageError

__all__ = ["TextIndex"]

#: Weights of title, anchors and body. A word of the title says the most.
_WEIGHTS = (4.0, 2.0, 1.0)


class TextIndex:
    """A read-only full-text index over concepts, on SQLite's FTS5.

    Parameters
    ----------
    path
        A file that :meth:`build` wrote.
    weights
        The weights of words in the title, in an alias and in the body.
    concepts
        Numbers of concepts are below this.

    Raises
    ------
    StorageError
        If the file is missing or damaged.

    Notes
    -----
    The candidate retrieval of Blanco, Boldi and Marino (2014, section 4), who rank with
    BM25F; FTS5's ``bm25`` with column weights is its close relative.
    """

    def __init__(
        self, path: Path, weights: tuple[float, float, float] = _WEIGHTS, concepts: int = 2**31 - 1
    ) -> None:
        self.path = Path(path)
        self.weights = weights
        self.concepts = concepts
        self._local = threading.local()
        if not self.path.is_file():
            raise StorageError(f"text index: {self.path} is missing; build it again.")
        self._connection()

    @classmethod
    def build(cls, path: Path, rows: Iterable[tuple[int, str, str, str]]) -> TextIndex:
        """Write an index of (concept, title, aliases, body) rows and open it.

        Raises
        ------
        OSError
            If it can't be written, as on a full disk.
        """
        path.unlink(missing_ok=True)
        numbered = ((concept + 1, *texts) for concept, *texts in rows)
        try:
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("PRAGMA journal_mode = OFF")
                # content='': the words are indexed, the text itself is not kept twice
                connection.execute(
                    "CREATE VIRTUAL TABLE concepts USING fts5(title, aliases, body, content='', "
                    "tokenize='unicode61 remove_diacritics 2')"
                )
                connection.executemany(
                    "INSERT INTO concepts(rowid, title, aliases, body) VALUES (?, ?, ?, ?)",
                    numbered,
                )
                connection.execute("INSERT INTO concepts(concepts) VALUES ('optimize')")
        except sqlite3.OperationalError as error:
            raise OSError(errno.EIO, str(error), str(path)) from error
        return cls(path)

    def find(self, text: str, limit: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Find the concepts that share words with a text.

        Returns
        -------
        concepts, scores
            At most `limit` concept numbers, best first, and their scores, higher is better.
            Equal scores are ordered by a hash of the concept, not by the order of input.
        """
        words = re.findall(r"\w+", text)
        if not words or limit < 1:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        query = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        try:
            found = self._connection().execute(
                "SELECT rowid - 1, -bm25(concepts, ?, ?, ?) AS score FROM concepts "
                "WHERE concepts MATCH ? ORDER BY score DESC, (rowid * 2654435761) % 4294967296 "
                "LIMIT ?",
                (*self.weights, query, limit),
            )
            rows = found.fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error
        if not all(0 <= concept < self.concepts and isfinite(score) for concept, score in rows):
            raise StorageError(
                f"text index: {self.path} names a concept that there is not; build it again."
            )
        return (
            np.array([concept for concept, _ in rows], np.int32),
            np.array([score for _, score in rows], np.float32),
        )

    def __reduce__(self) -> tuple[type[TextIndex], tuple[Any, ...]]:
        return type(self), (self.path, self.weights, self.concepts)

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread: SQLite's are not shared."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
            try:
                # used by one thread, but closed by the one that frees the index
                connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
                weakref.finalize(self, connection.close)
                # an untrusted file must not run code
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA cell_size_check = ON")
                connection.execute("SELECT rowid FROM concepts LIMIT 1").fetchone()
                (kind,) = connection.execute(
                    "SELECT substr(sql, 1, 41) FROM sqlite_master WHERE name = 'concepts'"
                ).fetchone()
            except (sqlite3.DatabaseError, TypeError) as error:
                raise self._damaged(error) from error
            if kind != "CREATE VIRTUAL TABLE concepts USING fts5(":  # a view could do anything
                raise self._damaged("it holds no index of concepts")
            self._local.connection = connection
        return connection

    def _damaged(self, reason: object) -> StorageError:
        return StorageError(f"text index: {self.path} is damaged ({reason}); build it again.")
