"""The alias table: the concepts that a mention may mean, with their frequencies."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_scores
from ..errors import ProblemError
from ..graph.storage import FolderFormat, StoredArrays
from .string_index import StringIndex, index_arrays

__all__ = ["ARRAYS", "AliasTable", "normalise", "normalised"]

#: The storage format of a table.
ARRAYS = {
    **index_arrays("aliases"),
    "aliases.entries": ("<i8", 1),
    "aliases.concepts": ("<i4", 1),
    "aliases.priors": ("<f4", 1),
}
_FOLDER = FolderFormat("alias table", "aliases.json", ARRAYS)


def normalise(alias: str) -> str:
    """Reduce an alias to its stored form.

    Unicode compatibility forms, case and runs of white space make no difference.

    Examples
    --------
    >>> normalise("  The Ｊaguar\\nXJ ")
    'the jaguar xj'
    """
    return " ".join(unicodedata.normalize("NFKC", alias).casefold().split())


# white space that `normalise` would change, in texts joined by newlines
_UNTIDY = re.compile(r"[^\S \n]|  | \n|\n |\A | \Z")


def normalised(aliases: Sequence[str]) -> list[str]:
    """Normalise all at once: the same as one by one, at a third of the time.

    Examples
    --------
    >>> normalised(["Jaguar", "big  CAT"])
    ['jaguar', 'big cat']
    """
    joined = unicodedata.normalize("NFKC", "\n".join(aliases)).casefold()
    if joined.count("\n") == len(aliases) - 1 and not _UNTIDY.search(joined):
        return joined.split("\n")
    return [normalise(alias) for alias in aliases]


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Normalised aliases, each with its concepts, the most frequent first.

    Attributes
    ----------
    index
        The aliases.
    offsets
        Where the candidates of each alias begin. **Shape:** ``(aliases + 1,)``
    concepts
        Concept numbers. **Shape:** ``(candidates,)``
    priors
        Share of the alias's uses that mean the concept; they add to 1 for each alias.
        **Shape:** ``(candidates,)``

    Examples
    --------
    >>> table = AliasTable.build(["Jaguar", "jaguar", "Jaguar"], [7, 3, 7], [5, 1, 2])
    >>> concepts, priors = table.candidates("JAGUAR")
    >>> concepts.tolist(), priors.tolist()
    ([7, 3], [0.875, 0.125])
    """

    index: StringIndex
    offsets: NDArray[np.int64]
    concepts: NDArray[np.int32]
    priors: NDArray[np.float32]

    @classmethod
    def build(cls, aliases: Sequence[str], concepts: ArrayLike, counts: ArrayLike) -> AliasTable:
        """Count how often each alias means each concept.

        Parameters
        ----------
        aliases
            Any strings; those that are empty when normalised are left out.
        concepts
            The concept of each. **Shape:** ``(aliases,)``
        counts
            How often, greater than 0. **Shape:** ``(aliases,)``

        Raises
        ------
        ProblemError
            If the shapes differ or a count is not positive.
        """
        shape = (len(aliases),)
        number = checked_indices("concepts", concepts, shape, low=0)
        count = checked_scores("counts", counts, shape, dtype=np.float64, forbidden=False)
        if (count <= 0).any():
            raise ProblemError("counts: how often an alias is used must be greater than 0.")
        texts = normalised(aliases)
        index, rows, _ = StringIndex.build(texts)
        used = (rows >= 0) & np.array([bool(text) for text in texts], dtype=bool)
        rows, number, count = rows[used], number[used], count[used]
        row, concept, total = _summed(rows, number, count)
        # the most frequent first; ties by a hash of the concept, not by its number, since
        # numbers follow the order of the input
        order = np.lexsort((_scrambled(concept), -total, row))
        row, concept, total = row[order], concept[order], total[order]
        offsets = np.searchsorted(row, np.arange(len(index) + 1)).astype(np.int64)
        sums = np.bincount(row, weights=total, minlength=len(index))
        priors = (total / sums[row]).astype(np.float32)
        return cls(index, offsets, concept.astype(np.int32), priors)

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, alias: str) -> bool:
        return bool(self.find([alias])[0] >= 0)

    def find(self, aliases: Sequence[str]) -> NDArray[np.int64]:
        """Row of each alias, -1 where it is unknown. **Shape:** ``(aliases,)``"""
        return self.find_normalised(normalised(aliases))

    def find_normalised(self, aliases: Sequence[str]) -> NDArray[np.int64]:
        """As `find`, for aliases that :func:`normalised` returned."""
        return self.index.find(aliases)

    def row(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Concepts and priors of a row that `find` gave; none for -1."""
        if row < 0:
            return self.concepts[:0], self.priors[:0]
        start, stop = self.offsets[row], self.offsets[row + 1]
        return self.concepts[start:stop], self.priors[start:stop]

    def candidates(self, alias: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Concepts and priors of one alias, the most frequent first; none if unknown."""
        return self.row(int(self.find([alias])[0]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to save, by their names in a folder."""
        return {
            **self.index.arrays("aliases"),
            "aliases.entries": self.offsets,
            "aliases.concepts": self.concepts,
            "aliases.priors": self.priors,
        }

    @classmethod
    def of_stored(cls, stored: StoredArrays, concepts: int = 2**31 - 1) -> AliasTable:
        """Take the table from the arrays of a folder; concept numbers are below `concepts`."""
        table = cls(
            StringIndex.of_stored(stored, "aliases"),
            stored["aliases.entries"],
            stored["aliases.concepts"],
            stored["aliases.priors"],
        )
        stored.check_offsets("aliases.entries", len(table), len(table.concepts))
        stored.check_size("aliases.priors", len(table.concepts))
        stored.check_range("aliases.concepts", concepts)
        return table

    def save(self, folder: str | Path) -> None:
        """Write the table to a folder of its own."""
        _FOLDER.write(folder, self.arrays(), {})

    @classmethod
    def open(cls, folder: str | Path, *, verify: bool = False) -> AliasTable:
        """Map the table of a folder into memory.

        Raises
        ------
        StorageError
            If the folder holds no table, or a damaged one; with `verify`, also if a checksum
            differs.
        """
        return cls.of_stored(_FOLDER.read(folder, verify=verify))


def _summed(
    rows: NDArray[np.int64], concepts: NDArray[np.int32], counts: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Add up the counts of equal (row, concept) pairs."""
    width = int(concepts.max(initial=0)) + 1
    keys, inverse = np.unique(rows * width + concepts, return_inverse=True)
    totals: NDArray[np.float64] = np.zeros(len(keys))
    np.add.at(totals, inverse, counts)
    return keys // width, keys % width, totals


def _scrambled(concepts: NDArray[np.int64]) -> NDArray[np.uint64]:
    return (concepts.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
