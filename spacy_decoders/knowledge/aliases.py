"""The alias table: the concepts that a mention may mean, with their frequencies."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import checked_indices, checked_scores
from ..errors import ProblemError
from ..graph.storage import FolderFormat, StoredArrays
from .letter_case import CASES, letter_case, letter_cases
from .string_index import StringIndex, as_lines, index_arrays

__all__ = ["ARRAYS", "OPTIONAL", "AliasTable", "normalise", "normalised"]

#: The storage format of a table.
ARRAYS = {
    **index_arrays("aliases"),
    "aliases.entries": ("<i8", 1),
    "aliases.concepts": ("<i4", 1),
    "aliases.priors": ("<f4", 1),
}
#: Further arrays, which folders of earlier versions lack.
OPTIONAL = {"aliases.uses": ("<f4", 1), "aliases.links": ("<f4", 1), "aliases.cases": ("|u1", 2)}
_FOLDER = FolderFormat(
    "alias table", "aliases.json", {**ARRAYS, **OPTIONAL}, optional=frozenset(OPTIONAL)
)

_NEWLINE = 10
#: What a share of 1 is stored as.
WHOLE = 255


def normalise(alias: str) -> str:
    """Reduce an alias to its stored form.

    Unicode compatibility forms, case and runs of white space make no difference.

    Examples
    --------
    >>> normalise("  The Ｊaguar\\nXJ ")
    'the jaguar xj'
    """
    if alias.isascii():  # no form of another character
        return " ".join(alias.lower().split())
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

    Examples
    --------
    >>> table = AliasTable.build(["Jaguar", "jaguar", "Jaguar"], [7, 3, 7], [5, 1, 2])
    >>> concepts, priors = table.candidates("JAGUAR")
    >>> concepts.tolist(), priors.tolist()
    ([7, 3], [0.875, 0.125])
    """

    #: The aliases.
    index: StringIndex
    #: Where the candidates of each alias begin. **Shape:** ``(aliases + 1,)``
    offsets: NDArray[np.int64]
    #: Concept numbers. **Shape:** ``(candidates,)``
    concepts: NDArray[np.int32]
    #: Share of the alias's uses that mean the concept; they add to 1 for each alias.
    #: **Shape:** ``(candidates,)``
    priors: NDArray[np.float32]
    #: How often each alias was counted; None if that was not kept. **Shape:** ``(aliases,)``
    uses: NDArray[np.float32] | None = None
    #: How often each alias is a link where it occurs in text at all, NaN where unknown; None
    #: if it is known of none. **Shape:** ``(aliases,)``
    links: NDArray[np.float32] | None = None
    #: In which of :data:`~.letter_case.CASES` each candidate is written, as shares of 255; a
    #: row of zeros where unknown. **Shape:** ``(candidates, 4)``, uint8, or None
    cases: NDArray[np.uint8] | None = None

    @classmethod
    def build(
        cls,
        aliases: Sequence[str],
        concepts: ArrayLike,
        counts: ArrayLike,
        *,
        cases: ArrayLike | None = None,
    ) -> AliasTable:
        """Count how often each alias means each concept.

        Parameters
        ----------
        aliases
            Any strings; those that are empty when normalised are left out.
        concepts
            The concept of each. **Shape:** ``(aliases,)``
        counts
            How often, greater than 0. **Shape:** ``(aliases,)``
        cases
            How each is written, by its place in :data:`~.letter_case.CASES`, -1 where its
            capitals mean nothing; None to tell by `aliases`. **Shape:** ``(aliases,)``

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
        if cases is not None:
            case = np.asarray(cases, np.int64)
        elif texts == list(aliases):  # normalised texts have no capitals
            case = np.zeros(len(texts), np.int64)
        else:
            case = letter_cases(aliases)
        return cls.build_lines(as_lines(texts), number, count, case)

    @classmethod
    def build_lines(
        cls,
        lines: NDArray[np.uint8],
        concepts: NDArray[np.int32],
        counts: NDArray[np.floating[Any]],
        cases: NDArray[np.integer[Any]],
    ) -> AliasTable:
        """As `build`, of normalised aliases as newline-ended lines."""
        index, rows, _ = StringIndex.build_lines(lines, len(concepts))
        empty = index.find([""])[0] if len(index) else -1
        if empty >= 0:
            return cls._without(lines, rows == empty, concepts, counts, cases)
        used = rows >= 0
        rows, number, count, case = rows[used], concepts[used], counts[used], cases[used]
        row, concept, inverse = _pairs(rows, number)
        total = np.bincount(inverse, weights=count, minlength=len(row))
        # the most frequent first; ties by a hash of the concept, not by its number, since
        # numbers follow the order of the input
        order = np.lexsort((_scrambled(concept), -total, row))
        # four bytes a pair are moved as one number
        shares = _case_shares(inverse, case, count, len(row)).view(np.uint32)
        shares = shares[order].view(np.uint8)
        row, concept, total = row[order], concept[order], total[order]
        offsets = np.searchsorted(row, np.arange(len(index) + 1)).astype(np.int64)
        sums = np.bincount(row, weights=total, minlength=len(index))
        priors = (total / sums[row]).astype(np.float32)
        uses = sums.astype(np.float32)
        return cls(
            index, offsets, concept.astype(np.int32), priors, uses, None, shares.view(np.uint8)
        )

    @classmethod
    def _without(
        cls, lines: NDArray[np.uint8], empty: NDArray[np.bool_], *columns: NDArray[Any]
    ) -> AliasTable:
        """Build of the aliases that are not empty; an empty one is a newline alone."""
        newlines = np.flatnonzero(lines == _NEWLINE)
        kept = np.ones(len(lines), bool)
        kept[newlines[empty]] = False
        concepts, counts, cases = (column[~empty] for column in columns)
        return cls.build_lines(lines[kept], concepts, counts, cases)

    def __len__(self) -> int:
        return len(self.index)

    def __getstate__(self) -> dict[str, Any]:
        # views of memory can't be pickled, and are made anew
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __contains__(self, alias: str) -> bool:
        return self.find_one(alias) >= 0

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
        offsets = self._starts
        start, stop = offsets[row], offsets[row + 1]
        return self.concepts[start:stop], self.priors[start:stop]

    @cached_property
    def _starts(self) -> memoryview:
        # its items are plain numbers, at a third of the cost of an array's
        return np.ascontiguousarray(self.offsets).data

    def candidates(self, alias: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Concepts and priors of one alias, the most frequent first; none if unknown."""
        return self.row(self.find_one(alias))

    def find_one(self, alias: str) -> int:
        """Row of one alias, -1 where it is unknown."""
        return self.index.find_one(normalise(alias))

    def written(self, row: int, mention: str) -> NDArray[np.float32]:
        """How often each candidate of a row is written with the capitals of `mention`.

        The share of its uses under this alias; NaN where that is unknown.
        **Shape:** ``(candidates of the row,)``

        Examples
        --------
        >>> table = AliasTable.build(["Mercury", "mercury"], [1, 2], [3, 1])
        >>> row = int(table.find(["mercury"])[0])
        >>> table.row(row)[0].tolist(), table.written(row, "mercury").tolist()
        ([1, 2], [0.0, 1.0])
        """
        shares = self.case_shares(row)
        known = shares.sum(axis=1)
        share: NDArray[np.float32] = shares[:, letter_case(mention)]
        out = np.full_like(share, np.nan)
        np.divide(share, known, out=out, where=known > 0)
        return out

    def case_shares(self, row: int) -> NDArray[np.float32]:
        """How often each candidate of a row is written in which of `CASES`; zeros if unknown."""
        start, stop = (self.offsets[row], self.offsets[row + 1]) if row >= 0 else (0, 0)
        if self.cases is None:
            return np.zeros((int(stop - start), len(CASES)), np.float32)
        return self.cases[start:stop].astype(np.float32) / np.float32(WHOLE)

    def name(self, row: int) -> str:
        """The normalised alias of a row."""
        return self.index.table[row]

    def rows_of(self, concept: int) -> list[int]:
        """The rows of the aliases that may mean a concept; all candidates are searched."""
        places = np.flatnonzero(self.concepts == concept)
        rows: list[int] = (np.searchsorted(self.offsets, places, side="right") - 1).tolist()
        return rows

    def with_links(self, rows: NDArray[np.int64], shares: NDArray[np.float32]) -> AliasTable:
        """The table with link probabilities of some rows; -1 is skipped."""
        links = np.full(len(self), np.nan, np.float32)
        links[rows[rows >= 0]] = shares[rows >= 0]
        return replace(self, links=links)

    def counts(self, row: int) -> NDArray[np.float64]:
        """How often each candidate of a row was counted. **Shape:** ``(candidates of it,)``"""
        _, priors = self.row(row)
        # a folder of an earlier version: the least frequent counts once
        total = 1 / priors.min(initial=1.0) if self.uses is None else self.uses[row]
        counts = priors.astype(np.float64) * float(total)
        whole = np.rint(counts)  # priors are in single precision
        return np.where(np.abs(counts - whole) <= 1e-5 * counts, whole, counts)

    def link_probabilities(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """How often the alias of each row is a link at all; NaN where unknown, and for -1."""
        if self.links is None or not len(self.links):
            return np.full(len(rows), np.nan, np.float32)
        return np.where(rows >= 0, self.links[rows], np.float32(np.nan))

    def link_probability(self, alias: str) -> float | None:
        """How often a text is a link where it occurs at all; None if that is not known."""
        (share,) = self.link_probabilities(self.find([alias]))
        return None if np.isnan(share) else float(share)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to save, by their names in a folder."""
        more = {
            "aliases.uses": self.uses,
            "aliases.links": self.links,
            "aliases.cases": self.cases,
        }
        return {
            **self.index.arrays("aliases"),
            "aliases.entries": self.offsets,
            "aliases.concepts": self.concepts,
            "aliases.priors": self.priors,
            **{name: array for name, array in more.items() if array is not None},
        }

    @classmethod
    def of_stored(cls, stored: StoredArrays, concepts: int = 2**31 - 1) -> AliasTable:
        """Take the table from the arrays of a folder; concept numbers are below `concepts`."""
        table = cls(
            StringIndex.of_stored(stored, "aliases"),
            stored["aliases.entries"],
            stored["aliases.concepts"],
            stored["aliases.priors"],
            *(stored.arrays.get(name) for name in OPTIONAL),
        )
        stored.check_offsets("aliases.entries", len(table), len(table.concepts))
        stored.check_size("aliases.priors", len(table.concepts))
        stored.check_range("aliases.concepts", concepts)
        for name, size in zip(
            OPTIONAL, (len(table), len(table), len(table.concepts)), strict=True
        ):
            if name in stored:
                stored.check_size(name, size)
        if table.cases is not None and table.cases.shape[1] != len(CASES):
            stored.refuse("aliases.cases", f"it should have {len(CASES)} columns")
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


def _pairs(
    rows: NDArray[np.int64], concepts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The different (row, concept) pairs, and the place of each given one among them."""
    width = int(concepts.max(initial=0)) + 1
    keys, inverse = np.unique(rows * width + concepts, return_inverse=True)
    return keys // width, keys % width, inverse


def _case_shares(
    pairs: NDArray[np.int64], cases: NDArray[Any], counts: NDArray[Any], size: int
) -> NDArray[np.uint8]:
    """In which case each pair is written, as shares of 255."""
    known = cases >= 0
    if len(pairs) == size:  # each was given once
        once: NDArray[np.uint8] = np.zeros((size, len(CASES)), np.uint8)
        places = pairs * len(CASES) + cases
        once.reshape(-1)[places if known.all() else places[known]] = WHOLE
        return once
    keys, counts = (pairs * len(CASES) + cases)[known], counts[known]
    totals = np.bincount(keys, weights=counts, minlength=size * len(CASES))
    table = totals.reshape(size, len(CASES)).astype(np.float64)
    sums = table.sum(axis=1, keepdims=True)
    shares = np.divide(WHOLE * table, sums, out=np.zeros_like(table), where=sums > 0)
    # what was seen at all is never rounded to nothing
    return np.where(table > 0, np.maximum(np.rint(shares), 1), 0).astype(np.uint8)


def _scrambled(concepts: NDArray[np.int64]) -> NDArray[np.uint64]:
    return (concepts.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
