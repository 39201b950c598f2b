"""The SQLite file of a concept base: its tables, and reading them in any thread and process."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import StorageError
from ..graph.storage import FolderFormat

__all__ = ["APPLICATION", "FOLDER", "INDEXES", "NAME", "SEARCH", "TABLES", "VERSION", "Database"]

#: The name of the file in a base's folder.
NAME = "concepts.sqlite"
FOLDER = FolderFormat(
    kind="knowledge base",
    header_name="manifest.json",
    arrays={},
    others=(NAME, f"{NAME}-wal", f"{NAME}-shm", "graph/graph.json"),
    version=3,
    rebuilt="with `python -m spacy decoders kb build`",
)

#: In the header of the file: "spDC".
APPLICATION = 0x73704443
VERSION = 3
TABLES = (
    # a removed concept leaves a row without id; text is NULL if it is the description
    "CREATE TABLE concepts(number INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT NOT NULL, "
    "description TEXT NOT NULL, type TEXT NOT NULL, qid INTEGER, url TEXT NOT NULL, text TEXT)",
    # how often an alias means a concept, in all and in which letter case; link: the share of the
    # alias's occurrences that are links, the same in all its rows
    "CREATE TABLE candidates(alias TEXT NOT NULL, count REAL NOT NULL, concept INTEGER NOT NULL, "
    "lower REAL NOT NULL, capitalised REAL NOT NULL, upper REAL NOT NULL, mixed REAL NOT NULL, "
    "link REAL, PRIMARY KEY(alias, count DESC, concept)) WITHOUT ROWID",
    "CREATE TABLE types(type TEXT PRIMARY KEY) WITHOUT ROWID",
    # in how many titles each word occurs
    "CREATE TABLE words(word TEXT PRIMARY KEY, titles INTEGER NOT NULL) WITHOUT ROWID",
    # changes of links since the graph was written: concepts that lost theirs, and new links
    "CREATE TABLE unlinked(concept INTEGER PRIMARY KEY)",
    "CREATE TABLE links(first INTEGER NOT NULL, second INTEGER NOT NULL, "
    "PRIMARY KEY(first, second)) WITHOUT ROWID",
    "CREATE TABLE changes(number INTEGER PRIMARY KEY, of_links INTEGER NOT NULL)",
    "CREATE VIEW searchable AS SELECT number, title, (SELECT group_concat(alias, ' ; ') FROM "
    "candidates WHERE concept = number) AS aliases, coalesce(text, description) AS body FROM "
    "concepts WHERE id IS NOT NULL",
)
INDEXES = (
    "CREATE INDEX items ON concepts(qid) WHERE qid IS NOT NULL",
    "CREATE INDEX names ON candidates(concept)",
)
# content=...: the words are indexed without storing the text twice
SEARCH = (
    "CREATE VIRTUAL TABLE search USING fts5(title, aliases, body, content='searchable', "
    "content_rowid='number', tokenize='unicode61 remove_diacritics 2')"
)
#: The most entries of each dictionary in a thread's cache.
_CACHED = 1 << 14


class _File(NamedTuple):
    """The identity of a database file."""

    path: Path
    live: bool
    inode: int

    @classmethod
    def found(cls, path: Path, live: bool) -> _File:
        """The file that is at the path now."""
        try:
            return cls(path, live, path.stat().st_ino)
        except FileNotFoundError as error:
            raise StorageError(f"folder: {path} is missing; copy or build it again.") from error


class Database:
    """The file of a base, read by a connection and with caches for each thread and process.

    If it is `live`, it may be changed, and every reader sees each change at once; caches are never
    stale. Otherwise it is opened as immutable. Raises `StorageError` if the file is missing,
    truncated, or of another kind.
    """

    def __init__(self, path: Path, *, live: bool = False) -> None:
        self._local = threading.local()
        #: The path of the file, and whether it may be changed.
        self.file = _File.found(path, live)
        _opened.add(self)
        self.searched = self._check_schema()

    def go_live(self, path: Path) -> None:
        """Copy the file and read, and change, the copy from now on."""
        with closing(sqlite3.connect(path)) as copy:
            self._connection().backup(copy)
        self.read_copy(path)
        self._connection().execute("PRAGMA synchronous = OFF")

    def read_copy(self, path: Path) -> None:
        """Read, and change, a copy that another process has made."""
        self.file = _File.found(path, live=True)

    def copy_to(self, path: Path) -> None:
        """Write a copy of the file without unused pages."""
        with closing(sqlite3.connect(path, isolation_level=None)) as copy:
            try:
                self._connection().backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                copy.execute("VACUUM")
            except sqlite3.DatabaseError as error:
                raise self.damaged(error) from error

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; `StorageError` if the file is damaged."""
        try:
            return self._connection().execute(statement, values).fetchall()
        except (sqlite3.DatabaseError, OverflowError, UnicodeDecodeError) as error:
            raise self.damaged(error) from error

    def ask_one(self, statement: str, *values: Any) -> Any:
        """The only value of a query, None where there is none."""
        rows = self.ask(statement, *values)
        return rows[0][0] if rows else None

    def ask_many(self, statement: str, values: Iterable[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query for many values, as ``IN (SELECT value FROM json_each(?))``."""
        # lone surrogates, which no file contains, can't be encoded
        given = [v.encode("utf8", "replace").decode() if isinstance(v, str) else v for v in values]
        return self.ask(statement, json.dumps(given))

    def cache(self, name: str) -> dict[Any, Any]:
        """A dictionary in the cache of this thread, cleared after each change of the file."""
        local = self._local
        if self.file.live:
            (version,) = self._connection().execute("PRAGMA data_version").fetchone()
            if version != local.version:
                local.version = version
                local.caches = {}
        elif not hasattr(local, "caches"):
            self._connection()  # makes the thread's caches
        found: dict[Any, Any] = local.caches.setdefault(name, {})
        if len(found) > _CACHED:
            found.clear()
        return found

    @contextmanager
    def change(self, *, links: bool = False) -> Iterator[sqlite3.Connection]:
        """Give a connection for a transaction, which is rolled back on an error."""
        connection = self._connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
            with connection:  # commits, or rolls back
                yield connection
                connection.execute(
                    "INSERT INTO changes SELECT coalesce(max(number), 0) + 1, ? FROM changes",
                    (int(links),),
                )
        except sqlite3.OperationalError as error:
            raise StorageError(
                f"folder: {self.file.path} can't be changed ({error}); see that it and its folder "
                "can be written, or open the base without `live`."
            ) from error
        self._local.caches = {}  # `data_version` counts only the changes of other connections

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read the state of one moment, whatever other processes change meanwhile."""
        connection = self._connection()
        if connection.in_transaction:
            yield
            return
        connection.execute("BEGIN")
        try:
            yield
        finally:
            connection.execute("COMMIT")

    @property
    def size(self) -> int:
        """One more than the largest number of a concept."""
        found = self._total("coalesce(max(number), -1) + 1")
        if not isinstance(found, int) or not 0 <= found < 2**31:
            raise self.damaged(f"a concept has the number {found!r}")
        return found

    @property
    def count(self) -> int:
        """The number of concepts, without removed ones."""
        return int(self._total("count(id)"))

    def _total(self, what: str) -> Any:
        cache = self.cache("totals")
        if what not in cache:
            cache[what] = self.ask_one(f"SELECT {what} FROM concepts")
        return cache[what]

    def check(self) -> None:
        """Read all of the file, and raise a `StorageError` if it is damaged."""
        found = self.ask_one("PRAGMA quick_check")
        if found != "ok":
            raise self.damaged(found)

    def damaged(self, reason: object) -> StorageError:
        """The error to raise for a damaged file."""
        return StorageError(
            f"folder: {self.file.path} is damaged ({reason}); copy or build it again."
        )

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread; SQLite allows none to be used after a fork."""
        local, file = self._local, self.file
        process = getattr(local, "process", None)
        if process == os.getpid() and local.file is file:
            return local.connection
        if process is not None:
            _close(local.connection, process)
        if _File.found(file.path, file.live) != file:
            raise StorageError(
                f"folder: {file.path} was replaced since it was opened; open it again."
            )
        # where nothing can be written, SQLite could not even read a file that others may change
        written = Path(f"{file.path}-wal").exists() or os.access(file.path.parent, os.W_OK)
        mode = "mode=rw" if file.live and written else "mode=ro&immutable=1"
        try:
            # used by one thread, but closed in whichever thread frees the base
            connection = sqlite3.connect(
                f"{file.path.absolute().as_uri()}?{mode}",
                uri=True,
                check_same_thread=False,
                isolation_level=None,
                timeout=60,
            )
            weakref.finalize(self, _close, connection, os.getpid())
            connection.execute("PRAGMA trusted_schema = OFF")  # a forged file must run no code
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA mmap_size = 1099511627776")
            if file.live and written:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.OperationalError as error:
            raise StorageError(
                f"folder: {file.path} can't be opened ({error}); if it has a log of changes, open "
                "it once where its folder can be written."
            ) from error
        except sqlite3.DatabaseError as error:
            raise self.damaged(error) from error
        local.file, local.connection, local.process = file, connection, os.getpid()
        local.version, local.caches = -1, {}
        return connection

    def _check_schema(self) -> bool:
        """Refuse missing tables and foreign views or triggers; is there a full-text index?"""
        kinds = self.ask_one("PRAGMA application_id"), self.ask_one("PRAGMA user_version")
        if kinds != (APPLICATION, VERSION):
            raise self.damaged("it is not a knowledge base of this version")
        rows = self.ask("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL")
        wanted = {sql: sql.split("(")[0].split()[1:3] for sql in (*TABLES, *INDEXES)}
        searched = any(sql == SEARCH for _, _, sql in rows)
        for name, kind, sql in rows:
            of_search = searched and str(name).startswith("search_") and kind == "table"
            if sql != SEARCH and not of_search and sql not in wanted:
                raise self.damaged(f"{name} is no part of a knowledge base")
        missing = wanted.keys() - {sql for _, _, sql in rows}
        if missing:
            raise self.damaged(f"it has no {' '.join(wanted[min(missing)])}")
        return searched


#: Connections of the process from which this one was forked, which must not be closed here.
_kept: list[sqlite3.Connection] = []
_opened: weakref.WeakSet[Database] = weakref.WeakSet()


def _close(connection: sqlite3.Connection, process: int) -> None:
    """Close a connection in the process that made it: elsewhere, that would free its locks."""
    if process == os.getpid():
        connection.close()
    else:
        _kept.append(connection)


def _close_all() -> None:
    """Close this thread's connections before a fork: SQLite forbids carrying them over."""
    for database in list(_opened):
        local = database._local
        if getattr(local, "process", None) == os.getpid():
            local.connection.close()
            local.process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all)


@contextmanager
def written(path: Path, *settings: str) -> Iterator[sqlite3.Connection]:
    """Give a connection that writes a new file in one transaction, without a journal.

    A file that is not finished is damaged: the caller throws it away. Raises `OSError` if it can't
    be written, as on a full disk.
    """
    place = str(path.parent).replace("'", "''")  # /tmp may have no room for sorting
    fast = ("journal_mode = OFF", "synchronous = OFF", "cache_size = -262144")
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for setting in (*settings, *fast):
                connection.execute(f"PRAGMA {setting}")
            # a name that is not in the locale's encoding, for which Python 3.10 raises the latter
            with suppress(UnicodeEncodeError, sqlite3.Warning):
                connection.execute(f"PRAGMA temp_store_directory = '{place}'")
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        reason = errno.ENOSPC if "full" in str(error) else errno.EIO
        raise OSError(reason, f"{os.strerror(reason)}: {error}", str(path)) from error
    finally:  # the setting is the whole process's, and can't be changed within a transaction
        with closing(sqlite3.connect(":memory:")) as other:
            other.execute("PRAGMA temp_store_directory = ''")
