"""How rare the words of titles are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .strings import StringIndex, open_arrays, save_arrays

__all__ = ["TitleWords", "title_words"]


def title_words(text: str) -> list[str]:
    """The words of a title or mention, case apart; an underscore is no part of a word.

    Examples
    --------
    >>> title_words("Mercury (planet)")
    ['mercury', 'planet']
    """
    return re.findall(r"[^\W_]+", text.casefold())


@dataclass(frozen=True, eq=False)
class TitleWords:
    """In how many titles each word occurs.

    Attributes
    ----------
    index
        The words.
    counts
        Titles that hold each. **Shape:** ``(words,)``
    titles
        Number of all titles.

    Examples
    --------
    >>> words = TitleWords.build(["Oakland Raiders", "Oakland Athletics", "Jaguar", "Java"])
    >>> words.surprise(["oakland", "raiders", "unheard"]).round(2)
    array([0.69, 1.39, 1.39])
    """

    index: StringIndex
    counts: NDArray[np.int32]
    titles: int

    @classmethod
    def build(cls, titles: Iterable[str]) -> TitleWords:
        counted: Counter[str] = Counter()
        number = 0
        for title in titles:
            counted.update(set(title_words(title)))
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

    def save(self, folder: Path) -> None:
        self.index.save(folder, "title_words")
        save_arrays(
            folder, "title_words", counts=self.counts, titles=np.array([self.titles], np.int64)
        )

    @classmethod
    def open(cls, folder: Path) -> TitleWords:
        counts, titles = open_arrays(folder, "title_words", "counts", "titles")
        return cls(StringIndex.open(folder, "title_words"), counts, int(titles[0]))
