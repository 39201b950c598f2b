"""What is known of each concept, read from a base's file for many concepts at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .database import Database

__all__ = ["Column", "rows_of"]

_COLUMNS = ("id", "title", "description", "type", "qid", "url", "text")


class Column(Sequence[str]):
    """One text of each concept, by concept number.

    Parameters
    ----------
    database
        The file of the base.
    name
        Which text.
    """

    def __init__(self, database: Database, name: str) -> None:
        self.database = database
        self._place = _COLUMNS.index(name)

    def __len__(self) -> int:
        return self.database.size

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        size = len(self)
        if isinstance(at, slice):
            return self.take(np.arange(*at.indices(size)))
        if not -size <= at < size:
            raise IndexError(at)
        return self._texts([int(at) % size])[0]

    def take(self, numbers: NDArray[np.integer[Any]]) -> list[str]:
        """The texts of some concepts, which are read at once."""
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self):
            raise IndexError(f"{numbers.min()} to {numbers.max()}")
        return self._texts(numbers.tolist())

    def find(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The concept with each identifier, -1 where there is none. **Shape:** ``(texts,)``"""
        rows = self.database.ask_many(
            "SELECT id, number FROM concepts WHERE id IN (SELECT value FROM json_each(?))", texts
        )
        found = dict(rows)
        return np.array([found.get(text, -1) for text in texts], np.int64)

    def _texts(self, numbers: list[int]) -> list[str]:
        place = self._place
        return [row[place] or "" for row in rows_of(self.database, numbers)]


def rows_of(database: Database, numbers: list[int]) -> list[tuple[Any, ...]]:
    """What is known of some concepts, in the order of `_COLUMNS`."""
    cache = database.cache("concepts")
    missing = [number for number in dict.fromkeys(numbers) if number not in cache]
    if missing:
        for number, *row in database.ask_many(
            "SELECT number, id, title, description, type, qid, url, coalesce(text, description) "
            "FROM concepts WHERE number IN (SELECT value FROM json_each(?))",
            missing,
        ):
            _check_row(database, row)
            cache[number] = tuple(row)
    try:
        return [cache[number] for number in numbers]
    except KeyError as error:
        raise database.damaged(f"there is no concept {error}") from None


def _check_row(database: Database, row: list[Any]) -> None:
    identity, title, description, kind, qid, url, text = row
    texts = (title, description, kind, url, text)
    if not all(isinstance(one, str) for one in texts) or not isinstance(identity, str | None):
        raise database.damaged("a concept has no text where it should have")
    if qid is not None and not (isinstance(qid, int) and 0 < qid < 10**18):
        raise database.damaged(f"a concept has the item {qid!r}")
