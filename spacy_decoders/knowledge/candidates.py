"""The candidates of a document's mentions, concatenated."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ..arrays import Floats, Floats32, Integers
from .concept_base import ConceptBase
from .texts import Known

__all__ = ["CandidateTable", "numbered"]


def numbered(things: Sequence[Any], order: Iterable[Any] | None = None) -> Integers:
    """Number things from 0, equal ones alike, in the given order or that in which they come."""
    numbers = dict(zip(dict.fromkeys(order or things), itertools.count(), strict=False))
    return np.array([*map(numbers.__getitem__, things)], np.int64)


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The candidates of several mentions, concatenated.

    Linking a mention to nothing is a choice, too, which comes after its candidates.
    """

    #: The normalised texts of the mentions, which may repeat.
    mentions: Sequence[str]
    #: Where the candidates of each begin. **Shape:** ``(mentions + 1,)``
    offsets: Integers
    #: What is known of each candidate.
    known: Sequence[Known]
    #: The share of the mention's uses that mean it. **Shape:** ``(candidates,)``
    priors: Floats
    #: How many links or uses each has. **Shape:** ``(candidates,)``
    popularity: Floats
    #: The share of each candidate's uses that are in the letter case of its mention, NaN where
    #: unknown. **Shape:** ``(candidates,)``
    written: Floats32
    #: The share of the occurrences of each mention's text that are links, NaN where unknown.
    #: **Shape:** ``(mentions,)``
    linked: Floats32
    #: The form of each mention, which is its text whatever its case and grammatical number, and
    #: its text as written: numbers from 0, equal for equal ones. **Shapes:** ``(mentions,)``
    forms: Integers
    spellings: Integers
    #: The share of each mention's candidates that have links in the graph, 1 without a graph.
    #: **Shape:** ``(mentions,)``
    covered: Floats
    #: The vector of each; no columns where there are none. **Shape:** ``(candidates, d)``
    vectors: Floats32
    #: Their numbers in `base`; empty without a base. **Shape:** ``(candidates,)``
    concepts: Integers
    #: The concept base that they come from; None for another kind of knowledge base.
    base: ConceptBase | None = None
    #: The identifiers and titles of the candidates.
    ids: list[str] = field(init=False)
    titles: list[str] = field(init=False)
    #: How many candidates each mention has. **Shape:** ``(mentions,)``
    sizes: Integers = field(init=False)
    #: The mention that each candidate belongs to. **Shape:** ``(candidates,)``
    own_mention: Integers = field(init=False)
    #: Where the choices of each mention begin, of which one is nothing. **Shape:** as `offsets`
    with_nothing: Integers = field(init=False)
    #: The index of each candidate among all choices. **Shape:** ``(candidates,)``
    places: Integers = field(init=False)

    def __post_init__(self) -> None:
        sizes, numbers = self.offsets[1:] - self.offsets[:-1], np.arange(len(self.offsets))
        own = numbers[:-1].repeat(sizes)
        self.__dict__.update(
            ids=[*map(attrgetter("id"), self.known)],
            titles=[*map(attrgetter("title"), self.known)],
            sizes=sizes,
            own_mention=own,
            with_nothing=self.offsets + numbers,
            places=own + np.arange(len(own)),
        )

    def __len__(self) -> int:
        return len(self.known)

    @cached_property
    def keys(self) -> Integers:
        """A number for each candidate, equal for equal concepts. **Shape:** ``(candidates,)``

        It breaks ties, so that these do not depend on the order of candidates.
        """
        ids = self.ids
        return numbered(ids, sorted({*ids}))

    @cached_property
    def repeats(self) -> Integers:
        """How many mentions share the form of each. **Shape:** ``(mentions,)``"""
        return np.bincount(self.forms)[self.forms]

    @cached_property
    def shares(self) -> Floats:
        """The weight of the cost of each pair of mentions. **Shape:** ``(mentions, mentions)``

        All mentions of a form together weigh as much as one: a concept whose name is often
        repeated is not more related to everything else. The weights of two different forms sum to
        1; those within a form are 0.
        """
        each = 1.0 / self.repeats
        return np.where(self.forms[:, None] == self.forms, 0.0, np.outer(each, each))

    @cached_property
    def form_count(self) -> int:
        """How many different forms there are."""
        return int(self.forms.max(initial=-1)) + 1

    @cached_property
    def coverage(self) -> float:
        """The mean share of each mention's candidates that have links in the graph."""
        return float(self.covered.sum() / len(self.covered)) if len(self.covered) else 1.0

    def of(self, mentions: range) -> CandidateTable:
        """The candidates of a range of mentions."""
        own = slice(mentions.start, mentions.stop)
        begins = self.offsets[mentions.start : mentions.stop + 1]
        rows = slice(*begins[[0, -1]].tolist())
        columns = dict.fromkeys(("mentions", "linked", "spellings", "covered"), own)
        of_candidates = ("known", "priors", "popularity", "written", "vectors", "concepts")
        columns |= dict.fromkeys(of_candidates, rows)
        return replace(
            self,
            offsets=begins - begins[0],
            forms=numbered(self.forms[own].tolist()),
            **{name: getattr(self, name)[part] for name, part in columns.items()},
        )
