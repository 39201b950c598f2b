"""Names of concepts from titles, redirects and anchors, and how often each is a link.

For the latter, the text of all articles is searched for the names.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Floats32, Integers, Integers32, read_only
from ..aliases import CASES, letter_case, normalise
from .articles import ArticlePart
from .kernels import count_names, hash_lines
from .lines import as_lines, storable
from .titles import Titles

__all__ = ["LinkShares", "Uses", "anchors_as_names", "rows_of_uses", "titles_as_names"]

#: Words of the longest name that is searched for.
LONGEST = 6


class Uses(NamedTuple):
    """How often names mean concepts."""

    names: list[str]  # as written
    concepts: Integers  # (names,)
    counts: NDArray[np.floating[Any]]  # (names,): how often they mean them
    articles: Floats  # (names,): the number of articles with such a link
    cased: bool  # whether the case of the first letter is informative, which titles' is not


def titles_as_names(titles: Titles, received: Integers, *, real: bool) -> Iterator[Uses]:
    """Titles without their brackets, and redirects, as names.

    Each counts once and, unless there are `real` uses as well, once more for every concept that
    links to the one it means.
    """
    for texts, concepts, own in titles.parts():
        kept = np.flatnonzero(concepts >= 0)
        names = [texts[i].replace("_", " ") for i in kept.tolist()]
        shortened = [
            (name.partition(" (")[0] or name) if is_own else name
            for name, is_own in zip(names, own[kept].tolist(), strict=True)
        ]
        counts = np.ones(len(kept)) if real else 1.0 + received[concepts[kept]]
        yield Uses(shortened, concepts[kept], counts, np.zeros(len(kept)), False)


def anchors_as_names(parts: Iterable[ArticlePart], titles: Titles) -> Iterator[Uses]:
    """The words of links as names of the concepts that they lead to."""
    for part in parts:
        pairs = list(part.anchors)
        concepts = titles.concept_of_lines(as_lines(target for target, _ in pairs), len(pairs))
        kept = np.flatnonzero(concepts >= 0)
        pairs = [pairs[i] for i in kept.tolist()]
        counts, within = (
            np.array([table[pair] for pair in pairs], np.float64)
            for table in (part.anchors, part.within)
        )
        yield Uses([words for _, words in pairs], concepts[kept], counts, within, True)


@dataclass(frozen=True, eq=False)
class LinkShares:
    """For each name, the number of articles in which it is a link, by that in which it occurs.

    The keyphraseness of Mihalcea and Csomai (2007), *Wikify!*.
    """

    codes: NDArray[np.uint64]  # (names,): hashes of names, ascending
    shares: Floats32  # (names,): NaN where a name was never found

    @classmethod
    def count(cls, uses: Iterable[Uses], parts: Iterable[ArticlePart]) -> LinkShares:
        """Search the text of all articles for the names that are used."""
        hashes, articles = [np.empty(0, np.uint64)], [np.empty(0)]
        for part in uses:
            hashes.append(_hashes(part.names))
            articles.append(part.articles)
        codes, place = np.unique(np.concatenate(hashes), return_inverse=True)
        linked = np.bincount(place, np.concatenate(articles), len(codes))
        buckets, shift = _buckets(codes)
        seen, counts = np.zeros((2, len(codes)), np.int32)
        for found in parts:
            bodies = np.frombuffer(zlib.decompress(found.bodies), np.uint8)
            seen[:] = 0
            count_names(bodies, LONGEST, codes, buckets, shift, seen, counts)
        # a name occurs at least as often as it is a link; where the script does not separate
        # words, it may never be found, which says nothing
        shares = np.full(len(codes), np.nan, np.float32)
        np.divide(linked, np.maximum(counts, linked), out=shares, where=counts > 0)
        return cls(codes, shares)

    def of(self, names: list[str]) -> list[float | None]:
        """The shares of names that were counted; None where unknown."""
        shares = self.shares[np.searchsorted(self.codes, _hashes(names))].tolist()
        return [None if share != share else share for share in shares]


def _hashes(names: list[str]) -> NDArray[np.uint64]:
    """Hashes of normalised names. **Shape:** ``(names,)``"""
    lines = as_lines(map(normalise, names))
    return hash_lines(read_only(lines), len(names))


def _buckets(codes: NDArray[np.uint64]) -> tuple[Integers32, np.uint64]:
    """Group hashes by their top bits: where each bucket begins, and the number of other bits.

    A bucket has about one hash, so that looking up a name takes one or two comparisons.
    """
    shift = 64 - max(1, len(codes).bit_length())
    tops = np.arange(1 << (64 - shift), dtype=np.uint64) << np.uint64(shift)
    starts = np.searchsorted(codes, tops)
    return np.append(starts, len(codes)).astype(np.int32), np.uint64(shift)


def rows_of_uses(uses: Iterable[Uses], shares: LinkShares | None) -> Iterator[tuple[Any, ...]]:
    """Rows of uses: normalised name, concept, count, counts by letter case, share of links."""
    for part in uses:
        cases = np.array([letter_case(name) for name in part.names], np.int64)
        if not part.cased:
            # the first letter of a title is always a capital: only the others are informative
            told = [not name[1:].islower() and len(name) > 1 for name in part.names]
            cases = np.where(np.array(told, bool), cases, -1)
        table = np.where(np.arange(len(CASES)) == cases[:, None], part.counts[:, None], 0.0)
        yield from zip(
            (storable(normalise(name)) for name in part.names),
            part.concepts.tolist(),
            part.counts.tolist(),
            *table.T.tolist(),
            [None] * len(part.names) if shares is None else shares.of(part.names),
            strict=True,
        )
