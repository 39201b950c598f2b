"""What titles look like: the words that they contain, begin and end with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..saved import array_of, counts_of, fields_of, saved_counts, whole_number

__all__ = ["TitleCounts"]

Keys = NDArray[np.uint64]
Floats = NDArray[np.float64]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
#: Function words that begin at least this share of titles, and as many titles, may begin a phrase.
OPENER_SHARE = 0.004
OPENER_COUNT = 3


@dataclass(frozen=True, eq=False)
class TitleCounts:
    """How often stems occur in titles, anywhere, first and last, and which follow each other."""

    #: Ascending keys of the stems of titles. **Shape:** ``(s,)``
    stems: Keys
    #: Titles with each stem anywhere, in the first and in the last place. **Shape:** ``(s, 3)``
    counts: NDArray[np.int64]
    #: Ascending keys of pairs of neighbouring stems. **Shape:** ``(p,)``
    pairs: Keys
    #: Titles with each pair. **Shape:** ``(p,)``
    pair_counts: NDArray[np.int64]
    #: Ascending keys of the words that begin titles often. **Shape:** ``(o,)``
    openers: Keys
    #: The number of titles.
    size: int
    #: The mean number of words of a title.
    words: float

    @classmethod
    def empty(cls) -> TitleCounts:
        """The counts of no title."""
        nothing = np.empty(0, dtype=np.uint64)
        counts = np.empty((0, 3), dtype=np.int64)
        return cls(nothing, counts, nothing, counts[:, 0], nothing, 0, 4.0)

    @classmethod
    def count(cls, titles: Sequence[Keys], first_words: Sequence[int]) -> TitleCounts:
        """Count titles.

        Parameters
        ----------
        titles
            The stems of the words of each title, in order.
        first_words
            The key of the first word of each title, 0 for an empty one.
        """
        titles = [title for title in titles if len(title)]
        if not titles:
            return cls.empty()
        anywhere = np.concatenate([np.unique(title) for title in titles])
        stems, any_count = np.unique(anywhere, return_counts=True)
        counts = np.zeros((len(stems), 3), dtype=np.int64)
        counts[:, 0] = any_count
        for column, place in ((1, 0), (2, -1)):
            ends = np.array([title[place] for title in titles], dtype=np.uint64)
            np.add.at(counts[:, column], np.searchsorted(stems, ends), 1)
        joined = np.concatenate([np.unique(pair_keys(title[:-1], title[1:])) for title in titles])
        pairs, pair_counts = np.unique(joined, return_counts=True)
        seen = Counter(word for word in first_words if word)
        least = max(OPENER_COUNT, OPENER_SHARE * len(titles))
        openers = np.array(sorted(w for w, c in seen.items() if c >= least), dtype=np.uint64)
        words = float(np.mean([len(title) for title in titles]))
        return cls(stems, counts, pairs, pair_counts, openers, len(titles), words)

    def of_stems(self, stems: Keys) -> NDArray[np.int64]:
        """Titles with each stem anywhere, first and last. **Shape:** ``(n, 3)``"""
        found = np.zeros((len(stems), 3), dtype=np.int64)
        if len(self.stems):
            place = np.minimum(np.searchsorted(self.stems, stems), len(self.stems) - 1)
            known = self.stems[place] == stems
            found[known] = self.counts[place[known]]
        return found

    def of_pairs(self, first: Keys, second: Keys) -> NDArray[np.int64]:
        """Titles in which the second stem follows the first. **Shape:** ``(n,)``"""
        found = np.zeros(len(first), dtype=np.int64)
        if len(self.pairs):
            keys = pair_keys(first, second)
            place = np.minimum(np.searchsorted(self.pairs, keys), len(self.pairs) - 1)
            known = self.pairs[place] == keys
            found[known] = self.pair_counts[place[known]]
        return found

    def arrays(self) -> dict[str, Any]:
        """The fields by name, for saving; `restored` takes them back."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: saved_counts(field) for name, field in fields.items()}

    @classmethod
    def restored(cls, saved: Any) -> TitleCounts:
        """Check and take back what `arrays` returned."""
        part = "knowledge, titles"
        names = list(cls.__dataclass_fields__)
        stems, counts, pairs, pair_counts, openers, size, words = fields_of(saved, names, part)
        stems, pairs, openers = (
            array_of(keys, np.uint64, (-1,), part) for keys in (stems, pairs, openers)
        )
        counts = counts_of(counts, (len(stems), 3), part)
        pair_counts = counts_of(pair_counts, (len(pairs),), part)
        size = whole_number(size, 0, 1 << 62, part)
        return cls(stems, counts, pairs, pair_counts, openers, size, float(words))


def pair_keys(first: Keys, second: Keys) -> Keys:
    """Return one key for each ordered pair of keys."""
    return np.asarray((first ^ (first >> np.uint64(29))) * _FACTOR + second)
