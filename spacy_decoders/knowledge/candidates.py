"""The candidates of a document's mentions, laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .concept_base import ConceptBase
from .concepts import QID
from .texts import Known

__all__ = ["CandidateTable"]


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The candidates of several mentions, concatenated."""

    #: Texts that have candidates, normalised; the same text may stand there several times.
    mentions: Sequence[str]
    #: Where the candidates of each begin. **Shape:** ``(mentions + 1,)``
    offsets: NDArray[np.int64]
    #: Of each candidate.
    ids: Sequence[str]
    titles: Sequence[str]
    #: The share of the mention's uses that mean it. **Shape:** ``(candidates,)``
    priors: NDArray[np.float64]
    #: Links or uses, not negative. **Shape:** ``(candidates,)``
    popularity: NDArray[np.float64]
    #: Of each candidate; no columns where there are none. **Shape:** ``(candidates, d)``
    vectors: NDArray[np.float32]
    #: Numbers in `base`; none where there is no base. **Shape:** ``(candidates,)``
    concepts: NDArray[np.int64]
    #: The concept base that they come from, None for another kind of knowledge base.
    base: ConceptBase | None = None
    #: What that knows of each candidate; empty where there is none.
    known: Sequence[Known] = ()
    #: How often each candidate is written with the capitals of its mention, NaN where that is
    #: unknown; None where it is of all. **Shape:** ``(candidates,)``
    written: NDArray[np.float32] | None = None
    #: How often each mention's text is a link where it occurs at all, NaN where unknown; None
    #: where it is of all. **Shape:** ``(mentions,)``
    linked: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def own_mention(self) -> NDArray[np.int64]:
        """The mention that each candidate belongs to. **Shape:** ``(candidates,)``"""
        return np.repeat(np.arange(len(self.mentions)), np.diff(self.offsets))

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """A number for each candidate, the same for the same concept. **Shape:** ``(candidates,)``

        Ties between candidates are broken by it, whatever their order.
        """
        numbers = {identity: number for number, identity in enumerate(sorted({*self.ids}))}
        return np.array([numbers[identity] for identity in self.ids], np.int64)

    @cached_property
    def types(self) -> list[str | None]:
        """What kind of thing each candidate is, None where unknown."""
        if self.base is None:
            return [None] * len(self)
        return [known.type or None for known in self.known]

    @cached_property
    def qids(self) -> list[str | None]:
        """The Wikidata item of each candidate, None where unknown."""
        if self.base is None:
            return [one if QID.fullmatch(one) else None for one in self.ids]
        return [known.qid for known in self.known]

    @cached_property
    def coverage(self) -> float:
        """The mean share of each mention's candidates that have links in the graph."""
        if self.base is None or not len(self):
            return 1.0
        known = (self.base.graph.degree[self.concepts] > 0).astype(np.float64)
        return float((np.add.reduceat(known, self.offsets[:-1]) / np.diff(self.offsets)).mean())

    def of(self, mentions: Sequence[int]) -> CandidateTable:
        """The candidates of some of the mentions, in the given order."""
        parts = [np.arange(self.offsets[m], self.offsets[m + 1]) for m in mentions]
        rows = np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64)
        return CandidateTable(
            mentions=[self.mentions[m] for m in mentions],
            offsets=np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64),
            ids=[self.ids[row] for row in rows],
            titles=[self.titles[row] for row in rows],
            priors=self.priors[rows],
            popularity=self.popularity[rows],
            vectors=self.vectors[rows],
            concepts=self.concepts[rows] if len(self.concepts) else self.concepts,
            base=self.base,
            known=[self.known[row] for row in rows] if self.known else (),
            written=None if self.written is None else self.written[rows],
            linked=None if self.linked is None else self.linked[list(mentions)],
        )
