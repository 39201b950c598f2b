"""Rarity of the words of titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.storage import StoredArrays
from .string_index import StringIndex, index_arrays

__all__ = ["ARRAYS", "TitleWords", "distinct_words", "title_words"]

#: Their storage format.
ARRAYS = {
    **index_arrays("title_words"),
    "title_words.counts": ("<i4", 1),
    "title_words.titles": ("<i8", 1),
}


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


@dataclass(frozen=True, eq=False)
class TitleWords:
    """In how many titles each word occurs.

    Examples
    --------
    >>> words = TitleWords.build(["Oakland Raiders", "Oakland Athletics", "Jaguar", "Java"])
    >>> words.surprise(["oakland", "raiders", "unheard"]).round(2)
    array([0.69, 1.39, 1.39])
    """

    index: StringIndex  # the words
    counts: NDArray[np.int32]  # (words,): titles that hold each
    titles: int  # number of all titles

    @classmethod
    def build(cls, titles: Iterable[str]) -> TitleWords:
        counted: Counter[str] = Counter()
        number = 0
        for title in titles:
            counted.update(dict.fromkeys(title_words(title), 1))
            number += 1
        index, rows, _ = StringIndex.build(list(counted))
        counts = np.zeros(len(index), np.int32)
        counts[rows[rows >= 0]] = np.fromiter(counted.values(), np.int32)[rows >= 0]
        return cls(index, counts, number)

    def surprise(self, words: Sequence[str]) -> NDArray[np.float64]:
        """``ln(titles / titles with the word)`` of each word. **Shape:** ``(words,)``

        A word of no title counts as one that occurs once.
        """
        rows = self.index.find(words)
        counts = np.ones(len(words))
        counts[rows >= 0] = self.counts[rows[rows >= 0]]
        return np.log(max(self.titles, 1) / counts)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to save, by their names in a folder."""
        return {
            **self.index.arrays("title_words"),
            "title_words.counts": self.counts,
            "title_words.titles": np.array([self.titles], np.int64),
        }

    @classmethod
    def of_stored(cls, stored: StoredArrays) -> TitleWords:
        """Take them from the arrays of a folder, and check these."""
        index = StringIndex.of_stored(stored, "title_words")
        counts, titles = stored["title_words.counts"], stored["title_words.titles"]
        stored.check_size("title_words.counts", len(index))
        stored.check_size("title_words.titles", 1)
        if counts.min(initial=1) < 1:
            stored.refuse("title_words.counts", "a word is in no title")
        return cls(index, counts, int(titles[0]))
