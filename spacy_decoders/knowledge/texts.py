"""Texts of a base's concepts, of many at once; the rarity of title words; full-text search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import isfinite
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .concepts import QID
from .database import Database

__all__ = [
    "Column",
    "Known",
    "TextIndex",
    "TitleWords",
    "distinct_words",
    "known_of",
    "title_words",
]

#: Weights of title, aliases and text in a search. A word of the title says the most.
_WEIGHTS = (4.0, 2.0, 1.0)


class Known(NamedTuple):
    """What is known of a concept."""

    number: int
    id: str | None  # None where the concept was removed
    title: str
    description: str
    type: str
    qid: str | None  # its item in Wikidata, None where unknown
    url: str
    text: str  # the description where there is no text

    @classmethod
    def of(cls, number: int, identity: str | None, *texts: str, item: int | None = None) -> Known:
        """Without an `item`, an identifier that is one of Wikidata's is the concept's item."""
        title, description, kind, url, text = texts or (identity or "", "", "", "", "")
        qid = identity if identity and QID.fullmatch(identity) else None
        if item is not None:
            qid = f"Q{item}"
        return cls(number, identity, title, description, kind, qid, url, text)


def known_of(database: Database, numbers: Sequence[int]) -> list[Known]:
    """What is known of some concepts, by one query.

    Raises `StorageError` if a concept is missing or invalid.
    """
    cache = database.cache("concepts")
    missing = {*numbers}.difference(cache)
    if missing:
        rows = database.ask_many(
            "SELECT number, id, title, description, type, url, coalesce(text, description), qid "
            "FROM concepts WHERE number IN (SELECT value FROM json_each(?))",
            missing,
        )
        _check(database, rows)
        cache.update((row[0], Known.of(*row[:-1], item=row[-1])) for row in rows)
    try:
        return [*map(cache.__getitem__, numbers)]
    except KeyError as error:
        raise database.damaged(f"there is no concept {error}") from None


def _check(database: Database, rows: list[tuple[Any, ...]]) -> None:
    _, identities, *texts, items = zip(*rows, strict=True) if rows else ((),) * len(Known._fields)
    for column in texts:
        if not {str}.issuperset(map(type, column)):
            raise database.damaged("a concept has a field that is not text")
    if not {str, type(None)}.issuperset(map(type, identities)):
        raise database.damaged("a concept has an identifier that is not text")
    if not all(item is None or (type(item) is int and 0 < item < 10**18) for item in items):
        raise database.damaged("a concept has an invalid Wikidata item")


class Column(Sequence[str]):
    """The field `name` of each concept, by concept number."""

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


def title_words(text: str) -> list[str]:
    """The words of a title or mention, in lower case; underscores separate words.

    Examples
    --------
    >>> title_words("Mercury (planet)")
    ['mercury', 'planet']
    """
    return re.findall(r"[^\W_]+", text.casefold())


@lru_cache(maxsize=2**16)
def distinct_words(text: str) -> tuple[str, ...]:
    """As `title_words`, each once; cached, since documents share concepts."""
    return tuple(dict.fromkeys(title_words(text)))


class TitleWords:
    """In how many titles of a base each word occurs.

    Examples
    --------
    >>> from .concept_base import ConceptBase
    >>> titles = ["Oakland Raiders", "Oakland Athletics", "Jaguar", "Java"]
    >>> base = ConceptBase.build([{"id": title} for title in titles])
    >>> base.title_words.surprise(["oakland", "raiders", "unheard"]).round(2)
    array([0.69, 1.39, 1.39])
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def surprise(self, words: Sequence[str]) -> NDArray[np.float64]:
        """``ln(titles / titles with the word)`` of each word. **Shape:** ``(words,)``

        A word of no title counts as one that occurs once.
        """
        cache = self.database.cache("words")
        missing = {*words}.difference(cache)
        if missing:
            cache.update(self._read(missing))
        return np.array([*map(cache.__getitem__, words)], np.float64)

    def _read(self, words: set[str]) -> Iterable[tuple[str, float]]:
        titles = dict.fromkeys(words, 1)
        titles.update(
            self.database.ask_many(
                "SELECT word, titles FROM words WHERE word IN (SELECT value FROM json_each(?))",
                words,
            )
        )
        try:
            counts = np.array([*titles.values()], np.float64)
        except (TypeError, ValueError) as error:
            raise self.database.damaged(error) from error
        if not (counts >= 1).all():
            raise self.database.damaged("a word is in no title")
        surprise = np.log(max(self.database.size, 1) / counts)
        return zip(titles, surprise.tolist(), strict=True)


class TextIndex:
    """Finds concepts by the words of their title, aliases and text, by SQLite's FTS5.

    Notes
    -----
    The candidate retrieval of Blanco, Boldi and Marino (2014, section 4), who rank with
    BM25F; FTS5's ``bm25`` with column weights is its close relative.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def find(self, text: str, limit: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Find the concepts that share words with a text: at most `limit` numbers, best first.

        Their scores come with them, higher is better. Equal scores are ordered by a hash of the
        concept.
        """
        words = re.findall(r"\w+", text)
        if not words or limit < 1:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        rows = self.database.ask(
            "SELECT rowid, -bm25(search, ?, ?, ?) AS score FROM search WHERE search MATCH ? "
            "ORDER BY score DESC, ((rowid + 1) * 2654435761) % 4294967296 LIMIT ?",
            *_WEIGHTS,
            " OR ".join(f'"{word}"' for word in dict.fromkeys(words)),
            limit,
        )
        size = self.database.size
        if not all(0 <= concept < size and isfinite(score) for concept, score in rows):
            raise self.database.damaged("its index names a concept that does not exist")
        return (
            np.array([concept for concept, _ in rows], np.int32),
            np.array([score for _, score in rows], np.float32),
        )
