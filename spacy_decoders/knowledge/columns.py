"""What is known of each concept, read from a base's file for many concepts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .concepts import QID
from .database import Database

__all__ = ["Column", "Known", "known_of"]


class Known(NamedTuple):
    """What is known of a concept."""

    number: int
    id: str | None  # None where the concept was removed
    title: str
    description: str
    type: str
    item: int | None  # the number of its item in Wikidata
    url: str
    text: str  # the description where there is no text

    @property
    def qid(self) -> str | None:
        """The Wikidata item, None where unknown."""
        if self.item is not None:
            return f"Q{self.item}"
        return self.id if self.id and QID.fullmatch(self.id) else None


def known_of(database: Database, numbers: Sequence[int]) -> list[Known]:
    """What is known of some concepts, by one query.

    Raises
    ------
    StorageError
        If there is no such concept, or it has what can't be.
    """
    cache = database.cache("concepts")
    missing = [number for number in dict.fromkeys(numbers) if number not in cache]
    if missing:
        rows = database.ask_many(
            "SELECT number, id, title, description, type, qid, url, coalesce(text, description) "
            "FROM concepts WHERE number IN (SELECT value FROM json_each(?))",
            missing,
        )
        _check(database, rows)
        cache.update((row[0], Known._make(row)) for row in rows)
    try:
        return [cache[number] for number in numbers]
    except KeyError as error:
        raise database.damaged(f"there is no concept {error}") from None


def _check(database: Database, rows: list[tuple[Any, ...]]) -> None:
    _, identities, *texts, items, urls, bodies = (
        zip(*rows, strict=True) if rows else ((),) * len(Known._fields)
    )
    for column in (*texts, urls, bodies):
        if not {str}.issuperset(map(type, column)):
            raise database.damaged("a concept has no text where it should have")
    if not {str, type(None)}.issuperset(map(type, identities)):
        raise database.damaged("a concept has an identifier that is no text")
    if not all(item is None or (type(item) is int and 0 < item < 10**18) for item in items):
        raise database.damaged("a concept has an item that can't be")


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
        self._text: Callable[[Known], str | None] = attrgetter(name)

    def __len__(self) -> int:
        return self.database.size

    def __getitem__(self, at: Any) -> Any:
        numbers = range(len(self))[at]
        return self._texts(numbers) if isinstance(at, slice) else self._texts([numbers])[0]

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

    def _texts(self, numbers: Sequence[int]) -> list[str]:
        return [self._text(known) or "" for known in known_of(self.database, numbers)]
