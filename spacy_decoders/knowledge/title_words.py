"""Rarity of the words of titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .database import Database

__all__ = ["TitleWords", "distinct_words", "title_words"]


def title_words(text: str) -> list[str]:
    """The words of a title or mention, case apart; an underscore is no part of a word.

    Examples
    --------
    >>> title_words("Mercury (planet)")
    ['mercury', 'planet']
    """
    return re.findall(r"[^\W_]+", text.casefold())


@lru_cache(maxsize=2**16)
def distinct_words(text: str) -> tuple[str, ...]:
    """As `title_words`, each once; kept, since documents speak of the same concepts."""
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
        missing = [word for word in words if word not in cache]
        if missing:
            cache.update(dict.fromkeys(missing, 1))
            cache.update(
                self.database.ask_many(
                    "SELECT word, titles FROM words "
                    "WHERE word IN (SELECT value FROM json_each(?))",
                    missing,
                )
            )
        try:
            counts = np.array([cache[word] for word in words], np.float64)
        except (TypeError, ValueError) as error:
            raise self.database.damaged(error) from error
        if not (counts >= 1).all():
            raise self.database.damaged("a word is in no title")
        return np.log(max(self.database.size, 1) / counts)
